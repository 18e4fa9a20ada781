// What HTMX cannot do on the chat page: markdown that grows, the events of the stream, the palette, keys, scrolling, attachments,
// copying, tabs. It renders no page structure: what it needs stands in the page's <template>s. Contract: docs/page.md.
'use strict';
(() => {
  const el = id => document.getElementById(id);
  const find = (selector, root = document) => root.querySelector(selector);
  const each = (selector, root, visit) => root.querySelectorAll(selector).forEach(visit);
  const {body} = document;
  const clone = name => el(`t-${name}`).content.firstElementChild.cloneNode(true);
  const count = n => Math.round(n).toLocaleString('en-US');
  const plural = n => `${count(n)} ${n === 1 ? 'token' : 'tokens'}`;
  const time = ms => ms < 950 ? `${(ms / 1000).toFixed(1)} s` : ms < 99500 ? `${Math.round(ms / 1000)} s`
    : `${Math.floor(ms / 60000)} min ${Math.round(ms % 60000 / 1000)} s`;
  const memory = {  // the browser may forbid storage: the page works without
    get(key) { try { return localStorage.getItem(key) || ''; } catch { return ''; } },
    set(key, value) { try { value ? localStorage.setItem(key, value) : localStorage.removeItem(key); } catch { /* nothing kept */ } },
  };
  const cookie = pair => { document.cookie = `${pair};path=/;max-age=31536000;samesite=strict`; };
  const session = () => el('session-id')?.value || '';
  const worker = navigator.serviceWorker?.ready;  // only where the context is secure
  const keep = path => worker?.then(({active}) => active.postMessage(path));  // it forgets what was deleted, too
  const busy = () => body.dataset.phase !== 'idle', unfinished = () => find('.message[data-state="running"]');

  // ---- Markdown: raw HTML is text, links are http(s) or mailto, no images, ids, data attributes or form controls ----
  const MOST = {block: 60000, paragraph: 20000, highlight: 30000, math: 2000, emphasis: 300, slow_ms: 40};
  const SAFE = {
    ALLOWED_TAGS: ('p br hr h3 h4 h5 h6 em strong del b i u s mark sub sup kbd code pre blockquote ul ol li table thead tbody tr th td ' +
      'a span div').split(' '),
    ALLOWED_ATTR: ['href', 'title', 'class', 'align', 'start'], ADD_URI_SAFE_ATTR: ['align', 'start'],
    ALLOWED_URI_REGEXP: /^(?:https?:\/\/|mailto:)/i, ALLOW_DATA_ATTR: false, ALLOW_ARIA_ATTR: false, RETURN_DOM_FRAGMENT: true,
  };
  const escape = text => text.replace(/[&<>"']/g, c => `&#${c.charCodeAt(0)};`);
  const plain = text => `<div class="plain">${escape(text)}</div>`;
  const math_token = (name, level, hint, rules) => ({
    name, level, start: source => source.match(hint)?.index,
    tokenizer(source) {
      const [rule, kind] = rules.find(([candidate]) => candidate.test(source)) || [];
      if (rule) return {type: name, raw: rule.exec(source)[0], tex: rule.exec(source)[1], kind};
    },
    renderer: ({tex, kind}) => tex.length > MOST.math ? escape(tex) : `<span class="math ${kind}">${escape(tex)}</span>`,
  });
  let counted = {};
  const emphasis_runs = text => {  // asked for each run of one paragraph
    if (counted.text !== text) counted = {text, runs: text.match(/[*_]+/g)?.length || 0};
    return counted.runs;
  };
  const md = new marked.Marked({
    gfm: true,
    extensions: [
      math_token('math_block', 'block', /^(?:\$\$|\\\[)/m, [
        [/^\$\$([^$]{1,3000}?)\$\$ *(?:\n|$)/, 'block'],
        [/^\\\[([^]{1,3000}?)\\\] *(?:\n|$)/, 'block']]),
      math_token('math', 'inline', /\$|\\[([]/, [
        [/^\$\$([^$]{1,3000}?)\$\$/, 'block'],
        [/^\$(?![\s$])((?:\\[^\n]|[^\\$\n]){0,2000}?[^\s\\$])\$(?!\d)/, 'inline'],
        [/^\\\(([^]{1,2000}?)\\\)/, 'inline'], [/^\\\[([^]{1,2000}?)\\\]/, 'block']]),
    ],
    // Where emphasis marks pile up, finding their partners takes quadratic time: they stay text.
    tokenizer: {emStrong: (source, masked) => emphasis_runs(masked) > MOST.emphasis ? undefined : false},
    renderer: {
      html: ({text}) => /^<\/?(?:br|sub|sup|kbd|mark|b|i|u|s|em|strong)\s*\/?>$/i.test(text.trim()) ? text : escape(text),
      image: ({href, text}) => `<a href="${escape(href)}">${escape(text || href)}</a>`,
      code: ({text, lang}) => `<pre><code class="language-${escape((lang || '').match(/^[\w+#-]*/)[0])}">${escape(text)}</code></pre>`,
      checkbox: ({checked}) => checked ? '☑ ' : '☐ ',
      heading({tokens, depth}) {  // below the heading of the turn
        const tag = `h${Math.min(Math.max(depth + 1, 3), 6)}`;
        return `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`;
      },
    },
  });
  const lexer_with = links => Object.assign(new marked.Lexer({...md.defaults}), {tokens: Object.assign([], {links})});
  // Nesting this deep is no text for a reader, and would exhaust the parser's stack.
  const TOO_DEEP = /^(?:[ \t]{0,8}(?:>|[-*+]|\d{1,9}[.)])){25}|^[ \t]{120,}(?:[-*+>]|\d{1,9}[.)])/m;
  const block_html = (block, links) => {
    if (block.type === 'space' || block.type === 'def') return '';
    const most = block.type === 'paragraph' || block.type === 'html' ? MOST.paragraph : MOST.block;
    if (block.type === 'code') return md.parser([block]);
    if (block.type === 'plain' || block.raw.length > most) return plain(block.raw);
    try { return md.parser(lexer_with(links).lex(block.raw)); } catch { return plain(block.raw); }
  };
  const blocks_of = (text, links) => {
    const deep = text.search(TOO_DEEP), end = deep < 0 ? 0 : text.indexOf('\n\n', deep) + 2;
    if (end === 1) return [{type: 'plain', raw: text}];
    if (end) return [{type: 'plain', raw: text.slice(0, end)}, ...blocks_of(text.slice(end), links)];
    try { return lexer_with(links).blockTokens(text, []); } catch { return [{type: 'plain', raw: text}]; }
  };
  const loads = {}, late = [];  // what waits for a library, null once it is here; what the next draw() shows of those that came
  const library = (name, use) => {  // fetched when first needed
    if (loads[name] !== undefined) return loads[name] ? loads[name].push(use) : use();
    loads[name] = [use];
    const onload = () => { late.push(...loads[name]); loads[name] = null; redraw(); };
    const src = `/static/vendor/${name}.min.js?v=${body.dataset.assets}`, href = `/static/vendor/katex.min.css?v=${body.dataset.assets}`;
    document.head.append(Object.assign(document.createElement('script'), {src, onload}));
    if (name === 'katex') document.head.append(Object.assign(document.createElement('link'), {rel: 'stylesheet', href}));
  };
  const show_math = node => {
    const tex = node.textContent, block = node.classList.contains('block');
    Object.assign(node, {role: 'math', ariaLabel: tex});
    library('katex', () => {
      try {
        katex.render(tex, node, {displayMode: block, output: 'html', trust: false, strict: 'ignore', maxSize: 20, maxExpand: 200});
      } catch {
        node.textContent = tex;
        node.classList.add('wrong');
      }
    });
  };
  const frame_code = (pre, final) => {
    const code = find('code', pre), language = code.className.replace(/^language-/, ''), frame = clone('code');
    find('.code-bar span', frame).textContent = language || 'text';
    pre.replaceWith(frame);
    pre.tabIndex = 0;
    frame.append(pre);
    if (!final || !language || code.textContent.length > MOST.highlight) return;
    library('highlight', () => {
      if (!hljs.getLanguage(language)) return;
      const {value} = hljs.highlight(code.textContent, {language, ignoreIllegals: true});
      code.replaceChildren(DOMPurify.sanitize(value, {ALLOWED_TAGS: ['span'], ALLOWED_ATTR: ['class'], RETURN_DOM_FRAGMENT: true}));
    });
  };
  const nodes_of = (html, final) => {
    const nodes = DOMPurify.sanitize(html, SAFE);
    each('a[href]', nodes, a => Object.assign(a, {target: '_blank', rel: 'noopener noreferrer'}));
    each('pre', nodes, pre => frame_code(pre, final));
    each('table', nodes, table => {
      const box = Object.assign(document.createElement('div'), {className: 'scroll-x', tabIndex: 0});
      table.replaceWith(box);
      box.append(table);
    });
    if (final) each('.math', nodes, show_math);
    return nodes;
  };
  // One growing text. Blocks that can no longer change are rendered once; only what is still open is rendered again.
  const sources = new WeakMap();  // element of a text -> its markdown
  class Doc {
    constructor(node) {
      this.tail = Object.assign(document.createElement('div'), {className: 'tail'});
      node.replaceChildren(this.tail);
      Object.assign(this, {node, done: 0, links: Object.create(null), shown: null, slow: false, code: null});
    }
    update(source, final) {
      sources.set(this.node, source);
      const text = source.replace(/\r\n?/g, '\n'), links = Object.assign(Object.create(null), this.links);
      let blocks = blocks_of(text.slice(this.done), links);
      if (final && this.done && Object.keys(links).length) {  // links may stand before their definitions
        this.node.replaceChildren(this.tail);
        this.done = 0;
        blocks = blocks_of(text, links);
      }
      let fixed = blocks.length;
      if (!final) {
        while (fixed && blocks[fixed - 1].type === 'space') fixed--;
        // A line that has only begun may still join the block above it ("2" of a second item).
        if (fixed && /^[^\n]{0,12}$/.test(blocks[fixed - 1].raw)) fixed--;
        if (fixed) fixed--;
      }
      for (const block of blocks.slice(0, fixed)) {
        this.tail.before(nodes_of(block_html(block, links), true));
        this.done += block.raw.length;
        if (block.type === 'def') this.links[block.tag] ??= block;
        Object.assign(this, {shown: null, slow: false, code: null});
      }
      this.show(blocks.slice(fixed), links);
    }
    show(blocks, links) {
      if (!blocks.length) return this.tail.replaceChildren();
      const last = blocks[0];
      if (blocks.length === 1 && last.type === 'code' && this.code && last.text.startsWith(this.code.data)) {
        return this.code.appendData(last.text.slice(this.code.length));
      }
      const started = performance.now(), raw = blocks.map(block => block.raw).join('');
      const html = this.slow ? plain(raw) : blocks.map(block => block_html(block, links)).join('');
      if (html === this.shown) return;
      this.shown = html;
      this.tail.replaceChildren(nodes_of(html, false));
      this.slow ||= performance.now() - started > MOST.slow_ms;
      this.code = last.type === 'code' ? find('pre > code', this.tail)?.firstChild : null;
    }
  }
  const source_of = node => sources.get(node) ?? node.textContent;

  // ---- Where the reader is ----
  const scroller = el('scroll'); let at_end = true;
  const to_end = () => { scroller.scrollTop = scroller.scrollHeight; at_end = true; el('jump').hidden = true; };
  const follow = () => { if (at_end) to_end(); else if (turn) el('jump').hidden = false; };

  // ---- The running turn: events change this, draw() shows it, at most ten times a second ----
  let turn = null;  // {id, message, parts: [{kind, text, tokens, ms, state, call, changed, node, doc}], seen, at}
  let beat = 0, drawn = 0;
  const redraw = () => { beat ||= setTimeout(draw, Math.ceil(drawn + 100 - performance.now())); };
  const article_of = message => el(`m-${message}`);
  const part_node = (article, index) => find(`.parts > [data-part="${index}"]`, article);
  const text_node = node => find('.thought-text', node) || node;
  const running = data => turn?.id === data.turn ? turn  // the state of the turn that an event speaks of
    : turn = {id: data.turn, message: data.message, parts: [], seen: -1, at: {phase: 'reading'}};
  const part_of = (data, kind) => {
    const here = running(data);
    if (!here.parts[data.part]) {  // a continued answer goes on behind what is there
      const article = article_of(here.message), node = article && part_node(article, data.part);
      if (data.part) Object.assign(here.parts[data.part - 1] || {}, {changed: true});  // is no longer the open one
      here.parts[data.part] = {kind, text: node && kind !== 'tool' ? source_of(text_node(node)) : '', tokens: 0, ms: 0};
    }
    return Object.assign(here.parts[data.part], {changed: true});
  };
  const place = (article, part, index) => {
    let node = part_node(article, index);
    if (!node) {
      node = clone(part.kind);
      node.dataset.part = index;
      find('.parts', article).append(node);
      htmx.process(node);
    }
    Object.assign(part, {node, call_shown: null});
    if (part.kind === 'text') part.doc = new Doc(node);
    if (part.kind === 'thinking') text_node(node).replaceChildren(part.letters = new Text());
    return node;
  };
  const draw_part = (article, part, index) => {
    const node = part.node?.isConnected ? part.node : place(article, part, index);
    const open = index === turn.parts.length - 1;
    part.changed = false;
    if (part.kind === 'text') part.doc.update(part.text, !open);
    if (part.kind === 'thinking') {
      part.letters.appendData(part.text.slice(part.letters.length));
      find('.thought-label', node).textContent = `${open ? 'Thinking' : 'Thought for'} ${time(part.ms)} · ${plural(part.tokens)}`;
      find('.thought-last', node).textContent = open ? part.text.slice(-200).trimEnd().split('\n').pop() : '';
      node.toggleAttribute('data-live', open && turn.at.phase === 'thinking');
    }
    if (part.kind === 'tool' && part.call_shown !== part.state) {
      part.call_shown = part.state;
      htmx.ajax('GET', `/api/tool?call_id=${part.call}`, {source: '#toasts', target: node, swap: 'outerHTML'})
        .then(() => { part.node = el(`tool-${part.call}`); });
    }
  };
  const draw = () => {
    beat = 0;
    drawn = performance.now();
    late.splice(0).forEach(use => use());
    if (turn) show_progress(turn.at);
    const article = turn && article_of(turn.message);
    if (!article) return;
    article.dataset.state = 'running';
    turn.parts.forEach((part, index) => { if (part.changed || !part.node?.isConnected) draw_part(article, part, index); });
    follow();
    drawn = performance.now();  // one that takes long is followed by as long a rest as any
  };
  const pill_text = at => {
    const left = at.left_ms ? ` · ${time(at.left_ms)} left` : '';
    const speed = at.tokens_per_second ? ` · ${at.tokens_per_second.toFixed(1)} tok/s` : '';
    return {
      queued: at.ahead ? `waiting, ${at.ahead} ahead` : 'waiting for its turn',
      reading: `reading prompt ${count(at.read || 0)} / ${count(at.total || 0)}${left}`,
      thinking: `thinking, ${plural(at.tokens || 0)}${speed}`, writing: `writing, ${plural(at.tokens || 0)}${speed}`,
      tool: `using ${at.tool || 'a tool'}`, asking: 'waits for your permission', paused: 'paused',
    }[at.phase];
  };
  let said = {phase: '', when: 0};
  const say = text => { el('announce').textContent = text; };
  const show_gauge = at => {
    if (!at.context_max) return;
    const share = at.context_used / at.context_max, gauge = el('gauge');
    Object.assign(gauge, {max: at.context_max, value: at.context_used});
    gauge.parentElement.dataset.level = share > 0.9 ? 'bad' : share > 0.7 ? 'warn' : 'good';
    el('gauge-text').textContent = `${count(at.context_used)} / ${count(at.context_max)}`;
  };
  const show_progress = at => {
    if (at.phase === 'idle' && busy()) keep(session() && `/chat/${session()}`);
    body.dataset.phase = at.phase;
    el('pill').hidden = at.phase === 'idle';
    if (at.phase === 'idle') return;
    el('pill-text').textContent = pill_text(at);
    el('pill-progress').hidden = at.phase !== 'reading' || !at.total;
    if (at.total) el('pill-progress').value = at.read / at.total;
    show_gauge(at);
    if (said.phase !== at.phase && drawn - said.when > 1000) { said = {phase: at.phase, when: drawn}; say(pill_text(at)); }
  };
  const sync = (after = '') => session() && htmx.ajax('GET', `/api/messages?session_id=${session()}${after && `&after=${after}`}`,
    {source: '#toasts', target: '#messages', swap: after ? 'beforeend' : 'innerHTML'}).then(redraw);
  let sending = false, wait_for_send = null;
  const meet = data => {  // the turn's messages are on the page, or are fetched
    if (article_of(data.message)) return;
    if (sending) { wait_for_send = data; return; }
    const last = find('#messages > article:last-of-type');
    sync(data.parent && last?.id === `m-${data.parent}` ? data.parent : '');
  };
  const end_turn = data => {
    if (turn && turn.id === data.turn) {
      turn.parts.push({kind: 'end'});  // no part is the last one now: all are final
      const article = article_of(turn.message);
      if (article) {
        turn.parts.slice(0, -1).forEach((part, index) => draw_part(article, part, index));
        article.dataset.state = 'done';
        article.removeAttribute('aria-busy');
        htmx.trigger(el(`foot-${turn.message}`), 'finished');
        follow();
      } else if (sending) wait_for_send = {...data, ended: true}; else sync();
    }
    turn = null; show_gauge(data);
    show_progress({phase: 'idle'});
    el('jump').hidden = true;
    say(data.text || (data.tokens ? `Answer finished, ${plural(data.tokens)}.` : 'Answer finished.'));
  };
  const handlers = {
    snapshot(data, offset) {
      if (!data.turn) {  // what ended while this page was not listening
        if (turn || busy() || unfinished() || (data.last && !article_of(data.last) && !sending)) { turn = null; sync(); }
        return show_progress({phase: 'idle'});
      }
      turn = null;
      Object.assign(running(data), {seen: offset, at: data.progress});
      turn.parts = data.parts.map(part => ({...part, changed: true}));
      meet(data);
    },
    turn(data) { turn = null; running(data); meet(data); },
    progress(data) { running(data).at = data; },
    thinking(data) { const part = part_of(data, 'thinking'); Object.assign(part, {text: part.text + data.text, tokens: data.tokens, ms: data.ms}); },
    delta(data) { part_of(data, 'text').text += data.text; },
    tool(data) { Object.assign(part_of(data, 'tool'), {call: data.call, state: data.state}); },
    done: end_turn, error: end_turn, ping() {},
  };
  Object.entries(handlers).forEach(([name, handle]) => document.addEventListener(name, event => {
    if (event.target.id !== 'stream' || !event.detail?.data) return;
    heard = Date.now();
    const data = JSON.parse(event.detail.data), offset = Number((event.detail.id || '').split('.')[1] ?? -1);
    if (name === 'thinking' || name === 'delta') {
      if (running(data).seen >= offset) return;  // sent again after a reconnect
      turn.seen = offset;
    }
    handle(data, offset);
    if (turn) redraw();
  }));

  // ---- The connection: first attempt, silence, and at most four listening tabs of the six connections a browser gives a host ----
  let heard = Date.now(), attempts = 0, listening = true;
  const problem = (text, status) => { find('#lost p').textContent = text; el('lost').hidden = !text; el('sign-in').hidden = status !== 401; };
  const connect = on => {
    const old = el('stream'), copy = old?.cloneNode();
    if (!copy || !session()) return;
    listening = on;
    heard = Date.now();
    if (!on) turn = null;
    on ? copy.setAttribute('hx-sse:connect', `/api/stream/${session()}`) : copy.removeAttribute('hx-sse:connect');
    htmx.swap({sourceElement: old, target: old, swap: 'outerHTML', text: copy.outerHTML});
  };
  const lost = seconds => problem(`Connection lost. Trying again in ${seconds} s.`);
  document.addEventListener('htmx:sse:before:connection', event => {  // hx-sse waits this long, then tries
    const {attempt, config} = event.detail.connection, ms = Math.min(config.reconnectDelay * 2 ** (attempt - 1), config.reconnectMaxDelay);
    if (attempt > 1 && !document.hidden) lost(Math.ceil(ms / 1000));
  });
  document.addEventListener('htmx:sse:after:connection', () => { attempts = 0; heard = Date.now(); problem(''); claim(); });
  const poll = async () => {  // for a tab that does not listen
    const state = await (await fetch(`/api/status?session_id=${session()}`)).json();
    const tell = busy() && !state.turn && document.hidden && window.Notification?.permission === 'granted';
    if (tell) worker.then(at => at.showNotification('The answer is ready', {body: document.title, icon: '/static/icon.svg', tag: location.pathname}));
    if (!listening && (state.turn || busy() || unfinished() || (state.last && !article_of(state.last)))) sync();
    if (!state.turn) show_progress({phase: 'idle'}); else if (!listening) body.dataset.phase = state.turn.phase;
  };
  setInterval(() => {
    if (!session()) return;
    if (!listening || (document.hidden && busy())) poll().catch(() => {});  // the next round tries again
    else if (!document.hidden && Date.now() - heard > 40000) connect(true);
  }, 4000);
  const tabs = window.BroadcastChannel && new BroadcastChannel('smolbot-tabs'), me = String(Math.random());
  let order = [me];
  const heard_of = (id, gone) => {
    order = order.filter(other => other !== id);
    if (!gone) order.unshift(id);
    const mine = order.indexOf(me) < 4 && !document.hidden;
    if (mine !== listening && !document.hidden) connect(mine);
  };
  const claim = () => { heard_of(me); tabs?.postMessage({id: me}); };
  const leave = () => tabs?.postMessage({id: me, gone: true});
  if (tabs) tabs.onmessage = event => heard_of(event.data.id, event.data.gone);
  addEventListener('pagehide', leave);
  document.addEventListener('visibilitychange', () => { heard = Date.now(); (document.hidden ? leave : claim)(); });
  ['pointerdown', 'keydown', 'focus'].forEach(name => addEventListener(name, () => { if (!listening) claim(); }, true));

  // ---- The input ----
  const input = el('message'), form = el('composer');
  let sent = '';  // given back where it does not arrive
  const draft_key = () => `draft:${session()}`;
  const grow = () => { if (!CSS.supports('field-sizing', 'content')) input.rows = Math.min(12, input.value.split('\n').length); };
  const write = text => { input.value = text; memory.set(draft_key(), text); grow(); filter_palette(); };
  const send = () => {
    const name = input.value.trim().split(/\s/)[0], option = name[0] === '/' && find(`#palette [data-command="${CSS.escape(name)}"]`);
    if (option) run(option, input.value.trim().slice(name.length).trim()); else form.requestSubmit();
  };
  document.addEventListener('htmx:config:request', event => {
    const {ctx} = event.detail;
    if (ctx.sourceElement !== form) { sending ||= ctx.request.begins = ctx.sourceElement?.matches?.('#palette [hx-target="#messages"]'); return; }
    const text = ctx.request.body.get('message') || '';
    if (sending || (!text.trim() && !el('files').childElementCount)) return event.preventDefault();
    if (busy()) ctx.request.action = '/api/queue';  // sent when the answer has ended
    sending = ctx.request.sends = true;
    sent = text;
    if (input.value === text) write('');
    el('notices').replaceChildren();
    at_end = true;
  });
  const take_back = ({request} = {}) => { if (request?.sends && sent) write(input.value ? `${sent}\n${input.value}` : sent); };
  document.addEventListener('htmx:response:error', event => take_back(event.detail.ctx));
  document.addEventListener('htmx:error', event => {
    const source = event.detail.ctx?.sourceElement;
    if (source?.id === 'stream') {  // hx-sse tries the first connection only once
      const seconds = Math.min(8, 2 ** attempts++);
      lost(seconds);
      return setTimeout(() => listening && connect(true), seconds * 1000);
    }
    take_back(event.detail.ctx);
    problem('smolbot cannot be reached. Your text is kept.');
  });
  document.addEventListener('htmx:finally:request', event => {
    const {ctx} = event.detail;
    if (!ctx.request.sends && !ctx.request.begins) return;
    sending = false;
    if (ctx.request.sends && ctx.response?.status < 400) { el('files').replaceChildren(); memory.set('draft:', ''); problem(''); }
    const waited = wait_for_send;
    wait_for_send = null;
    if (waited?.ended) sync(); else if (waited) meet(waited);
  });
  input.addEventListener('input', () => { memory.set(draft_key(), input.value); grow(); filter_palette(); });

  // ---- Slash palette ----
  const palette = el('palette'), options = [...palette.children];
  const open_options = () => palette.hidden ? [] : options.filter(option => !option.hidden);
  const choose = option => {
    options.forEach(other => other.setAttribute('aria-selected', other === option));
    option ? input.setAttribute('aria-activedescendant', option.id) : input.removeAttribute('aria-activedescendant');
    option?.scrollIntoView({block: 'nearest'});
  };
  const filter_palette = () => {
    const word = /^\/\S*$/.test(input.value) ? input.value.toLowerCase() : null;
    const fits = ({command, value}) => value ? command === word : command.startsWith(word);  // an alias (with a value): typed whole
    options.forEach(option => { option.hidden = word === null || !fits(option.dataset); });
    palette.hidden = options.every(option => option.hidden);
    choose(open_options().find(option => option.dataset.command === word) || open_options()[0]);
  };
  const run = (option, argument) => {
    write('');
    Object.assign(el('command-argument'), {name: option.dataset.argument || 'argument', value: argument});
    if (option.dataset.do) actions[option.dataset.do](option, argument); else htmx.trigger(option, 'run');
  };
  palette.addEventListener('pointerdown', event => event.preventDefault());  // the input keeps focus
  palette.addEventListener('click', event => { const option = event.target.closest('li'); if (option) run(option, ''); });
  const palette_key = (event, shown) => {  // whether the palette took the key
    const now = shown.findIndex(option => option.ariaSelected === 'true'), step = {ArrowDown: 1, ArrowUp: -1}[event.key];
    if (step) choose(shown[(now + step + shown.length) % shown.length]);
    else if (event.key === 'Enter' && now >= 0) run(shown[now], '');
    else if (event.key === 'Tab' && now >= 0) write(`${shown[now].dataset.command} `);
    else if (event.key === 'Escape') { palette.hidden = true; choose(null); }
    else return false;
    return true;
  };

  // ---- Files: read here, counted by the server, sent with the message ----
  const add_file = (name, text) => {
    if (text.length > 1e6 || text.includes('\0')) return problem(`${name}: only text files up to 1 MB can be attached.`);
    htmx.ajax('POST', '/api/attachment', {source: '#drop', target: '#files', swap: 'beforeend', values: {name, text}});
  };
  const add_files = files => [...files].forEach(async file => add_file(file.name, file.size > 4e6 ? '\0' : await file.text()));
  el('file').addEventListener('change', event => { add_files(event.target.files); event.target.value = ''; });
  input.addEventListener('paste', event => {
    const {files} = event.clipboardData, text = event.clipboardData.getData('text/plain');
    if (!files.length && text.length <= 2000) return;
    event.preventDefault();
    if (files.length) add_files(files); else add_file('pasted text.txt', text);
  });
  ['dragover', 'dragleave', 'drop'].forEach(name => addEventListener(name, event => {
    if (!event.dataTransfer.types.includes('Files')) return;
    event.preventDefault();
    el('drop').hidden = name !== 'dragover';
    if (name === 'drop') add_files(event.dataTransfer.files);
  }));

  // ---- What buttons and commands do ----
  const copy = async text => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {  // no secure context
      const area = body.appendChild(Object.assign(document.createElement('textarea'), {value: text, className: 'sr-only'}));
      area.select(); document.execCommand('copy'); area.remove();
    }
    say('Copied.');
  };
  const copy_article = article => copy([...article.querySelectorAll('.bubble > .plain, .parts > .md')].map(source_of).join('\n\n'));
  const narrow = () => matchMedia('(max-width: 767px)').matches;
  const actions = {
    sidebar() { const on = body.classList.toggle(narrow() ? 'drawer' : 'sidebar-closed'); if (!narrow()) cookie(`sidebar=${on ? 'closed' : 'open'}`); },
    theme(_, wanted) {
      const themes = ['auto', 'light', 'dark'], {dataset} = document.documentElement;
      dataset.theme = themes.includes(wanted) ? wanted : themes[(themes.indexOf(dataset.theme) + 1) % 3];
      cookie(`theme=${dataset.theme}`); say(`Theme: ${dataset.theme}`);
    },
    help() { el('help').showModal(); }, close(button) { button.closest('dialog').close(); },
    dismiss(button) { button.closest('.notice').remove(); input.focus(); }, retry() { problem(''); connect(true); if (input.value.trim()) send(); },
    'copy-message'(button) { copy_article(button.closest('article')); }, 'to-end': to_end,
    'copy-code'(button) { copy(find('code', button.closest('.code')).textContent); },
    starter(button) { write(button.dataset.text); input.focus(); }, new() { location.href = '/'; },
    export(_, format) { if (session()) location.href = `/api/export-chat?session_id=${session()}&format=${format === 'json' ? 'json' : 'md'}`; },
    think(option, argument) {  // an alias stands before a text that is to be sent
      const alias = option?.dataset.value, wanted = alias || argument, box = el('think');
      if (box.checked !== (wanted ? wanted === 'on' : !box.checked)) box.click();
      if (alias && argument) { write(argument); form.requestSubmit(); }
    },
    model() { el('model-card').togglePopover(); }, status() { location.href = '/status'; },
    commands() { write('/'); input.focus(); }, attach() { el('file').click(); },
    'remove-file'(button) { button.closest('.file').remove(); input.focus(); },
    notify() { window.Notification?.requestPermission().then(answer => say(`Notifications: ${answer}`)); },
  };
  document.addEventListener('click', ({target}) => {
    const button = target.closest('button[data-do]');
    if (button) actions[button.dataset.do](button); else target.closest('.menu a')?.closest('.menu').hidePopover();  // a file is saved: the page stays
  });
  const keys = {
    'c k': () => { body.classList.remove('sidebar-closed'); body.classList.toggle('drawer', narrow()); el('search').select(); },
    'c b': () => actions.sidebar(), 'cs o': () => actions.new(), 'a t': () => actions.think(),
    'cs c': () => { const last = [...document.querySelectorAll('.message.assistant')].pop(); if (last) copy_article(last); },
  };
  const escape_key = () => {
    const cancel = document.activeElement.closest('form')?.querySelector('[data-cancel-edit]');
    if (cancel) cancel.click(); else if (body.classList.contains('drawer')) body.classList.remove('drawer');
    else if (busy()) find('.when-busy.stop').click(); else document.activeElement.blur();
  };
  document.addEventListener('keydown', event => {
    if (event.isComposing || event.keyCode === 229 || find('dialog[open]')) return;
    const shown = open_options(), typing = event.target === input;
    const chord = (event.ctrlKey || event.metaKey ? 'c' : '') + (event.altKey ? 'a' : '') + (event.shiftKey ? 's' : '');
    const named = chord && keys[`${chord} ${event.key.toLowerCase()}`];
    if (typing && shown.length && palette_key(event, shown)) event.preventDefault();
    else if (named) { event.preventDefault(); named(); }
    else if (event.key === 'Escape' && !find(':popover-open')) escape_key();
    else if (typing && event.key === 'Enter' && !chord) { event.preventDefault(); send(); }
    else if (typing && event.key === 'ArrowUp' && !input.value) { [...document.querySelectorAll('[data-edit]')].pop()?.click(); }
    else if (event.key === '?' && !event.target.closest('input, textarea')) actions.help();
  });

  // ---- After HTMX put something on the page ----
  const settle = () => {
    each('.md', document, node => {
      const source = node.textContent;
      if (!sources.has(node)) new Doc(node).update(source, true);
    });
    const {back} = el('queued').dataset;
    if (back) { delete el('queued').dataset.back; write(input.value ? `${input.value}\n${back}` : back); input.focus(); }
    each('[data-seconds]', document, toast => {
      setTimeout(() => { toast.remove(); keep(session() && location.pathname); }, toast.dataset.seconds * 1000);
      toast.removeAttribute('data-seconds');
    });
  };
  // A list of conversations that comes beside something else waits while the one shown has a menu open or a title in work.
  let list_late = 0;
  const list_in_use = () => find('#session-list :is(.menu:popover-open, form)');
  const fetch_list = () => {
    list_late = list_in_use() ? setTimeout(fetch_list, 300) : 0;
    if (!list_late) htmx.ajax('GET', '/api/sessions', {source: '#toasts', target: '#session-list', swap: 'outerHTML'});
  };
  const refusals = {401: 'This page is no longer signed in.', 413: 'That is more than the server takes at once.',
    503: 'The server takes no more work now. Try again in a moment.'};
  document.addEventListener('htmx:before:swap', event => {
    const {status, headers} = event.detail.ctx.response || {};
    if (status >= 400 && !headers.get('Content-Type')?.startsWith('text/html')) {  // refused before it came to the page's routes
      event.preventDefault();
      return problem(refusals[status] || `The server refused this (${status}).`, status);
    }
    const {tasks} = event.detail, at = tasks.findIndex(({target}) => target?.id === 'session-list');
    if (tasks[at]?.type === 'oob' && list_in_use()) {
      tasks.splice(at, 1); list_late ||= setTimeout(fetch_list, 300);
    } else if (at >= 0) each('#session-list [style]', document, menu => menu.removeAttribute('style'));  // HTMX would copy it
    Object.assign(event.detail.ctx, {below: scroller.scrollHeight - scroller.scrollTop, focused: document.activeElement});
  });
  document.addEventListener('htmx:after:swap', event => {
    const {ctx} = event.detail;
    settle();
    if (!session()) { turn = null; problem(''); show_progress({phase: 'idle'}); document.title = 'smolbot'; }  // it was deleted
    if (ctx.request?.action?.includes('&before=')) scroller.scrollTop = scroller.scrollHeight - ctx.below;
    else if (at_end) to_end();
    if (el('dialog-body').childElementCount && !el('dialog').open && ctx.target?.id === 'dialog-body') el('dialog').showModal();
    if (document.activeElement === body && !ctx.focused.isConnected && !narrow()) input.focus();
    redraw();
  });
  document.addEventListener('beforetoggle', event => {
    const anchor = event.newState === 'open' && el(event.target.dataset.anchor);
    if (!anchor) return;
    const box = anchor.getBoundingClientRect(), left = `${Math.min(box.left, innerWidth - 260)}px`;
    const side = box.bottom + 300 < innerHeight ? {top: `${box.bottom + 4}px`} : {bottom: `${innerHeight - box.top + 4}px`};
    Object.assign(event.target.style, {top: 'auto', bottom: 'auto', left, ...side});
  }, true);
  scroller.addEventListener('scroll', () => {
    if ((at_end = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < 48)) el('jump').hidden = true;
  }, {passive: true});
  write(memory.get(draft_key()));
  settle();
  worker?.then(() => { el('offline').hidden = false; });
  const aim = location.hash && el(location.hash.slice(1));
  if (aim) { aim.scrollIntoView(); at_end = false; history.replaceState(null, '', location.pathname); } else if (!el('empty')) to_end();
  if (!narrow()) input.focus();
  claim();
  setInterval(keep, 180000);
  if (window.isSecureContext) navigator.serviceWorker?.register('/sw.js');
})();
