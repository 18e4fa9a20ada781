// What only the program itself can show: kills and restarts, reading offline, long and foreign sessions, figures. PAGE_PROGRAM names it.
// Limits in milliseconds are for a quiet machine; they grow with PAGE_TIMEOUT_MS.
import {spawn} from 'node:child_process';
import {mkdtempSync, readdirSync, readFileSync, rmSync} from 'node:fs';
import {createServer} from 'node:http';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {answer_with, browser, expect, grammar_of, offline_browser, patience, phase, quiet, run, say, until} from './support.mjs';

const folder = mkdtempSync(join(tmpdir(), 'smolbot-page-'));
process.once('exit', () => rmSync(folder, {recursive: true, force: true}));

// The program on a data folder of its own; once stopped it can be started again, at the same address.
class Program {
  constructor(name, flags = []) { Object.assign(this, {data: join(folder, name), port: 0, flags}); }
  async start() {
    const args = ['serve', '--port', String(this.port), '--data-dir', this.data, '--pace', '25', ...this.flags];
    this.child = spawn(process.env.PAGE_PROGRAM, args, {stdio: ['ignore', 'ignore', 'pipe']});
    process.once('exit', () => this.child.kill('SIGKILL'));
    this.ended = new Promise(done => this.child.once('exit', done));
    this.url = await new Promise((found, failed) => {
      let said = '';
      this.child.stderr.on('data', text => { said += text; const match = said.match(/answers at (http:\/\/[^,\s]+)/); if (match) found(match[1]); });
      this.child.once('exit', () => failed(new Error(`the program ended: ${said}`)));
    });
    this.port = Number(new URL(this.url).port);
    return this;
  }
  async stop(signal = 'SIGTERM') { this.child.kill(signal); await this.ended; }
  // Without a browser: forms and what they answer.
  post(path, form) { return fetch(this.url + path, {method: 'POST', body: new URLSearchParams(form)}); }
  async json(path) { return (await fetch(this.url + path)).json(); }
  async metric(name) { return Number((await (await fetch(`${this.url}/metrics`)).text()).match(new RegExp(`^smolbot_${name} (\\S+)$`, 'm'))[1]); }
  async until(session, check) {
    for (let status; ;) {
      status = await this.json(`/api/status?session_id=${session}`);
      if (check(status)) return;
      await new Promise(done => setTimeout(done, 50));
    }
  }
  // A message whose answer has `max_tokens`; the id of its session.
  async begin(session_id, message, max_tokens, more = {}) {
    const answer = await this.post('/api/chat', {session_id, message, think: 'off', max_tokens, ...more});
    expect(answer.ok, `${answer.status} ${await answer.text()}`);
    return session_id || answer.headers.get('HX-Replace-Url').split('/').pop();
  }
  // The same, whole; and how much of its prompt was not read again.
  async ask(session_id, message) {
    const before = [await this.metric('prompt_tokens_total'), await this.metric('cached_tokens_total')];
    const session = await this.begin(session_id, message, 8);
    await this.until(session, status => !status.turn);
    return {session, prompt: await this.metric('prompt_tokens_total') - before[0], cached: await this.metric('cached_tokens_total') - before[1]};
  }
}

const place = await new Program('shared').start();
const web = await browser(place.url);
const on_page = (check, options) => async () => {
  web.faults.length = 0;
  const page = await web.open({serviceWorkers: 'allow', ...options});  // as in a user's browser
  try {
    await page.goto(place.url);
    await check(page);
    expect(!web.faults.length, web.faults.slice(0, 3).join(' || '));
  } finally {
    await page.context().close();
  }
};
const text_of = page => page.locator('.message.assistant .parts > .md').last().innerText();
const without_thinking = async page => { if (await page.isChecked('#think')) await page.click('.think label'); };
const import_file = async (page, sessions) => {
  const text = JSON.stringify({format: 'smolbot', version: 1, sessions});
  await page.setInputFiles('#import', {name: 'chats.json', mimeType: 'application/json', buffer: Buffer.from(text)});
};
const AT = '2026-11-28T13:00:00.000Z';
// A session in the form of our export: questions and answers in turn, along one path.
const session_of = (title, texts) => ({
  title, title_origin: 'person', created: AT, updated: AT, date: '2026-11-28', settings: {think: false}, leaf: texts.length - 1,
  messages: texts.map((text, n) => ({...(n ? {parent: n - 1} : {}), created: AT, ...(n % 2 ? {role: 'assistant', state: 'done', parts: [{kind: 'text', text}]}
    : {role: 'user', text})})),
});
// Until what the browser keeps for reading offline fits: `check` gets {path: text}.
const until_kept = (page, check) => until('the browser keeps something else', () => page.evaluate(async () => {
  const pages = await caches.open('pages'), texts = {};
  for (const request of await pages.keys()) texts[new URL(request.url).pathname] = await (await pages.match(request)).text();
  return texts;
}), check);
const path_of = page => new URL(page.url()).pathname;
const median = values => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];
const first_paint = page => page.evaluate(() => new Promise(found => {
  new PerformanceObserver(list => found(list.getEntriesByName('first-contentful-paint')[0]?.startTime)).observe({type: 'paint', buffered: true});
}));

const checks = [
  ['a server killed in mid-stream is found again, and the answer can go on', on_page(async page => {
    await without_thinking(page);
    const rest = Array.from({length: 80}, (_, n) => `Sentence ${n} of a long answer.`).join(' ');
    await answer_with(page, rest);
    await say(page, 'A long one');
    await page.waitForFunction(() => document.querySelector('.parts > .md')?.innerText.length > 400, null, {timeout: 4 * patience});
    await place.stop('SIGKILL');
    await page.waitForSelector('#lost:visible');
    const seen = await text_of(page);
    await place.start();
    await page.waitForSelector('.message.assistant >> text=Continue', {timeout: 4 * patience});
    await page.waitForSelector('#lost', {state: 'hidden'});
    const kept = await text_of(page);
    expect(seen.startsWith(kept.trimEnd()) && seen.length - kept.length < 400, `kept ${kept.length} of ${seen.length} letters`);
    // What follows is forced, too: the model might have nothing to add.
    await page.route('**/api/continue', (route, request) => route.continue({postData: `${request.postData()}&${new URLSearchParams({grammar: grammar_of(rest)})}`}));
    await page.click('.message.assistant >> text=Continue');
    await phase(page, ['reading', 'writing']);
    await page.waitForFunction(length => document.querySelector('.parts > .md').innerText.length > length, kept.length, {timeout: 4 * patience});
    await page.click('[aria-label="Stop"]');
    await phase(page, 'idle', 4 * patience);
    expect((await text_of(page)).startsWith(kept.trimEnd()), 'what was kept is gone');
    web.faults.length = 0;  // the browser logs each connection that it did not get
  })],
  ['conversations can be read while the server is stopped and the browser was closed', async () => {
    const alone = await new Program('offline').start();
    const profile = join(folder, 'profile');
    let context = await offline_browser(profile);
    let page = context.pages()[0];
    await page.goto(alone.url);
    await page.evaluate(() => navigator.serviceWorker.ready);
    await import_file(page, [session_of('Kept here', ['What is kept?', 'This **answer** is.'])]);
    await page.click('.session >> text=Kept here');
    await page.waitForSelector('.md strong >> text=answer');
    await page.reload();  // from now on the worker has it
    await page.waitForSelector('.md strong >> text=answer');
    const address = page.url();
    await alone.stop();
    await context.close();
    context = await offline_browser(profile);
    page = context.pages()[0];
    await page.goto(address);
    await page.waitForSelector('.md strong >> text=answer');
    await context.close();
  }],
  ['what was begun on / and the whole of a long conversation can be read offline, and what is not there is said', async () => {
    const alone = await new Program('begun').start();
    const context = await offline_browser(join(folder, 'begun-profile'));
    const page = context.pages()[0];
    await page.goto(alone.url);
    await without_thinking(page);
    await answer_with(page, 'Kept **from the start**.');
    await say(page, 'The first message');
    await page.waitForSelector('.md strong >> text=from the start', {timeout: 4 * patience});
    await phase(page, 'idle', 4 * patience);
    const address = page.url();
    await until_kept(page, texts => texts[path_of(page)]?.includes('from the start'));
    await import_file(page, [session_of('Long', Array.from({length: 100}, (_, n) => `Text number ${n}.`))]);
    await page.click('.session >> text=Long');
    await page.waitForSelector('.message.assistant >> text="Text number 99."');
    const long = page.url();
    await until_kept(page, texts => texts[path_of(page)]?.includes('Text number 0.'));
    await alone.stop();
    await page.goto(address);
    await page.waitForSelector('.md strong >> text=from the start');
    await page.goto(long);
    await page.waitForSelector('.message.user >> text="Text number 0."');
    await page.goto(`${alone.url}/chat/${'0'.repeat(32)}`);
    await page.waitForSelector('h1 >> text=Not kept here');
    await page.click('a >> text=Conversations');
    await page.waitForSelector('#message');
    await context.close();
  }],
  ['a deleted conversation leaves what the browser keeps, and the lists in it', on_page(async page => {
    await page.evaluate(() => navigator.serviceWorker.ready);
    await import_file(page, [session_of('Secret plan', ['What is hidden?', 'A treasure.']), session_of('Harmless', ['One', 'Two'])]);
    for (const title of ['Secret plan', 'Harmless']) {
      await page.click(`.session >> text=${title}`);
      await page.waitForSelector('.message.assistant');
      await until_kept(page, texts => texts[path_of(page)]?.includes('Secret plan'));
    }
    await page.clock.install();
    await page.reload();
    const item = page.locator('.session', {hasText: 'Secret plan'});
    await item.hover();
    await item.locator('> .icon-button').click();
    await page.click('.menu:popover-open .bad');
    await page.waitForSelector('.toast');
    await page.clock.fastForward(31000);
    await page.waitForSelector('.toast', {state: 'detached'});
    await until_kept(page, texts => Object.keys(texts).length && !/Secret plan|treasure/.test(Object.values(texts).join()));
  })],
  ['with a key the page is entered by its form, and asks again when the browser has lost it', async () => {
    const locked = await new Program('locked', ['--api-key', 'sesame-1234']).start();
    const context = await offline_browser(join(folder, 'locked-profile'));
    const page = context.pages()[0];
    await page.goto(locked.url);
    await page.waitForURL('**/login');
    const enter = async key => { await page.fill('#key', key); await page.click('[type=submit]'); };
    await enter('another');
    await page.waitForSelector('#wrong');
    await enter('sesame-1234');
    await without_thinking(page);
    await answer_with(page, 'You are in.');
    await say(page, 'Hello');
    await page.waitForSelector('.message.assistant >> text=You are in.', {timeout: 4 * patience});
    await phase(page, 'idle', 4 * patience);
    await context.clearCookies();
    await say(page, 'Still there?');
    await page.waitForSelector('#lost:visible >> text=no longer signed in');
    expect(await page.inputValue('#message') === 'Still there?', 'the text is gone');
    expect(await page.locator('.message').count() === 2, 'the messages changed');
    await page.click('#sign-in');
    await enter('sesame-1234');
    await page.waitForSelector('.session >> text=Hello');
    await context.close();
    await locked.stop();
  }],
  ['what was computed for a conversation outlives a restart and a kill, but not the conversation', async () => {
    const alone = await new Program('kept').start();
    const text = word => Array.from({length: 120}, (_, n) => `${word} ${n}`).join(', ');
    // Whether the file holds some of the text's ids in a row.
    const holds = async message => {
      const {tokens} = await (await fetch(`${alone.url}/tokenize`, {method: 'POST', body: JSON.stringify({content: message})})).json();
      const file = readFileSync(join(alone.data, 'sessions.kv'));
      const row = begin => Buffer.from(Int32Array.from(tokens.slice(begin, begin + 12)).buffer);
      return Array.from({length: Math.floor(tokens.length / 12)}, (_, n) => row(12 * n)).some(ids => file.includes(ids));
    };
    const kept = await alone.ask('', text('apples'));
    const deleted = await alone.ask('', text('birds'));
    const restart = async signal => { await alone.stop(signal); await alone.start(); };
    const begin = performance.now();
    await alone.stop();
    expect(performance.now() - begin < 5000, `the end took ${performance.now() - begin} ms`);
    await alone.start();
    expect(await holds(text('apples')) && await holds(text('birds')), 'the file does not hold the conversations');
    const again = await alone.ask(kept.session, 'And then?');
    expect(again.cached > kept.prompt - 64 && again.prompt > kept.prompt, `after a restart ${JSON.stringify([kept, again])}`);
    await alone.post('/api/delete', {session_id: deleted.session});
    await new Promise(done => setTimeout(done, 33000));  // undo works for 30 s
    for (let n = 0; await holds(text('birds')); n++) {
      expect(n < 20, 'the file still holds what was deleted');
      await new Promise(done => setTimeout(done, 1000));
    }
    expect(await holds(text('apples')), 'the file lost what was not deleted');
    const anew = await alone.ask('', text('birds'));
    expect(anew.cached < deleted.cached + 64, `memory still holds what was deleted: ${JSON.stringify([deleted, anew])}`);
    await restart('SIGKILL');
    const third = await alone.ask(kept.session, 'And now?');
    expect(third.cached > again.prompt - 64, `after a kill ${JSON.stringify([again, third])}`);
    await alone.stop();
  }],
  ['an answer that nobody listens to gets its time when the server ends', async () => {
    const alone = await new Program('ends').start();
    const session = await alone.begin('', 'Tell me more', 30, {grammar: `root ::= "${'word '.repeat(30)}"`});
    await alone.until(session, status => status.turn?.phase === 'writing');
    const begin = performance.now();
    await alone.stop();
    expect(performance.now() - begin < 5000, `the end took ${performance.now() - begin} ms`);
    await alone.start();
    const {messages} = (await alone.json(`/api/export-chat?format=json&session_id=${session}`)).sessions[0];
    expect(messages[1].state !== 'interrupted', JSON.stringify(messages[1]));
    await alone.stop();
  }],
  ['a paused answer wakes nobody up, and goes on', async () => {
    const alone = await new Program('paused').start();
    const session = await alone.begin('', 'Tell me more', 200, {grammar: `root ::= "${'word '.repeat(200)}"`});
    await alone.until(session, status => status.turn?.phase === 'writing');
    await alone.post('/api/pause', {session_id: session});
    await alone.until(session, status => status.turn.phase === 'paused');
    await new Promise(done => setTimeout(done, 2500));  // until it is saved
    const tasks = `/proc/${alone.child.pid}/task`;
    const switches = () => readdirSync(tasks).reduce((sum, task) => sum + Number(readFileSync(join(tasks, task, 'status'), 'utf8').match(/^voluntary_ctxt_switches:\s+(\d+)/m)[1]), 0);
    const before = switches();
    await new Promise(done => setTimeout(done, 1500));
    expect(switches() - before < 10, `woke up ${switches() - before} times in 1.5 s`);
    await alone.post('/api/resume', {session_id: session});
    await alone.until(session, status => status.turn?.phase === 'writing');
    await alone.stop();
  }],
  ['a session of 1,000 messages is usable within a second, and older ones come when they are reached', on_page(async page => {
    const texts = Array.from({length: 1000}, (_, n) => n % 2 ? `Answer **${n}**.\n\n- one\n- two \`code\`` : `Question ${n}`);
    await import_file(page, [session_of('A thousand', texts)]);
    const address = await page.locator('.session a', {hasText: 'A thousand'}).getAttribute('href');
    const times = [];
    for (let n = 0; n < 3; n++) {
      await page.goto(place.url + address);
      times.push(await page.waitForFunction(() => {
        const last = [...document.querySelectorAll('.message.assistant .md')].pop();
        return document.activeElement?.id === 'message' && last?.querySelector('strong') && performance.now();
      }).then(handle => handle.jsonValue()));
    }
    console.log(`     first screen of 1,000 messages: ${times.map(Math.round).join(', ')} ms`);
    expect(median(times) < quiet(1000), `${median(times)} ms`);
    await page.evaluate(() => {
      window.delays = [];
      new PerformanceObserver(list => delays.push(...list.getEntries().map(entry => entry.duration))).observe({type: 'event', durationThreshold: 16, buffered: true});
    });
    await page.locator('#message').pressSequentially('Typing is not slow here.', {delay: 30});
    const slowest = await page.evaluate(() => Math.max(0, ...delays));
    console.log(`     slowest input: ${slowest} ms`);
    expect(slowest < quiet(50), `input took ${slowest} ms`);
    await page.fill('#message', '');
    for (let shown = 40; shown < 1000;) {
      await page.evaluate(() => { document.getElementById('scroll').scrollTop = 0; });
      shown = await page.waitForFunction(n => { const {length} = document.querySelectorAll('.message'); return length > n && length; }, shown)
        .then(handle => handle.jsonValue());
    }
    await page.waitForSelector('.message.user >> text="Question 0"');
  })],
  ['export, import and export again give the same file', on_page(async page => {
    await import_file(page, [session_of('Round trip 漢字', ['<b>"One"</b>', 'Two\n\n```js\nlet x = "é";\n```'])]);
    await page.waitForSelector('.session >> text=Round trip');
    const exported = async () => {
      const href = await page.locator('.session a', {hasText: 'Round trip'}).first().getAttribute('href');
      const answer = await page.request.get(`${place.url}/api/export-chat?format=json&session_id=${href.split('/').pop()}`);
      return answer.json();
    };
    const first = await exported();
    expect(first.sessions[0].messages.length === 2, 'messages are missing');
    await import_file(page, first.sessions);
    await page.waitForFunction(() => [...document.querySelectorAll('.session')].filter(item => item.innerText.includes('Round trip')).length === 2);
    expect(JSON.stringify(await exported()) === JSON.stringify(first), 'the second export differs');
  })],
  ['settings are kept, and a wrong one is named', on_page(async page => {
    await import_file(page, [session_of('With settings', ['One', 'Two'])]);
    await page.click('.session >> text=With settings');
    await page.waitForSelector('.message.assistant');
    const open = async () => { await page.click('header [aria-label="Settings"]'); await page.waitForSelector('#dialog[open] .settings'); };
    await open();
    await page.fill('#set-temperature', '0.35');
    await page.fill('#set-system', 'Be brief.');
    await page.check('#set-tools');
    await page.click('.settings [type=submit]');
    await page.waitForSelector('.settings >> text=Saved.');
    await page.reload();
    await open();
    expect(await page.inputValue('#set-temperature') === '0.35', 'the temperature was not kept');
    expect(await page.inputValue('#set-system') === 'Be brief.', 'the system prompt was not kept');
    expect(await page.isChecked('#set-tools'), 'the tools were not kept');
    await page.evaluate(() => { document.querySelector('.settings').noValidate = true; });
    await page.fill('#set-top_p', '7');
    await page.click('.settings [type=submit]');
    await page.waitForSelector('.settings .error >> text=Between 0 and 1');
    web.faults.length = 0;  // the browser logs the refusal
  })],
  ['the status page says what /metrics says', on_page(async page => {
    await page.goto(`${place.url}/status`);
    const metrics = await (await page.request.get(`${place.url}/metrics`)).text();
    const metric = name => Number(metrics.match(new RegExp(`^smolbot_${name} (\\S+)$`, 'm'))[1]);
    const kv = await page.locator('progress').evaluate(node => [node.value, node.max]);
    expect(kv[0] === metric('kv_bytes') && kv[1] === metric('kv_bytes_max'), `KV ${kv} against ${metric('kv_bytes')}, ${metric('kv_bytes_max')}`);
    const memory = [(await place.json('/api/status')).memory_bytes, await place.metric('resident_memory_bytes')];
    expect(Math.abs(memory[0] - memory[1]) < memory[0] / 10, `memory ${memory}`);
    const facts = await page.locator('.facts', {hasText: 'Queue'}).innerText();
    expect(facts.includes(`${metric('turns_waiting')} waiting, ${metric('turns_running')} running`), facts);
  })],
  ['the page weighs less than 400 KB compressed, without the fonts of KaTeX', on_page(async page => {
    await import_file(page, [session_of('Heavy', ['All of it', '$a^2$ and\n\n```python\nprint(1)\n```'])]);
    await page.click('.session >> text=Heavy');
    await page.waitForSelector('.katex');
    await page.waitForSelector('code .hljs-built_in');
    const sizes = await page.evaluate(() => [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
      .filter(entry => !/fonts|\/api\//.test(entry.name)).map(entry => [new URL(entry.name).pathname, entry.encodedBodySize]));
    const total = sizes.reduce((sum, [, bytes]) => sum + bytes, 0);
    console.log(`     ${sizes.length} files, ${Math.round(total / 1000)} KB compressed`);
    expect(sizes.every(([, bytes]) => bytes > 0) && sizes.length > 6, JSON.stringify(sizes));
    expect(total < 400000, JSON.stringify(sizes));
  }, {serviceWorkers: 'block'})],  // what comes through a worker has no size
  ['the first paint of a warm load comes within 300 ms', on_page(async page => {
    const bare = createServer((_, answer) => answer.setHeader('Content-Type', 'text/html').end('<!doctype html><title>x</title><p>Hello')).listen(0, '127.0.0.1');
    await new Promise(done => bare.once('listening', done));
    const other = await (await page.context().browser().newContext()).newPage();
    const times = {page: [], bare: []};
    for (let n = 0; n < 5; n++) {
      await page.goto(place.url);
      times.page.push(await first_paint(page));
      await other.goto(`http://127.0.0.1:${bare.address().port}`);
      times.bare.push(await first_paint(other));
    }
    bare.close();
    console.log(`     first paint, median of 5: ${Math.round(median(times.page))} ms; a bare static page: ${Math.round(median(times.bare))} ms`);
    expect(median(times.page) < quiet(300), `${times.page.map(Math.round)} ms`);
  })],
];
const only = process.env.PAGE_ONLY;
await run(checks.filter(([name]) => !only || name.includes(only)));
await web.close();
await place.stop();
