// Visits every main state of the page in both themes and on a phone: a picture of each, and no serious finding of axe-core.
// Pictures: build/page/out/<state>.<look>.png. Runs against the preview (its conversations are known): PAGE_LOOKS=light to see one look.
import {join} from 'node:path';
import {audit, browser, expect, out, phase, run, say, server} from './support.mjs';

const place = await server(['--pace-ms', '20']);
const {sessions} = await (await fetch(`${place.url}/preview`)).json();
const chat = title => `${place.url}/chat/${sessions[title]}`;
const looks = {
  light: {viewport: {width: 1200, height: 800}, colorScheme: 'light'},
  dark: {viewport: {width: 1200, height: 800}, colorScheme: 'dark'},
  phone: {viewport: {width: 360, height: 740}, colorScheme: 'light', isMobile: true, hasTouch: true, deviceScaleFactor: 2},
};

// Each brings a fresh page into one state.
const states = {
  async empty(page) { await page.goto(place.url); },
  async answer(page) {
    await page.goto(chat('How a hash map works'));
    await page.waitForSelector('.katex');
    await page.waitForSelector('.hljs-keyword');
    await page.evaluate(() => { document.getElementById('scroll').scrollTop = 60; });
  },
  async end_of_answer(page) { await page.goto(chat('How a hash map works')); await page.waitForSelector('.katex'); },
  async interrupted(page) { await page.goto(chat('Stopped in the middle')); },
  async reading(page) { await page.goto(place.url); await say(page, 'A short one, please'); await phase(page, 'reading'); await page.waitForSelector('#pill-progress:visible'); },
  async thinking(page) {
    await page.goto(place.url);
    await say(page, 'Explain how a hash map works, with a small example.');
    await phase(page, 'thinking');
    await page.waitForFunction(() => document.querySelector('.thought-last')?.textContent.length > 30);
  },
  async writing(page) {
    await page.goto(place.url);
    await say(page, 'Explain how a hash map works, with a small example.');
    await page.waitForSelector('.answer-now:visible');
    await page.click('.answer-now');
    await page.waitForSelector('.code');
  },
  async paused(page) { await states.writing(page); await page.click('[aria-label="Pause"]'); await phase(page, 'paused'); },
  async tool_asks(page) {
    await page.goto(place.url);
    await page.click('.think label');
    await say(page, 'Use the tool, please, and tell me the result.');
    await page.waitForSelector('.tool .primary');
  },
  async failed(page) {
    await page.goto(place.url);
    await page.click('.think label');
    await say(page, 'This will fail.');
    await page.waitForSelector('.notice.bad:visible');
  },
  async tool_done(page) {
    await states.tool_asks(page);
    await page.click('.tool .primary');
    await page.waitForSelector('.stats');
    await page.click('.tool summary');
  },
  async stopped(page) {
    await states.writing(page);
    await page.click('[aria-label="Stop"]');
    await page.waitForSelector('.ending >> text=Stopped by you');
  },
  async lost(page) {
    const connected = page.waitForResponse('**/api/stream/*');
    await page.goto(chat('Trip to Lisbon'));
    await connected;
    await page.waitForFunction(() => document.body.dataset.phase === 'idle');
    await page.route('**/api/**', route => route.abort());
    await say(page, 'Is somebody there?');
    await page.waitForSelector('#lost:visible');
  },
  async palette(page) { await page.goto(place.url); await page.fill('#message', '/'); await page.waitForSelector('#palette:visible'); },
  async palette_filtered(page) { await page.goto(place.url); await page.fill('#message', '/s'); await page.waitForSelector('#palette:visible'); },
  async help(page) { await page.goto(place.url); await page.fill('#message', '/help'); await page.press('#message', 'Enter'); await page.waitForSelector('#help[open]'); },
  async settings(page) { await page.goto(chat('Trip to Lisbon')); await page.click('[aria-label="Settings"]'); await page.waitForSelector('#dialog[open]'); },
  async settings_next(page) {  // of a conversation that is not there yet
    await page.goto(place.url);
    await page.click('[aria-label="Settings"]');
    await page.waitForSelector('#dialog[open] >> text=the next conversation');
  },
  async settings_saved(page) {
    await states.settings(page);
    await page.check('#set-tools');
    await page.click('.settings [type=submit]');
    await page.waitForSelector('.settings >> text=Saved.');
    await page.locator('#set-tools').scrollIntoViewIfNeeded();
  },
  async settings_wrong(page) {
    await states.settings(page);
    await page.evaluate(() => { document.querySelector('.settings').noValidate = true; });
    await page.fill('#set-temperature', '9');
    await page.click('.settings [type=submit]');
    await page.waitForSelector('.error');
  },
  async edit(page) {
    await page.goto(chat('Trip to Lisbon'));
    await page.hover('.message.user');
    await page.click('[data-edit]');
    await page.waitForSelector('.edit-text');
  },
  async search(page) {
    await page.goto(place.url);
    if (page.viewportSize().width < 768) await page.click('.show-sidebar');
    await page.fill('#search', 'keys');
    await page.waitForSelector('.found');
  },
  async nothing_found(page) {
    await page.goto(place.url);
    if (page.viewportSize().width < 768) await page.click('.show-sidebar');
    await page.fill('#search', 'zebra');
    await page.waitForFunction(() => document.getElementById('session-list').textContent.includes('zebra'));
  },
  async session_menu(page) {
    await page.goto(chat('Trip to Lisbon'));
    if (page.viewportSize().width < 768) await page.click('.show-sidebar');
    await page.click('.session.current > .icon-button');
    await page.waitForSelector('.menu:popover-open');
  },
  async rename(page) {
    await states.session_menu(page);
    await page.click('.menu:popover-open >> text=Rename');
    await page.waitForSelector('.session form [name=title]');
  },
  async undo(page) {
    await page.goto(place.url);
    await say(page, 'A short one, please');  // a conversation of its own: the others are looked at again
    await page.waitForURL(/chat/);
    await page.waitForSelector('.message.assistant .foot button');  // what takes the list's place has come
    if (page.viewportSize().width < 768) await page.click('.show-sidebar');
    await page.click('.session.current > .icon-button');
    await page.click('.menu:popover-open .bad');
    await page.waitForSelector('.toast');
    await page.waitForTimeout(150);
  },
  async attachments(page) {
    await page.goto(place.url);
    await page.setInputFiles('#file', {name: 'measurements.csv', mimeType: 'text/csv', buffer: Buffer.from('day,kWh\n1,3.4\n2,2.9\n')});
    await page.waitForSelector('#files .file');
  },
  async queued(page) { await states.writing(page); await say(page, 'And then: what about deletion?'); await page.waitForSelector('#queued:visible'); },
  async queued_files(page) {
    await states.writing(page);
    await page.setInputFiles('#file', {name: 'measurements.csv', mimeType: 'text/csv', buffer: Buffer.from('day,kWh\n1,3.4\n2,2.9\n')});
    await page.waitForSelector('#files .file');
    await say(page, 'And what do these numbers say? '.repeat(12));
    await page.waitForSelector('#queued:visible');
  },
  async imported(page) {
    await page.goto(place.url);
    const session = {title: 'From elsewhere', messages: []};
    await page.setInputFiles('#import', {name: 'chats.json', mimeType: 'application/json', buffer: Buffer.from(JSON.stringify({format: 'smolbot', version: 1, sessions: [session]}))});
    await page.waitForSelector('#notices .notice, .toast');
    if (page.viewportSize().width < 768) await page.click('.show-sidebar');
  },
  async notice(page) { await page.goto(chat('Trip to Lisbon')); await page.fill('#message', '/temp 9'); await page.press('#message', 'Enter'); await page.waitForSelector('#notices .notice'); },
  async model(page) { await page.goto(place.url); await page.click('#model-button'); await page.waitForSelector('#model-card:popover-open'); },
  async status(page) { await page.goto(`${place.url}/status`); },
  async login(page) { await page.goto(`${place.url}/login?failed=1`); },
  async not_found(page) { await page.goto(`${place.url}/chat/none`); },
};

const web = await browser(place.url);
const only = (process.env.PAGE_LOOKS || Object.keys(looks).join()).split(',');
const wanted = process.env.PAGE_STATES?.split(',') || Object.keys(states);
const checks = only.flatMap(look => wanted.map(name => [`${name} (${look})`, async () => {
  const page = await web.open(looks[look]);
  web.faults.length = 0;
  try {
    await states[name](page);
    await page.screenshot({path: join(out, `${name}.${look}.png`)});
    const findings = await audit(page, name);
    findings.filter(finding => !finding.serious).forEach(finding => console.log(`     ${finding.text}`));
    const serious = findings.filter(finding => finding.serious).map(finding => finding.text);
    const allowed = ['not_found', 'settings_wrong', 'notice'].includes(name) ? /status of 4\d\d/ : name === 'lost' ? /Failed to (load|fetch)/ : /^$/;  // the browser logs each
    const faults = web.faults.filter(fault => !allowed.test(fault));
    expect(!serious.length && !faults.length, [...serious, ...faults].join(' || '));
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(wide <= 0, `the page is ${wide} px wider than its window`);
  } finally {
    await page.context().close();
  }
}]));
await run(checks);
await web.close();
place.stop();
