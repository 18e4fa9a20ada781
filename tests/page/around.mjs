// What a person does around an answer: looks away and comes back, thinks or not, copies, attaches, finds, renames and takes home; on a
// phone and in the dark. PAGE_URL names a real server with `--pace`; else the preview answers, where it can.
import {answer_with, browser, expect, force, grammar_of, patience, phase, run, say, server} from './support.mjs';

const place = await server(['--pace-ms', process.env.PAGE_PACE_MS || '40']);
const web = await browser(place.url);
const SENTENCE = 'A good one spreads the keys evenly; then even a full map rarely needs two steps.';
const LONG = `${Array.from({length: 12}, (_, n) => `Paragraph ${n}: ${SENTENCE}`).join('\n\n')}\n\nThis is the end.`;
const CODE = 'def f(x):\n\treturn [x,  x]   # 漢字 👍🏽\n';
const text_of = page => page.locator('.message.assistant .parts > .md').last().innerText();
const idle = page => phase(page, 'idle', 4 * patience);
const without_thinking = async page => { if (await page.isChecked('#think')) await page.click('.think label'); };
const file = (name, text) => ({name, mimeType: 'text/plain', buffer: Buffer.from(text)});

const on_page = (check, options) => async () => {
  web.faults.length = 0;
  const page = await web.open(options);
  try {
    await page.goto(place.url);
    await check(page);
    expect(!web.faults.length, web.faults.slice(0, 3).join(' || '));
  } finally {
    await page.context().close();
  }
};

// A browser without a screen shows every tab: what a page is told of a hidden one is said here.
const set_hidden = (page, hidden) => page.evaluate(value => {
  Object.defineProperty(document, 'hidden', {configurable: true, value});
  Object.defineProperty(document, 'visibilityState', {configurable: true, value: value ? 'hidden' : 'visible'});
  document.dispatchEvent(new Event('visibilitychange'));
}, hidden);
const begin_long = async page => {
  await without_thinking(page);
  await answer_with(page, LONG);
  await say(page, 'A long one');
  await page.waitForURL(/\/chat\/\w+/);
  await page.waitForFunction(() => document.querySelector('.parts > .md')?.innerText.length > 100, null, {timeout: 4 * patience});
};
const answered = async page => {  // as the server sees it
  const id = page.url().split('/').pop(), until = Date.now() + 4 * patience;
  while ((await (await page.request.get(`${place.url}/api/status?session_id=${id}`)).json()).turn) {
    expect(Date.now() < until, 'the answer does not end');
    await page.waitForTimeout(200);
  }
};
const menu = async (page, entry) => {
  await page.hover('.session.current');
  await page.click('.session.current > .icon-button');
  await page.click(`.menu:popover-open >> text=${entry}`);
};

const checks = [
  ['a hidden tab hears nothing, and shows what was written meanwhile when it comes back', on_page(async page => {
    await begin_long(page);
    await set_hidden(page, true);
    await page.waitForTimeout(500);  // what was under way
    const before = await text_of(page);
    await page.waitForTimeout(1500);
    expect(await text_of(page) === before, 'it still listens');
    await set_hidden(page, false);
    await page.waitForFunction(length => document.querySelector('.parts > .md').innerText.length > length + 20, before.length);
    expect(await page.evaluate(() => document.body.dataset.phase) === 'writing', 'the answer had ended: nothing was shown');
    await idle(page);
    await page.waitForSelector('.stats');
    const shown = await text_of(page);
    expect(shown.endsWith('This is the end.') && shown.match(/Paragraph \d+/g).length === 12, 'text is missing, or came twice');
  })],
  ['a hidden tab that comes back after the end shows the whole answer', on_page(async page => {
    await begin_long(page);
    await set_hidden(page, true);
    await answered(page);
    await set_hidden(page, false);
    await page.waitForSelector('.stats');
    await page.waitForSelector('.md >> text=This is the end.');
    await idle(page);
  })],
  ['the end of a hidden tab\'s answer is told by a notification, where it is allowed, and once', async () => {
    for (const permission of ['granted', 'default']) {
      await on_page(async page => {
        await page.addInitScript(allowed => {  // the browser's own cannot be seen by a test
          window.told = [];
          Object.defineProperty(Notification, 'permission', {get: () => allowed});
          ServiceWorkerRegistration.prototype.showNotification = async (title, options) => { told.push({title, ...options}); };
        }, permission);
        await page.goto(place.url);
        await begin_long(page);
        await set_hidden(page, true);
        await answered(page);
        if (permission === 'granted') await page.waitForFunction(() => told.length, null, {timeout: patience});
        await page.waitForTimeout(4500);  // the next look at the state
        const told = await page.evaluate(() => window.told);
        expect(told.length === (permission === 'granted' ? 1 : 0), `${permission}: ${JSON.stringify(told)}`);
      }, {serviceWorkers: 'allow'})();
    }
  }],
  ['the think toggle counts the thought, and a conversation remembers it', on_page(async page => {
    await answer_with(page, 'Short.');
    if (!(await page.isChecked('#think'))) await page.click('.think label');
    await say(page, 'Think first');
    await page.waitForSelector('.answer-now:visible');
    await page.waitForFunction(() => /Thinking .* · [2-9] tokens/.test(document.querySelector('.thought-label').textContent));
    await page.click('.answer-now');
    await idle(page);
    await page.waitForSelector('.stats');
    expect(/Thought for .* · \d+ tokens?/.test(await page.innerText('.thought-label')), await page.innerText('.thought-label'));
    const saved = page.waitForResponse('**/api/toggle-thinking');
    await page.keyboard.press('Alt+t');
    await saved;
    await page.reload();
    expect(!(await page.isChecked('#think')), 'the conversation forgot it');
    await answer_with(page, 'Shorter.');
    await say(page, 'Do not think');
    await page.waitForFunction(() => document.querySelectorAll('.stats').length === 2);
    expect(await page.locator('.message.assistant').last().locator('.thought').count() === 0, 'it thought');
  })],
  ['a stopped answer goes on where it stopped', on_page(async page => {
    await begin_long(page);
    await page.click('[aria-label="Stop"]');
    await page.waitForSelector('.ending >> text=Stopped by you');
    const kept = await text_of(page);
    // What follows is forced, too: the model might have nothing to add.
    await page.route('**/api/continue', (route, request) => route.continue({postData: `${request.postData()}&${new URLSearchParams({grammar: grammar_of(LONG)})}`}));
    await page.click('.message.assistant >> text=Continue');
    await page.waitForFunction(length => document.querySelector('.parts > .md').innerText.length > length + 20, kept.length, {timeout: 4 * patience});
    expect((await text_of(page)).startsWith(kept.trimEnd()), 'what was there is gone');
    await page.press('#message', 'Escape');
    await idle(page);
  })],
  ['code and messages are copied letter for letter', on_page(async page => {
    const markdown = `See **this**:\n\n\`\`\`python\n${CODE}\`\`\`\n\n$a^2$ 👍🏽`;
    await force(page, markdown);
    await page.waitForSelector('.message.assistant .foot button');
    const clipboard = () => page.evaluate(() => navigator.clipboard.readText());
    const copied = async text => {
      await page.waitForFunction(() => document.getElementById('announce').textContent === 'Copied.');
      expect(await clipboard() === text, JSON.stringify(await clipboard()));
      await page.evaluate(() => { document.getElementById('announce').textContent = ''; });
    };
    await page.click('.code [data-do="copy-code"]');
    await copied(CODE.trimEnd());
    await page.click('.message.assistant [data-do="copy-message"]');
    await copied(markdown);
    await page.click('.code [data-do="copy-code"]');
    await copied(CODE.trimEnd());
    await page.keyboard.press('Control+Shift+c');
    await copied(markdown);
  }, {permissions: ['clipboard-read', 'clipboard-write']})],
  ['files are chosen or dropped, counted, taken off again and sent', on_page(async page => {
    await without_thinking(page);
    await answer_with(page, 'Read.');
    await page.setInputFiles('#file', [file('one.txt', 'alpha beta gamma'), file('two.md', '# Two')]);
    await page.waitForFunction(() => document.querySelectorAll('#files .file').length === 2);
    await page.evaluate(() => {
      const data = new DataTransfer();
      data.items.add(new File(['a;b\n1;2\n'], 'three.csv', {type: 'text/csv'}));
      for (const name of ['dragover', 'drop']) {
        document.body.dispatchEvent(new DragEvent(name, {dataTransfer: data, bubbles: true, cancelable: true}));
      }
    });
    await page.waitForSelector('#files .file >> text=three.csv');
    expect((await page.locator('#files .file').allInnerTexts()).every(text => /\d+ tokens?/.test(text)), 'a count is missing');
    await page.click('#files .file summary >> text=two.md');
    await page.click('#files .file[open] [data-do="remove-file"]');
    await page.setInputFiles('#file', file('picture.png', 'PNG\0\0'));
    await page.waitForSelector('#lost >> text=only text files');
    await say(page, 'Two files');
    await page.waitForFunction(() => document.querySelectorAll('.message.user .file').length === 2);
    await idle(page);
    await page.reload();
    expect((await page.locator('.message.user .file summary').allInnerTexts()).join().match(/one\.txt.*three\.csv/s), 'a file was lost');
    await page.click('.message.user .file summary >> nth=0');
    await page.waitForSelector('.message.user >> text=alpha beta gamma');
  })],
  ['a conversation is renamed, found by parts of its words, and taken home', on_page(async page => {
    const mark = `zq${Date.now().toString(36)}`;
    await force(page, `The ${mark}word and 東京都庁 are here.`);
    await page.waitForSelector('.stats');
    await menu(page, 'Rename');
    await page.fill('.session form [name=title]', `Renamed <i> ${mark}`);
    await page.press('.session form [name=title]', 'Enter');
    await page.waitForSelector(`.session.current >> text="Renamed <i> ${mark}"`);
    await page.reload();
    await page.waitForSelector(`.session.current >> text="Renamed <i> ${mark}"`);
    expect((await page.title()).includes(`Renamed <i> ${mark}`), `the window is called ${await page.title()}`);
    for (const words of [`${mark}wo`, '京都']) {
      await page.keyboard.press('Control+k');
      await page.keyboard.type(words);
      await page.waitForSelector('.found mark');
      expect((await page.locator('.found', {hasText: mark}).count()) > 0, `${words} was not found`);
    }
    await page.locator('.found', {hasText: mark}).first().locator('a').click();
    await page.waitForFunction(word => [...document.querySelectorAll('.message.assistant')].some(message => {
      const {top, bottom} = message.getBoundingClientRect();
      return message.innerText.includes(word) && bottom > 0 && top < innerHeight;
    }), `${mark}word`);
    await page.fill('#search', '');
    await page.waitForSelector('.session.current');
    for (const [entry, ending, inside] of [['Export as Markdown', '.md', `${mark}word`], ['Export as JSON', '.json', '"format"']]) {
      const [download] = await Promise.all([page.waitForEvent('download'), menu(page, entry)]);
      expect(download.suggestedFilename().endsWith(ending), download.suggestedFilename());
      const chunks = [];
      for await (const chunk of await download.createReadStream()) chunks.push(chunk);
      expect(Buffer.concat(chunks).toString().includes(inside), `${entry} lacks the text`);
    }
  })],
  ['the dark theme follows the system, and /theme has the last word', on_page(async page => {
    const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    expect(await ground() === 'rgb(21, 24, 29)', `dark is ${await ground()}`);
    await say(page, '/theme light');
    expect(await ground() === 'rgb(233, 237, 242)', `light is ${await ground()}`);
    await page.reload();
    expect(await ground() === 'rgb(233, 237, 242)', 'the choice was forgotten');
  }, {colorScheme: 'dark'})],
  ['on a phone the conversations are a drawer, and everything can be touched', on_page(async page => {
    await force(page, `A **map**.\n\n\`\`\`python\n${'very_long_name '.repeat(20)}\n\`\`\`\n\n${'unbroken'.repeat(40)}`);
    await page.waitForSelector('.stats');
    const small = () => page.evaluate(() => [...document.querySelectorAll('button, #message, .think label, .session a, summary')]
      .map(node => [node.getAttribute('aria-label') || node.textContent.trim().slice(0, 20), node.getBoundingClientRect(), node])
      .filter(([, box, node]) => box.width && box.left >= 0 && box.right <= innerWidth && node.checkVisibility() && !node.closest('.md, .session form'))
      .filter(([, box]) => box.height < 43.5).map(([name, box]) => `${name} ${Math.round(box.height)}`));
    expect(!(await small()).length, `too low for a thumb: ${await small()}`);
    const box = await page.locator('.composer').boundingBox();
    expect(box.x >= 0 && box.x + box.width <= 360 && box.y + box.height <= 740, JSON.stringify(box));
    expect(await page.evaluate(() => document.documentElement.scrollWidth) <= 360, 'the page is wider than the phone');
    await page.tap('.show-sidebar');
    await page.waitForSelector('.session.current:visible');
    expect(!(await small()).length, `too low for a thumb: ${await small()}`);
    await page.keyboard.press('Escape');
    await page.waitForFunction(() => !document.body.classList.contains('drawer'));
  }, {viewport: {width: 360, height: 740}, isMobile: true, hasTouch: true})],
];
const only = process.env.PAGE_ONLY;
await run(checks.filter(([name]) => !only || name.includes(only)));
await web.close();
place.stop();
