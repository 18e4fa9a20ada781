// Hostile answers are inert, streamed and opened again: no script runs, no request leaves the host or reaches a route of ours, nothing
// but text elements appears, and the page stays usable. PAGE_URL names a real server (which obeys `grammar`); else the preview.
import {cases} from './hostile_cases.mjs';
import {browser, expect, force, run, server} from './support.mjs';

const place = await server(['--pace-ms', '0']);
const web = await browser(place.url);
const page = await web.open();
const reached = [];
page.on('request', request => reached.push(`${request.method()} ${new URL(request.url()).pathname}`));
// Everything that the page itself asks for while an answer is written or opened.
const own = /^(POST \/api\/chat|GET \/(chat\/\w+|static\/.*|sw\.js|manifest.*|api\/(stream\/\w+|message-footer|messages|session-ids|status))|GET \/)$/;
await page.goto(place.url);
await page.addInitScript(() => { window.hurt = 0; });

// Elements, attributes and addresses that an answer may consist of.
const inspect = () => page.evaluate(() => {
  const tags = new Set(('P BR HR H3 H4 H5 H6 EM STRONG DEL B I U S MARK SUB SUP KBD CODE PRE BLOCKQUOTE UL OL LI TABLE THEAD TBODY TR TH TD A ' +
    'SPAN DIV').split(' '));
  const attributes = new Set(['href', 'title', 'class', 'align', 'start', 'target', 'rel', 'tabindex', 'role', 'aria-label', 'aria-hidden']);
  const wrong = [];
  const answer = [...document.querySelectorAll('.message.assistant')].pop();
  for (const node of answer.querySelectorAll('.md *')) {
    if (node.closest('.katex') || node.closest('.code-bar')) continue;  // KaTeX's drawing, and our own bar
    if (!tags.has(node.tagName)) wrong.push(node.tagName);
    for (const {name} of node.attributes) if (!attributes.has(name)) wrong.push(`${node.tagName} ${name}`);
    if (node.hasAttribute('href') && !/^(https?:|mailto:)/i.test(node.getAttribute('href'))) wrong.push(`href ${node.getAttribute('href')}`);
  }
  for (const node of answer.querySelectorAll('.katex [href], .katex [src], .katex [id], .katex [data-hx-get], .katex img')) wrong.push(`katex ${node.tagName}`);
  const ids = [...document.querySelectorAll('[id]')].map(node => node.id);
  if (new Set(ids).size !== ids.length) wrong.push(`double ids: ${ids.filter((id, at) => ids.indexOf(id) !== at)}`);
  return {wrong, text: answer.querySelector('.md').innerText, hurt: window.hurt, width: document.documentElement.scrollWidth - innerWidth,
    input: document.querySelector('#message').isConnected && getComputedStyle(document.body).display !== 'none'};
});

async function judge(when, shows) {
  const found = await inspect();
  expect(!found.wrong.length, `${when}: ${[...new Set(found.wrong)].slice(0, 5).join(', ')}`);
  expect(!found.hurt, `${when}: a script ran`);
  expect(found.text.includes(shows), `${when}: "${shows}" is not shown: ${found.text.slice(0, 80)}`);
  expect(found.width <= 0, `${when}: the page became ${found.width} px too wide`);
  expect(found.input, `${when}: the input is gone`);
  expect(!web.faults.length, `${when}: ${web.faults.slice(0, 3).join(' || ')}`);
  const strange = reached.filter(request => !own.test(request));
  expect(!strange.length, `${when}: asked for ${strange.slice(0, 3).join(', ')}`);
}

// A model's context is full before the longest texts end: they are left to the preview.
const most = process.env.PAGE_URL ? 8000 : Infinity;
const checks = cases.filter(([, text]) => text.length < most).map(([name, text, shows]) => [name, async () => {
  web.faults.length = reached.length = 0;
  await page.goto(place.url);
  const started = Date.now();
  await force(page, text);
  await judge('streamed', shows);
  await page.waitForURL(/\/chat\//);
  await page.goto(page.url());
  await page.waitForFunction(() => document.querySelector('.message.assistant .tail'));
  await judge('opened again', shows);
  const delay = await page.evaluate(async () => {  // the page still answers a key at once
    const before = performance.now();
    await new Promise(done => requestAnimationFrame(() => setTimeout(done)));
    return performance.now() - before;
  });
  expect(delay < 1000, `the page was busy for ${Math.round(delay)} ms, after ${Date.now() - started} ms`);
}]);
await run(checks);
await web.close();
place.stop();
