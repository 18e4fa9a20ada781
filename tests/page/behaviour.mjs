// What the page does: sending, streams that survive, control in each phase, keys, tabs. PAGE_URL names a real server, whose answers must
// be slow enough to act on (`--pace`); else the preview, with PAGE_PACE_MS a token.
import {answer_with, browser, expect, force, patience, phase, run, say, server, until} from './support.mjs';

const place = await server(['--pace-ms', process.env.PAGE_PACE_MS || '40']);
const web = await browser(place.url);
const ASK = 'Explain how a hash map works, with a small example.';
const SHORT = 'That depends on the hash function. A good one spreads the keys evenly; then even a full map rarely needs two steps.';
const LONG = Array.from({length: 60}, (_, n) => `Paragraph ${n}: ${SHORT}`).join('\n\n');
const ANSWER = `A **hash map** stores pairs of keys and values.\n\n${SHORT}\n\n1. one\n2. two, with \`code\` and $a^2$\n\n` +
  `\`\`\`python\nfor key in keys:\n    print(key)\n\`\`\`\n\n${SHORT} ${SHORT}\n\n> Keys must not change while they are in the map.\n`;
const answers = page => page.locator('.message.assistant');
const last_text = page => answers(page).last().locator('.parts > .md').last();
const idle = page => phase(page, 'idle', 4 * patience);

// A fresh page, closed afterwards; a fault of the browser's log fails the check.
const on_page = (check, options) => async () => {
  web.faults.length = 0;
  const page = await web.open(options);
  try {
    await page.goto(place.url);
    await answer_with(page, ANSWER);
    await check(page);
    expect(!web.faults.length, web.faults.slice(0, 3).join(' || '));
  } finally {
    await page.context().close();
  }
};
const without_thinking = async page => { if (await page.isChecked('#think')) await page.click('.think label'); };

const checks = [
  ['a message appears at once, its answer streams, the address names the session', on_page(async page => {
    await say(page, ASK);
    expect(await page.inputValue('#message') === '', 'the input was not cleared');
    await page.waitForSelector('.message.user');
    await phase(page, ['reading', 'thinking']);
    await page.waitForURL(/\/chat\/\w+/);
    await page.click('.answer-now');
    await idle(page);
    await page.waitForSelector('.stats');
    expect((await last_text(page).innerText()).includes('A hash map stores pairs'), 'the answer is not there');
  })],
  ['the thought is closed when the answer starts, and stays readable', on_page(async page => {
    await say(page, ASK);
    await page.waitForSelector('.thought[data-live] .thought-last:visible');
    await page.waitForSelector('.parts > .md');
    await page.waitForSelector('.thought-last', {state: 'hidden'});
    expect(await page.evaluate(() => document.body.dataset.phase) === 'writing', 'it stayed open until the answer had ended');
    expect(/^Thought for/.test(await page.innerText('.thought-label')), 'it says that it is still thinking');
    expect(!(await page.isVisible('.answer-now')), '"Answer now" is still offered');
    expect(!(await page.locator('.thought details').evaluate(node => node.open)), 'the thought is open');
    await page.click('.thought summary');
    expect((await page.innerText('.thought-text')).trim(), 'the thought is empty');
    await page.press('body', 'Escape');
    await idle(page);
  })],
  ...['reading', 'thinking', 'writing'].map(wanted => [`stop works while ${wanted}`, on_page(async page => {
    if (wanted === 'writing') await without_thinking(page);
    await say(page, wanted === 'reading' ? `${ASK} ${'It reads for a while. '.repeat(120)}` : ASK);
    await phase(page, wanted);
    await page.click('[aria-label="Stop"]');
    await idle(page);
    await page.waitForSelector('.ending >> text=Stopped by you');
    await answer_with(page, LONG);
    await say(page, 'A long one, once more');
    await page.waitForFunction(() => document.querySelectorAll('.message.user').length === 2);
    await phase(page, ['reading', 'thinking', 'writing']);
    await page.click('[aria-label="Stop"]');
    await idle(page);
  })]),
  ['pause holds the text still and resume goes on', on_page(async page => {
    await without_thinking(page);
    await say(page, ASK);
    await page.waitForFunction(() => document.querySelector('.parts > .md')?.innerText.length > 60);
    await page.click('[aria-label="Pause"]');
    await phase(page, 'paused');
    await page.waitForTimeout(300);
    const before = await last_text(page).innerText();
    await page.waitForTimeout(500);
    expect(await last_text(page).innerText() === before, 'text came while paused');
    await page.click('[aria-label="Go on"]');
    await phase(page, 'writing');
    await page.waitForFunction(length => document.querySelector('.parts > .md').innerText.length > length, before.length);
    await page.click('[aria-label="Stop"]');
    await idle(page);
  })],
  ['a reload in mid-stream loses nothing', on_page(async page => {
    await without_thinking(page);
    await say(page, ASK);
    await page.waitForFunction(() => document.querySelector('.parts > .md')?.innerText.length > 200);
    await page.reload();
    await page.waitForFunction(() => document.querySelector('.parts > .md')?.innerText.length > 260);
    await idle(page);
    const text = await last_text(page).innerText();
    await page.reload();
    await page.waitForSelector('.tail', {state: 'attached'});
    await page.waitForFunction(() => document.querySelectorAll('.katex').length >= document.querySelectorAll('.math').length);
    expect(await last_text(page).innerText() === text, 'the reopened answer differs from the streamed one');
  })],
  ['a second tab shows the same turn, begun in the first', on_page(async page => {
    await without_thinking(page);
    await force(page, 'first');
    const other = await page.context().newPage();
    await other.goto(page.url());
    await say(page, ASK);
    await other.waitForFunction(() => document.querySelectorAll('.message.user').length === 2);
    await other.waitForFunction(() => document.body.dataset.phase === 'writing');
    await idle(page);
    await idle(other);
    await other.waitForFunction(() => [...document.querySelectorAll('.message.assistant')].pop().querySelector('.stats'));
    expect((await last_text(other).innerText()).includes('Keys must not change'), 'the other tab lacks the end');
  })],
  ['seven tabs leave connections for the page to work', on_page(async page => {
    await force(page, 'first');
    const tabs = [];
    for (let n = 0; n < 6; n++) tabs.push(await page.context().newPage());
    for (const tab of tabs) await tab.goto(page.url());
    await page.click('h1', {force: true}).catch(() => {});
    await force(page, 'second');
    for (const tab of tabs) await tab.waitForFunction(() => document.querySelectorAll('.message.assistant').length === 2);
  })],
  ['a message typed during an answer waits and is sent after it', on_page(async page => {
    await without_thinking(page);
    await answer_with(page, LONG);
    await say(page, 'A long one');
    await phase(page, ['reading', 'writing']);
    await say(page, 'The second');
    await page.waitForSelector('#queued:visible >> text=The second');
    await page.reload();
    await page.click('#queued [aria-label="Take it back into the input"]');
    await page.waitForFunction(() => document.getElementById('message').value === 'The second');
    await page.press('#message', 'Enter');
    await page.waitForSelector('#queued:visible >> text=The second');
    expect(await page.inputValue('#message') === '', 'the input was not cleared');
    await page.click('[aria-label="Stop"]');
    await page.waitForFunction(() => document.querySelectorAll('.message.user').length === 2);
    await page.waitForSelector('#queued', {state: 'hidden'});
    await phase(page, ['reading', 'thinking', 'writing']);
    await page.click('[aria-label="Stop"]');
    await idle(page);
  })],
  ['the palette works by keyboard alone', on_page(async page => {
    await page.focus('#message');
    await page.keyboard.type('/th');
    expect(await page.locator('#palette li:visible').count() === 2, 'the filter shows something else');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    expect(await page.evaluate(() => document.documentElement.dataset.theme) === 'light', '/theme did nothing');
    await page.keyboard.type('/the');
    await page.keyboard.press('Tab');
    expect(await page.inputValue('#message') === '/theme ', 'Tab did not complete');
    await page.keyboard.type('dark');
    await page.keyboard.press('Enter');
    expect(await page.evaluate(() => document.documentElement.dataset.theme) === 'dark', 'the argument was lost');
    await page.keyboard.type('/');
    await page.keyboard.press('Escape');
    expect(!(await page.isVisible('#palette')), 'Escape did not close it');
    expect(await page.evaluate(() => document.activeElement.id) === 'message', 'focus was lost');
    await page.reload();
    expect(await page.evaluate(() => document.documentElement.dataset.theme) === 'dark', 'the theme was forgotten');
  })],
  ['a text that begins like no command is a message', on_page(async page => {
    await without_thinking(page);
    await say(page, '/etc/hosts: what is it?');
    await page.waitForSelector('.message.user >> text="/etc/hosts: what is it?"');
    await page.press('#message', 'Escape');
    await idle(page);
  })],
  ['Enter while an input method composes does not send; a draft survives a reload', on_page(async page => {
    await page.fill('#message', 'にほん');
    await page.evaluate(() => document.getElementById('message').dispatchEvent(
      new KeyboardEvent('keydown', {key: 'Enter', isComposing: true, bubbles: true, cancelable: true})));
    expect(await page.locator('.message').count() === 0, 'it was sent');
    await page.reload();
    expect(await page.inputValue('#message') === 'にほん', 'the draft is gone');
    await page.fill('#message', '');
  })],
  ['regenerate and edit make branches, and the edit says its price', on_page(async page => {
    await without_thinking(page);
    await say(page, 'One');
    await idle(page);
    await page.click('[aria-label="Answer again"]');
    await page.waitForFunction(() => document.querySelector('.message.assistant .branches')?.innerText.includes('2/2'));
    await page.click('.message.assistant [aria-label="Version before"]');
    await page.waitForFunction(() => document.querySelector('.message.assistant .branches')?.innerText.includes('1/2'));
    await page.focus('#message');
    await page.keyboard.press('ArrowUp');
    await page.waitForSelector('.price');
    expect(/recomputes [\d,]+ of [\d,]+ tokens/.test(await page.innerText('.price')), 'no price');
    await page.fill('.edit-text', 'Two');
    await page.click('.editing [type=submit]');
    await page.waitForSelector('.message.user >> text=Two');
    await idle(page);
    await page.waitForFunction(() => document.querySelector('.message.user .branches')?.innerText.includes('2/2'));
  })],
  ['a menu of the list stays open when an answer ends, and the list is fetched once it is closed', on_page(async page => {
    await without_thinking(page);
    await say(page, 'A title to come');
    await phase(page, ['reading', 'writing']);
    let answer_now;
    const asked = new Promise(done => page.route('**/api/message-footer*', route => {
      answer_now = () => route.continue();
      done();
    }));
    await page.click('[aria-label="Stop"]');
    await asked;  // the list that takes the place of this one is under way
    await page.hover('.session.current');
    await page.click('.session.current > .icon-button');
    await page.waitForSelector('.menu:popover-open');
    const response = page.waitForResponse('**/api/message-footer*');
    answer_now();
    await response;
    await page.waitForSelector('.stats, .ending');
    expect(await page.isVisible('.menu:popover-open'), 'the menu is gone');
    const fetched = page.waitForResponse('**/api/sessions');
    await page.keyboard.press('Escape');
    await fetched;
    await page.waitForFunction(() => !document.querySelector('.session.current .dot'));
  })],
  ['/compact shows its work, can be stopped, and puts a summary in the place of what was said', on_page(async page => {
    await without_thinking(page);
    await force(page, 'A long story.');
    let summary = LONG;
    await page.route('**/api/compact', route => route.continue({postData: `${route.request().postData()}&grammar=${
      encodeURIComponent(`root ::= "${summary.replaceAll('\n', '\\n')}"`)}`}));
    const compact = async turns => {
      await say(page, '/compact');
      await page.waitForFunction(n => document.querySelectorAll('.message.assistant').length === n, turns);
    };
    await compact(2);
    await phase(page, 'writing');
    await page.click('[aria-label="Stop"]');
    await idle(page);
    await page.waitForSelector('.ending >> text=Stopped by you');
    expect(await page.locator('.divider').count() === 0, 'a summary that was stopped was taken');
    summary = 'They told a story.';
    await compact(3);
    await page.waitForSelector('.divider >> text=replaced by a summary');
    await idle(page);
    const shape = () => page.evaluate(() => [...document.querySelectorAll('#messages > *')].map(node => node.classList[1] || node.className).join(' '));
    const shown = await shape();
    expect(shown === 'user assistant user assistant user assistant divider', shown);
    await page.reload();
    expect(await shape() === shown, `after a reload: ${await shape()}`);
  })],
  ['delete can be undone', on_page(async page => {
    await without_thinking(page);
    await say(page, 'To be deleted');
    await idle(page);
    await page.waitForSelector('.stats');
    await page.hover('.session.current');
    await page.click('.session.current > .icon-button');
    await page.click('.menu:popover-open .bad');
    await page.waitForSelector('.toast');
    expect(await page.locator('.session >> text=To be deleted').count() === 0, 'still in the list');
    await page.click('.toast .text-button');
    await page.waitForSelector('.session >> text=To be deleted');
  })],
  ['a long paste becomes a file, counted before it is sent', on_page(async page => {
    await without_thinking(page);
    await page.focus('#message');
    await page.evaluate(() => {
      const data = new DataTransfer();
      data.setData('text/plain', 'word '.repeat(600));
      document.getElementById('message').dispatchEvent(new ClipboardEvent('paste', {clipboardData: data, bubbles: true, cancelable: true}));
    });
    await page.waitForSelector('#files .file >> text=tokens');
    await say(page, 'See the file');
    await page.waitForSelector('.message.user .file');
    expect(await page.locator('#files .file').count() === 0, 'the chip is still there');
    await page.press('#message', 'Escape');
    await idle(page);
  })],
  ['code keeps every space, and characters split between tokens arrive whole', on_page(async page => {
    const code = 'def f():\n\treturn [\n        1,  2,   \n\n    ]  # 👩‍👩‍👧 é e\u0301 漢字';
    await force(page, `Before\n\n\`\`\`python\n${code}\n\`\`\`\n\nAfter 👍🏽 नमस्ते`);
    expect(await page.locator('.md pre code').evaluate(node => node.textContent) === code, 'the code differs');
    expect((await last_text(page).innerText()).includes('👍🏽 नमस्ते'), 'a character broke');
  })],
  ['what is streamed looks as what is opened again', on_page(async page => {
    const texts = ['1. a\n\n2. b\n3. c\n\ntext [x] and\nmore\n\n[x]: https://example.com\n\n> q\n> q2\n\n- a\n  - b\n\n    c\n- d\n\n| a | b |\n|---|:-:|\n| 1 | `x|` |\n\n# H\nS\n===\n\n---\n\n    code\n\n~~~\nx\n~~~\n\n$$\na^2\n$$\n\n\\[b\\] \\(c\\) $d$ costs $5 and $6\n\n- [ ] t\n- [x] u\n\n<b>x</b><br>**y**<i>z'];
    const shape = () => page.evaluate(() => {
      const copy = document.querySelector('.message.assistant .md').cloneNode(true);
      copy.querySelectorAll('.math').forEach(node => node.replaceChildren(node.getAttribute('aria-label')));
      return copy.innerHTML;
    });
    for (const text of texts) {
      await page.goto(place.url);
      await force(page, text);
      await page.waitForTimeout(500);
      const streamed = await shape();
      await page.goto(page.url());
      await page.waitForFunction(() => document.querySelectorAll('.katex').length === document.querySelectorAll('.math').length);
      const opened = await shape();
      const at = [...streamed].findIndex((letter, index) => letter !== opened[index]);
      expect(streamed === opened, `${streamed.slice(at - 60, at + 60)} !== ${opened.slice(at - 60, at + 60)}`.replaceAll('\n', '\\n'));
    }
  })],
  ['at most ten updates a second, and the reader who scrolled up stays there', on_page(async page => {
    await without_thinking(page);
    await answer_with(page, LONG);
    await say(page, 'A long one');
    await page.waitForFunction(() => document.getElementById('scroll').scrollHeight > 1200, null, {timeout: 4 * patience});
    const updates = await page.evaluate(async () => {
      const scroller = document.getElementById('scroll');
      scroller.scrollTop = 100;
      const times = new Set();
      new MutationObserver(() => times.add(Math.round(performance.now()))).observe(document.querySelector('.message.assistant .parts'),
        {childList: true, subtree: true, characterData: true});
      await new Promise(done => setTimeout(done, 3000));
      return {count: times.size, top: scroller.scrollTop};
    });
    expect(updates.count > 5 && updates.count <= 31, `${updates.count} updates in 3 s, then ${await page.evaluate(() => document.body.dataset.phase)}`);
    expect(updates.top === 100, `the view moved to ${updates.top}`);
    expect(await page.isVisible('#jump'), 'no button to the new text');
    await page.click('#jump');
    await page.press('#message', 'Escape');
    await idle(page);
  })],
  ['the text comes back where sending failed', on_page(async page => {
    await page.route('**/api/chat', route => route.abort());
    await say(page, 'Do not lose me');
    await page.waitForSelector('#lost:visible');
    expect(await page.inputValue('#message') === 'Do not lose me', 'the text is gone');
    web.faults.length = 0;  // the browser logs the refused request
  })],
  ['what is refused before it comes to the page is said above the input, and changes nothing else', on_page(async page => {
    await force(page, 'first');
    const before = await page.locator('.session').count();
    const refused = [[401, 'no longer signed in'], [413, 'more than the server takes'], [431, 'refused this (431)'], [503, 'takes no more work']];
    for (const [status, words] of refused) {
      await page.route(/\/api\/(?:chat|search)/, route => route.fulfill({status, contentType: 'application/json', body: '{"error": {"message": "x"}}'}));
      await say(page, 'Do not lose me');
      await page.waitForSelector(`#lost:visible >> text=${words}`);
      expect(await page.inputValue('#message') === 'Do not lose me', 'the text is gone');
      expect(await page.isVisible('#sign-in') === (status === 401), `signing in was offered wrongly at ${status}`);
      const answer = page.waitForResponse('**/api/search*');
      await page.fill('#search', `words ${status}`);
      await answer;
      await page.waitForTimeout(50);
      expect(await page.locator('.message').count() === 2 && await page.locator('.session').count() === before, `a list changed at ${status}`);
      await page.unroute(/\/api\/(?:chat|search)/);
    }
    await page.fill('#message', '');
    web.faults.length = 0;  // the browser logs each refusal
  })],
  ['a request names its origin in every browser', on_page(async page => {  // without this mode some send "null" under no-referrer
    await page.evaluate(() => {
      const {fetch} = window;
      window.modes = [];
      window.fetch = (address, options) => { modes.push(options.mode); return fetch(address, options); };
    });
    await force(page, 'first');
    const modes = await page.evaluate(() => window.modes);
    expect(modes.length && modes.every(mode => mode === 'cors'), modes.join());
  })],
  ['an answer that ends behind another window is told, where pages may make no notifications too', on_page(async page => {
    await page.evaluate(() => navigator.serviceWorker.ready);
    await page.evaluate(() => {
      window.Notification = class { constructor() { throw new TypeError('Illegal constructor'); } static permission = 'granted'; };
    });
    await without_thinking(page);
    await say(page, ASK);
    await phase(page, 'writing');
    await page.evaluate(() => {
      Object.defineProperty(document, 'hidden', {get: () => true});
      document.dispatchEvent(new Event('visibilitychange'));
    });
    const titles = () => page.evaluate(async () => (await (await navigator.serviceWorker.ready).getNotifications()).map(one => one.title));
    await until('nothing was told', titles, found => found.join() === 'The answer is ready');
    await idle(page);
  }, {permissions: ['notifications'], serviceWorkers: 'allow'})],
];
const only = process.env.PAGE_ONLY;
await run(checks.filter(([name]) => !only || name.includes(only)));
await web.close();
place.stop();
