// Answers of PAGE_TOKENS tokens (default 3,500) stream without slowing the page, whatever they consist of. PAGE_URL names a server that
// obeys `grammar`, whose context holds them, with a `--pace` that makes them last: a few seconds a third. Measured in the page, from the
// event of a delta to the frame that shows it. Limits in milliseconds are for a quiet machine; they grow with PAGE_TIMEOUT_MS.
import {browser, expect, grammar_with_words, patience, quiet, run, say, send_with} from './support.mjs';

const TOKENS = Number(process.env.PAGE_TOKENS || 3500);
const url = process.env.PAGE_URL;
const web = await browser(url);

// Numbered, so that what the page shows tells how much of the text that is. For each ~ the model chooses one of WORDS, so that the text
// comes in pieces of a few words: what is forced comes many tokens at a time. Longer texts with choices are more than a grammar may hold.
const WORDS = [' map', ' set', ' small', ' with'], CHOICE = TOKENS > 4000 ? '' : '~';
const without_words = text => text.replace(/~| (?:map|set|small|with)/g, '');
class Numbers {
  constructor() { this.count = 0; }
  next() { return `w${String(this.count++).padStart(4, '0')}`; }
  some(n) { return Array.from({length: n}, () => `${this.next()}${CHOICE} of the table`).join(', '); }
}
const long_text = make => {  // its end is never reached
  const numbers = new Numbers();
  let text = '';
  while (text.length < TOKENS * 4) text += make(numbers);
  return text;
};
const PARTS = long_text(numbers => `## Part ${numbers.next()}\n\n${numbers.some(8)}, **all ${numbers.some(1)}** and \`code\`.\n\n` +
  `- ${numbers.some(3)}\n- ${numbers.some(2)}\n  1. ${numbers.some(2)}\n  2. ${numbers.some(1)}\n\n` +
  `\`\`\`python\ndef ${numbers.next()}(keys):\n    for key in keys:\n        print(key, "${numbers.some(2)}")\n\`\`\`\n\n` +
  `| ${numbers.next()} | b |\n|---|---|\n${Array.from({length: 5}, (_, n) => `| ${numbers.some(1)} | ${n} |\n`).join('')}\n` +
  `With $a_n = \\frac{1}{n^2}$ ${numbers.some(4)}:\n\n$$\n\\sum_{n=1}^{\\infty} a_n = \\frac{\\pi^2}{6}\n$$\n\n> ${numbers.some(4)}\n\n`);
const CODE = `\`\`\`python\n${long_text(numbers => `    print("${numbers.some(2)}")  # ${numbers.next()}\n`)}`;
const LIST = long_text(numbers => `- ${numbers.some(3)}, **all ${numbers.some(1)}** and \`code\`\n`);

// Watches the answer that is about to come: deltas as the page's script hears them, changes of the page and the frames that show them.
const watch = page => page.evaluate(() => {
  const w = window.watched = {deltas: [], updates: [], replaced: 0, touches: new Map(), open_most: 0, codes: new Set(), inputs: [], tasks: [],
    text: '', done: [], ended: 0};
  const last_number = text => Number(text.slice(-400).match(/w\d{4}/g)?.pop().slice(1) ?? -1);
  const hear = (name, heard) => addEventListener(name, event => heard(JSON.parse(event.detail.data)), true);
  hear('snapshot', ({turn, parts}) => { if (turn) w.text = parts.at(-1)?.text || ''; });
  hear('delta', ({text}) => { w.text += text; w.deltas.push({at: performance.now(), number: last_number(w.text)}); });
  hear('done', () => { w.ended = performance.now(); });
  const look = (md, tail, records) => {
    const nodes = [...md.childNodes].filter(node => node !== tail), code = tail.querySelector('pre > code')?.firstChild;
    const touched = new Set(records.map(({target}) => w.done.find(node => node.contains(target))).filter(Boolean));
    touched.forEach(node => w.touches.set(node, (w.touches.get(node) || 0) + 1));
    w.replaced += w.done.filter((node, at) => node !== nodes[at]).length;
    w.done = nodes;
    w.open_most = Math.max(w.open_most, tail.textContent.length);
    if (code?.length > 100) w.codes.add(code);
    return last_number([...nodes.slice(-2), tail].map(node => node.textContent).join(' '));  // an open formula has none
  };
  let frame = null;  // all changes before a frame are one update
  new MutationObserver(records => {
    const md = document.querySelector('.message.assistant .parts > .md'), tail = md?.querySelector(':scope > .tail');
    if (!tail || w.ended) return;
    if (!frame) {
      w.updates.push(frame = {at: performance.now(), painted: Infinity});
      requestAnimationFrame(() => setTimeout(() => { frame.painted = performance.now(); frame = null; }));
    }
    frame.number = look(md, tail, records);
  }).observe(document.body, {childList: true, subtree: true, characterData: true});
  const times = into => list => into.push(...list.getEntries().map(({startTime, duration}) => ({at: startTime, ms: duration})));
  new PerformanceObserver(times(w.inputs)).observe({type: 'event', durationThreshold: 16});
  new PerformanceObserver(times(w.tasks)).observe({type: 'longtask'});
});

// Types into the input until the answer has ended; says how long the page's main thread had worked at each stroke.
async function type_on(page) {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Performance.enable');
  const samples = [];
  for (let n = 0, state = {}; !state.ended; n++) {
    await page.keyboard.press('abc defg '[n % 9]);
    const {metrics} = await devtools.send('Performance.getMetrics');
    state = await page.evaluate(() => ({ended: watched.ended, at: performance.now()}));
    samples.push({at: state.at, worked: metrics.find(({name}) => name === 'TaskDuration').value * 1000});
    await page.waitForTimeout(100);
  }
  return samples;
}

async function stream(page, text) {
  await page.goto(url);
  if (await page.locator('#think:checked:enabled').count()) await page.click('.think label');
  await send_with(page, {grammar: grammar_with_words(text, WORDS), max_tokens: TOKENS, temperature: 0});
  await watch(page);
  await say(page, 'Say it.');
  await page.waitForFunction(() => watched.deltas.length || document.querySelector('.message .notice'), null, {timeout: 8 * patience});
  expect(!(await page.locator('.message .notice').count()), await page.locator('.message').last().innerText());
  const samples = await type_on(page);
  await page.waitForSelector('.stats');
  const seen = await page.evaluate(() => ({...watched, touches: Math.max(0, ...watched.touches.values()), codes: watched.codes.size, done: watched.done.length,
    numbers: document.querySelector('.message.assistant .parts > .md').textContent.match(/w\d{4}/g)}));
  return {...seen, samples, tokens: Number((await page.innerText('.stats')).match(/[\d,]+/)[0].replace(',', ''))};
}

const at_share = (values, share) => [...values].sort((a, b) => a - b)[Math.floor((values.length - 1) * share)] ?? 0;
const sum = values => values.reduce((total, value) => total + value, 0);

// What the limits are about. Of each third of the time: the main thread's share of work, milliseconds in long tasks, the slowest strokes but 5 %.
function figures({deltas, updates, ended, inputs, tasks, samples}) {
  const begin = deltas[0].at, length = (ended - begin) / 3;
  const thirds = (events, value) => [0, 1, 2].map(n => value(events.filter(({at}) => at >= begin + n * length && at < begin + (n + 1) * length)));
  let next = 0;
  const delays = deltas.filter(({number}, at) => number > (deltas[at - 1]?.number ?? -1)).map(({at, number}) => {
    while (next < updates.length && (updates[next].number < number || updates[next].at < at)) next++;
    return next < updates.length ? updates[next].painted - at : 0;  // the answer's end shows the last ones
  });
  return {
    seconds: length * 3 / 1000, delay: at_share(delays, 0.99), median: at_share(delays, 0.5), rate: (updates.length - 1) / (updates.at(-1).at - updates[0].at) * 1000,
    in_a_second: Math.max(...updates.map(({at}, first) => updates.slice(first).filter(later => later.at < at + 1000).length)),
    work: thirds(samples, part => (part.at(-1).worked - part[0].worked) / (part.at(-1).at - part[0].at)),
    long: thirds(tasks, part => sum(part.map(({ms}) => ms))), strokes: thirds(inputs, part => at_share(part.map(({ms}) => ms), 0.95)), length,
  };
}

function judge(text, seen) {
  const {seconds, delay, median, rate, in_a_second, work, long, strokes, length} = figures(seen);
  const percent = shares => shares.map(share => Math.round(share * 100)).join(', ');
  console.log(`     ${seen.deltas.length} deltas in ${seconds.toFixed(1)} s, ${rate.toFixed(1)} updates a second, at most ${in_a_second}; shown after ` +
    `${Math.round(median)} ms, p99 ${Math.round(delay)} ms; thirds: work ${percent(work)} %, long tasks ${long.map(Math.round)} ms, strokes ${strokes} ms`);
  expect(seen.tokens >= TOKENS, `only ${seen.tokens} tokens came`);
  expect(without_words(text).startsWith(without_words(seen.text)), 'another text came');
  expect(String(seen.numbers) === String(seen.text.match(/w\d{4}/g)), 'the page shows another text than came');
  expect(rate <= 10 && in_a_second <= 11, `${rate} updates a second, at most ${in_a_second}`);
  expect(delay <= quiet(200), `a delta was shown after ${delay} ms`);
  expect(seen.replaced === 0 && seen.touches <= 1, `finished blocks: ${seen.replaced} replaced, ${seen.touches} changes`);  // one, where KaTeX comes
  expect(work[2] <= 2 * work[0] + 0.1, `the page works more and more: ${percent(work)} %`);
  expect(long[2] <= Math.max(3 * long[0], quiet(length / 5)), `long tasks: ${long} ms of ${length} ms each`);
  expect(strokes[2] <= Math.max(2 * strokes[0], quiet(50)), `keys are shown later and later: ${strokes} ms`);
}

const on_page = (text, also) => async () => {
  web.faults.length = 0;
  const page = await web.open();
  try {
    const seen = await stream(page, text);
    judge(text, seen);
    also(seen);
    expect(!web.faults.length, web.faults.slice(0, 3).join(' || '));
  } finally {
    await page.context().close();
  }
};
const checks = [
  ['all kinds of blocks', on_page(PARTS, ({done, open_most}) => {
    expect(done > 40, `only ${done} blocks were finished`);
    expect(open_most < 800, `${open_most} letters were rendered again`);  // more than a block, less than two of the largest
  })],
  ['one block of code', on_page(CODE, ({codes}) => expect(codes === 1, `the open code was made ${codes} times`))],
  ['one list', on_page(LIST, ({done}) => expect(done === 0, 'the list fell apart'))],
].map(([name, check]) => [`${name}: ${TOKENS} tokens stream without slowing the page`, check]);
const only = process.env.PAGE_ONLY;
await run(checks.filter(([name]) => !only || name.includes(only)));
await web.close();
