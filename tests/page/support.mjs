// A browser for the page's tests. Environment: PAGE_URL, a server that runs already (else the preview is started); CHROMIUM;
// PAGE_MODULES, the folder of node_modules (`npm ci` of tests/page/package.json; default build/page); PAGE_OUT, for pictures.
import {spawn} from 'node:child_process';
import {mkdirSync, readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {dirname, join, resolve} from 'node:path';
import {fileURLToPath} from 'node:url';

export const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
const modules = createRequire(join(resolve(process.env.PAGE_MODULES || join(root, 'build/page')), 'any.js'));
const {chromium} = modules('playwright-core');
const axe_source = readFileSync(modules.resolve('axe-core/axe.min.js'), 'utf8');
export const out = resolve(process.env.PAGE_OUT || join(root, 'build/page/out'));
// How long a step may take: more on a busy machine.
export const patience = Number(process.env.PAGE_TIMEOUT_MS || 15000);
// A limit in milliseconds for a quiet machine, as long as this one may take.
export const quiet = ms => ms * Math.max(1, patience / 15000);
mkdirSync(out, {recursive: true});

async function start_preview(args) {
  const child = spawn('python3', [join(root, 'tests/page/preview.py'), '--port', '0', ...args], {stdio: ['ignore', 'pipe', 'inherit']});
  process.once('exit', () => child.kill());
  const url = await new Promise((found, failed) => {
    child.stdout.once('data', line => found(String(line).trim()));
    child.once('exit', code => failed(new Error(`preview.py ended with ${code}`)));
  });
  return {url, stop: () => child.kill()};
}

export async function server(args = []) {
  return process.env.PAGE_URL ? {url: process.env.PAGE_URL, stop() {}} : start_preview(args);
}

// A browser whose pages collect what must not happen: console errors, errors of scripts, requests that leave the host.
export async function browser(url) {
  const chrome = await chromium.launch({executablePath: process.env.CHROMIUM || '/usr/bin/chromium', args: ['--no-sandbox']});
  const faults = [];
  // Without the page's worker unless it is asked for: requests that begin while it takes over come past page.route and page.on.
  const open = async (options = {}) => {
    const context = await chrome.newContext({viewport: {width: 1200, height: 800}, serviceWorkers: 'block', ...options});
    const page = await context.newPage();
    context.setDefaultTimeout(patience);
    page.on('console', message => { if (message.type() === 'error') faults.push(`console: ${message.text().slice(0, 200)}`); });
    page.on('pageerror', error => faults.push(`script: ${String(error).slice(0, 300)}`));
    page.on('request', request => {
      if (!request.url().startsWith(url) && !/^(data|blob):/.test(request.url())) faults.push(`request: ${request.url().slice(0, 200)}`);
    });
    page.on('dialog', dialog => { faults.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
    return page;
  };
  return {open, faults, close: () => chrome.close()};
}

// A browser whose profile outlives it.
export async function offline_browser(profile) {
  const context = await chromium.launchPersistentContext(profile, {executablePath: process.env.CHROMIUM || '/usr/bin/chromium', args: ['--no-sandbox']});
  context.setDefaultTimeout(patience);
  return context;
}

export const phase = (page, wanted, timeout = patience) =>
  page.waitForFunction(names => names.includes(document.body.dataset.phase), [wanted].flat(), {timeout});

// Until what is asked for again and again fits; `what` says what did not come.
export async function until(what, ask, fits) {
  for (const end = Date.now() + 2 * patience; !fits(await ask()); await new Promise(done => setTimeout(done, 200))) {
    expect(Date.now() < end, what);
  }
}

export async function say(page, text) {
  await page.fill('#message', text);
  await page.press('#message', 'Enter');
}

const escapes = {'\\': '\\\\', '"': '\\"', '\n': '\\n', '\r': '\\r', '\t': '\\t'};
const literal = text => `"${text.replace(/[\\"\n\r\t]/g, c => escapes[c])}"`;
export const grammar_of = text => `root ::= ${literal(text)}`;
// The model chooses a word for each ~ of the text, and so writes token by token; what is forced whole comes in pieces of many tokens.
export const grammar_with_words = (text, words) =>
  `root ::= ${text.split('~').map(literal).join(' word ')}\nword ::= ${words.map(literal).join(' | ')}`;

// What is sent from this page (until it is left) has these fields as well, such as `grammar` or `max_tokens`.
export const send_with = (page, fields) => page.evaluate(values => {
  const form = document.getElementById('composer');
  for (const [name, value] of Object.entries(values)) {
    const field = form.elements[name] || form.appendChild(Object.assign(document.createElement('input'), {type: 'hidden', name}));
    field.value = value;
  }
}, fields);

// What is sent from this page is answered with `text`, letter for letter; thoughts before it are the model's own.
export const answer_with = (page, text) => send_with(page, {grammar: grammar_of(text)});

// Sends a message whose answer is forced to be `text`, letter for letter, and waits until it has been written.
export async function force(page, text, timeout = 4 * patience) {
  const before = await page.locator('.message.assistant').count();
  await page.evaluate(grammar => {
    const form = document.getElementById('composer');
    const values = {message: 'Say it.', think: 'off', grammar};
    return htmx.ajax('POST', '/api/chat', {source: form, target: '#messages', swap: 'beforeend', values});
  }, grammar_of(text));
  await page.waitForFunction(n => document.querySelectorAll('.message.assistant').length > n, before);
  await page.waitForFunction(() => document.body.dataset.phase === 'idle' &&
    !document.querySelector('.message.assistant:last-of-type')?.matches('[data-state="running"]'), null, {timeout});
}

// Serious findings of axe-core, each as one line.
export async function audit(page, name) {
  await page.evaluate(axe_source);  // not by a script tag, which the page's policy refuses
  const {violations} = await page.evaluate(() => axe.run(document, {resultTypes: ['violations']}));
  return violations.map(v => ({serious: ['serious', 'critical'].includes(v.impact),
    text: `${name}: ${v.impact} ${v.id}: ${v.help}: ${v.nodes.slice(0, 3).map(n => n.target.join(' ')).join(', ')}`}));
}

// Runs named checks one after the other; the last line counts them.
export async function run(checks) {
  let passed = 0;
  const failed = [];
  for (const [name, check] of checks) {
    try {
      await check();
      passed++;
      console.log(`ok   ${name}`);
    } catch (error) {
      failed.push(name);
      const where = String(error.stack).match(/\w+\.mjs:\d+/g)?.filter(place => !place.startsWith('support')).join(' < ') || '';
      console.log(`FAIL ${name} (${where}): ${String(error.message || error).split('\n').slice(0, 6).join(' | ')}`);
    }
  }
  console.log(`${passed} passed, ${failed.length} failed`);
  process.exitCode = failed.length ? 1 : 0;
}

export function expect(true_or_not, message) {
  if (!true_or_not) throw new Error(message);
}
