// The page's keys, lists and small controls, one by one, and their sizes on a phone. PAGE_URL names a real server with `--pace`; else the
// preview answers.
import {browser, expect, force, patience, phase, run, say, server} from './support.mjs';

const place = await server(['--pace-ms', process.env.PAGE_PACE_MS || '40']);
const web = await browser(place.url);
const PHONE = {viewport: {width: 360, height: 740}, isMobile: true, hasTouch: true};
const idle = page => phase(page, 'idle', 4 * patience);
const without_thinking = async page => { if (await page.isChecked('#think')) await page.click('.think label'); };
const focused = page => page.evaluate(() => document.activeElement.id);
const gauge = async page => Number((await page.textContent('#gauge-text')).split(' / ')[0].replaceAll(',', ''));
const open_menu = async page => {
  await page.hover('.session.current');
  await page.click('.session.current > .icon-button');
  await page.waitForSelector('.menu:popover-open');
};
// A conversation of its own, named by its first message.
const begin = async (page, title, answer = 'Noted.') => {
  await without_thinking(page);
  await say(page, title);
  await page.waitForURL(/\/chat\/\w+/);
  await page.waitForSelector('.message.assistant');
  await page.click('[aria-label="Stop"]').catch(() => {});  // it may have ended
  await idle(page);
  await page.waitForSelector('.message.assistant .foot button');
  if (answer !== 'Noted.') await force(page, answer);
};

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

// Controls that can be seen and are lower or narrower than a thumb needs; links in running text are no controls.
const too_small = page => page.evaluate(() => {
  const controls = 'button, a[href], input, textarea, select, summary, label, [role="option"], .gauge';
  return [...document.querySelectorAll(controls)].flatMap(node => {
    const {width, height, right, left} = node.getBoundingClientRect(), shown = node.checkVisibility({visibilityProperty: true, opacityProperty: true});
    const used = !node.closest('.sr-only, .md, .skip, .backdrop') && !(node.matches('input') && node.closest('label, .think, .switch'));
    const alone = !node.matches('label') || node.matches('.text-button, .gauge, .search, .think label');
    if (!shown || !used || !alone || !width || right < 0 || left > innerWidth || (width >= 44 && height >= 44)) return [];
    return `${node.tagName.toLowerCase()}${node.id && `#${node.id}`}.${[...node.classList].join('.')} ${Math.round(width)}x${Math.round(height)}`;
  });
});

const checks = [
  ['Ctrl+K searches, Ctrl+B hides the list and remembers it, Ctrl+Shift+O begins anew', on_page(async page => {
    await begin(page, 'Keys of the page');
    await page.keyboard.press('Control+b');
    await page.waitForSelector('#sidebar', {state: 'hidden'});
    await page.reload();
    expect(!(await page.isVisible('#sidebar')), 'the hidden list came back');
    await page.keyboard.press('Control+k');
    await page.waitForSelector('#sidebar');
    expect(await focused(page) === 'search', 'the search has no focus');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+b');
    await page.keyboard.press('Control+b');
    await page.waitForSelector('#sidebar');
    await page.keyboard.press('Control+Shift+O');
    await page.waitForURL(`${place.url}/`);
    await page.waitForSelector('#empty');
  })],
  ['Ctrl+Shift+C copies the last answer, Alt+T switches thinking, ? shows the keys', on_page(async page => {
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await begin(page, 'To be copied', 'It is **this** text.');
    await page.keyboard.press('Control+Shift+C');
    await page.waitForFunction(() => document.getElementById('announce').textContent === 'Copied.');
    expect((await page.evaluate(() => navigator.clipboard.readText())).trim() === 'It is **this** text.', 'something else was copied');
    const before = await page.isChecked('#think');
    await page.focus('#message');
    await page.keyboard.press('Alt+t');
    expect(await page.isChecked('#think') !== before, 'thinking was not switched');
    await page.keyboard.type('?');
    expect(await page.inputValue('#message') === '?' && !(await page.isVisible('#help')), 'a ? in the input is a command');
    await page.fill('#message', '');
    await page.focus('#scroll');
    await page.keyboard.press('?');
    await page.waitForSelector('#help[open] >> text=Ctrl+Shift+C');
    expect(!(await page.innerText('#help')).includes('/no_think'), 'an alias is in the list');
  })],
  ['/no_think and /think switch thinking, and what stands behind them is sent', on_page(async page => {
    await page.fill('#message', '/no');
    expect(!(await page.isVisible('#palette')), 'an alias is offered');
    await say(page, '/no_think');
    expect(!(await page.isChecked('#think')) && await page.inputValue('#message') === '', '/no_think did nothing');
    await say(page, '/think');
    expect(await page.isChecked('#think'), '/think did nothing');
    await say(page, '/think');
    expect(await page.isChecked('#think'), '/think switched it off');
    await say(page, '/no_think What is a map?');
    await page.waitForSelector('.message.user >> text="What is a map?"');
    expect(!(await page.isChecked('#think')), 'it thinks');
    await phase(page, ['reading', 'writing', 'idle']);
    await page.keyboard.press('Escape');
    await idle(page);
    expect(await page.locator('.thought').count() === 0, 'it thought');
  })],
  ['a send that failed can be tried again with one button', on_page(async page => {
    await without_thinking(page);
    await page.route('**/api/chat', route => route.abort());
    await say(page, 'Once more, please');
    await page.waitForSelector('#lost:visible');
    await page.unroute('**/api/chat');
    await page.click('#lost [data-do="retry"]');
    await page.waitForSelector('.message.user >> text=Once more, please');
    expect(await page.inputValue('#message') === '', 'the text is still in the input');
    await page.waitForSelector('#lost', {state: 'hidden'});
    await page.keyboard.press('Escape');
    await idle(page);
    web.faults.length = 0;  // the browser logs the refused request
  })],
  ['a conversation is pinned and let go', on_page(async page => {
    await begin(page, 'To be pinned');
    await open_menu(page);
    await page.click('.menu:popover-open >> text=Pin');
    await page.waitForSelector('.session.current > a .icon');
    expect((await page.locator('.group').first().innerText()) === 'Pinned', 'no group of pinned ones');
    await open_menu(page);
    await page.click('.menu:popover-open >> text=Unpin');
    await page.waitForSelector('.session.current > a .icon', {state: 'detached'});
  })],
  ['a conversation goes to the archive and comes back, and the archive has a way out', on_page(async page => {
    await begin(page, 'To be archived');
    await open_menu(page);
    await page.click('.menu:popover-open >> text=Archive');
    await page.waitForSelector('#session-list >> text=Archive (1)');
    expect(await page.locator('.session >> text=To be archived').count() === 0, 'it is still in the list');
    await page.click('#session-list >> text=Archive (1)');
    await page.waitForSelector('.group >> text=Archive');
    await page.click('#session-list >> text=Back');
    await page.click('#session-list >> text=Archive (1)');
    await page.waitForSelector('.session >> text=To be archived');
    await open_menu(page);
    await page.click('.menu:popover-open >> text=Take out of the archive');
    await page.waitForSelector('#session-list >> text=Today');
    await page.waitForSelector('.session.current >> text=To be archived');
  })],
  ['Escape gives up a rename and an edit, and leaves a running answer alone', on_page(async page => {
    await begin(page, 'To be renamed');
    await open_menu(page);
    await page.click('.menu:popover-open >> text=Rename');
    await page.fill('.session [name=title]', 'Another title');
    await page.keyboard.press('Escape');
    await page.waitForSelector('.session [name=title]', {state: 'detached'});
    await page.waitForSelector('.session.current >> text=To be renamed');
    await page.focus('#message');
    await page.keyboard.press('ArrowUp');
    await page.waitForSelector('.edit-text:focus');
    await page.keyboard.press('Escape');
    await page.waitForSelector('.edit-text', {state: 'detached'});
    await page.waitForSelector('.message.user >> text=To be renamed');
    await say(page, 'Explain how a hash map works, with a small example.');
    await phase(page, ['reading', 'writing']);
    await open_menu(page);
    await page.click('.menu:popover-open >> text=Rename');
    await page.waitForSelector('.session [name=title]');
    await page.focus('.session [name=title]');
    await page.keyboard.press('Escape');
    await page.waitForSelector('.session [name=title]', {state: 'detached'});
    expect(await page.locator('.ending').count() < 2, 'the answer was stopped');
    await page.focus('#message');
    await page.keyboard.press('Escape');
    await idle(page);
  })],
  ['deleting the open conversation leaves a page that works, and undo goes back to it', on_page(async page => {
    await begin(page, 'To be thrown away');
    const address = page.url();
    await open_menu(page);
    await page.click('.menu:popover-open .bad');
    await page.waitForURL(`${place.url}/`);
    await page.waitForSelector('#empty .starters');
    expect(await page.locator('.message').count() === 0, 'its messages are still there');
    expect(await page.innerText('#chat-title') === '' && await page.title() === 'smolbot', 'its title is still there');
    expect(await gauge(page) === 0, 'the gauge still counts it');
    await page.waitForTimeout(1500);  // a stream that was lost would be noticed by then
    expect(!(await page.isVisible('#lost')), await page.innerText('#lost'));
    await page.click('.toast .text-button');
    await page.waitForURL(address);
    await page.waitForSelector('.message.user >> text=To be thrown away');
    await open_menu(page);
    await page.click('.menu:popover-open .bad');
    await page.waitForSelector('#empty');
    await begin(page, 'A new one at once');
    expect(page.url() !== address, 'it went to the deleted one');
  })],
  ['a conversation that is deleted while it is answered stops its answer', on_page(async page => {
    await without_thinking(page);
    await say(page, 'Explain how a hash map works, with a small example.');
    await phase(page, ['reading', 'writing']);
    await page.waitForURL(/\/chat\/\w+/);
    await page.waitForSelector('.session.current');
    await open_menu(page);
    await page.click('.menu:popover-open .bad');
    await page.waitForSelector('#empty');
    await idle(page);
    expect(!(await page.isVisible('#pill')), 'the pill still tells of it');
    await page.waitForTimeout(1500);
    expect(!(await page.isVisible('#lost')), await page.innerText('#lost'));
  })],
  ['a search leads to its message, on another branch, too', on_page(async page => {
    await begin(page, 'Where is the walrus?', 'The walrus is in the first version.');
    for (let n = 0; n < 3; n++) await force(page, `${'Something else. '.repeat(60)}${n}`);
    await page.fill('#search', 'walrus is in');
    await page.click('.found a');
    await page.waitForURL(address => !address.search && !address.hash);  // a reload shows the newest ones again
    const found = page.locator('.message.assistant >> text=The walrus is in the first version.');
    await found.waitFor();
    expect(await found.evaluate(node => { const {top, bottom} = node.getBoundingClientRect(); return top > 0 && bottom < innerHeight; }), 'it is not in view');
  })],
  ['the gauge follows what the model forgets', on_page(async page => {
    await begin(page, 'Count me', 'One two three.');
    await page.waitForFunction(() => !document.getElementById('gauge-text').textContent.startsWith('0 '));
    const used = await gauge(page);
    await say(page, '/reset');
    await page.waitForSelector('#notices >> text=forgotten');
    await page.waitForFunction(() => document.getElementById('gauge-text').textContent.startsWith('0 '));
    await page.reload();
    expect(await gauge(page) < used, 'a reload says something else');
  })],
  ['an answer tells tokens, time and speed; the foot of the list tells the model', on_page(async page => {
    await begin(page, 'Figures', 'One two three.');
    const stats = await page.locator('.stats').last().innerText();
    expect(/^[\d,]+ tokens? · [\d.]+ s · [\d.]+ tok\/s$/.test(stats), stats);
    await page.waitForSelector('#offline:visible');
    expect(/^(demo model|SmolLM3-3B) · offline ready$/.test(await page.innerText('.where')), await page.innerText('.where'));
  }, {serviceWorkers: 'allow'})],
  ['on a phone every control is at least 44 px, and the price of a think switch is told', on_page(async page => {
    const small = [];
    const look = async where => { small.push(...(await too_small(page)).map(finding => `${where}: ${finding}`)); };
    await look('empty');
    await begin(page, 'A phone', 'With `code`.');
    await page.setInputFiles('#file', {name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('one two')});
    await page.waitForSelector('#files .file');
    await look('conversation');
    await page.fill('#message', '/');
    await look('palette');
    await page.fill('#message', '');
    await page.tap('.think label');
    await page.waitForSelector('#think-price:visible >> text=recomputes');
    const [price, tools] = await Promise.all(['#think-price', '#send'].map(place => page.locator(place).boundingBox()));
    expect(price.y >= tools.y + tools.height && price.x + price.width <= 360, 'the price has no line of its own');
    await page.click('.message.user [data-edit]');
    await page.waitForSelector('.edit-text');
    await look('edit');
    await page.click('.show-sidebar');
    await page.fill('#search', 'phone');
    await page.waitForSelector('.found');
    await look('search');
    await page.fill('#search', '');
    await page.waitForSelector('.session.current');
    await page.click('.session.current > .icon-button');
    await page.waitForSelector('.menu:popover-open');
    await look('menu');
    await page.click('.menu:popover-open >> text=Rename');
    await page.waitForSelector('.session [name=title]');
    await look('rename');
    await page.keyboard.press('Escape');
    await page.waitForSelector('.session [name=title]', {state: 'detached'});
    await page.keyboard.press('Escape');
    await page.click('header [aria-label="Settings"]');
    await page.waitForSelector('#dialog[open] .settings');
    await look('settings');
    await page.goto(`${place.url}/status`);
    await look('status');
    await page.goto(`${place.url}/login`);
    await look('login');
    expect(!small.length, [...new Set(small)].slice(0, 12).join(', '));
  }, PHONE)],
];
const only = process.env.PAGE_ONLY;
await run(checks.filter(([name]) => !only || name.includes(only)));
await web.close();
place.stop();
