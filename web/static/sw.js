// Past conversations stay readable without the server: pages come from it where it answers, else from here.
// Served as /sw.js. It never touches the stream or the API, and forgets what the server no longer has.
'use strict';
const PAGES = 'pages', ASSETS = 'assets', NOT_KEPT = '/offline';

self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('activate', event => event.waitUntil(take_over()));

// The pages that are open already came without this worker.
async function take_over() {
  await self.clients.claim();
  for (const {url} of await self.clients.matchAll()) await keep(new URL(url).pathname);
}

// Keeps a page with all that it needs: its files, and the older messages of a long conversation.
async function keep(path, response) {
  const pages = await caches.open(PAGES), assets = await caches.open(ASSETS);
  const shown = response || await fetch(path);
  if (!shown.ok) return;
  const text = await shown.clone().text();
  const whole = text.includes('hx-get="/api/messages?') ? await fetch(`${path}?whole=true`) : shown;
  if (whole.ok) await pages.put(path, whole);
  let has_new = false;
  for (const [file] of text.matchAll(/\/static\/[^"?]+\?v=[^"]+/g)) {
    has_new ||= !(await assets.match(file));
    await asset(new Request(file));
  }
  if (has_new && path !== NOT_KEPT) await keep(NOT_KEPT);
}

// A conversation that is gone leaves its page and its line in the list of the others.
let known = '';
async function forget_deleted() {
  const ids = await (await fetch('/api/session-ids')).json(), kept = new Set(ids), now = String(ids);
  if (now === known) return;
  const pages = await caches.open(PAGES);
  for (const request of await pages.keys()) {
    const id = new URL(request.url).pathname.match(/^\/chat\/(.+)$/)?.[1];
    if (id && !kept.has(id)) {
      await pages.delete(request);
      continue;
    }
    const page = await pages.match(request), text = await page.text();
    const left = text.replace(/<li class="session[^>]* id="s-(\w+)">[^]*?<\/li>/g, (line, other) => kept.has(other) ? line : '');
    if (left !== text) await pages.put(request, new Response(left, page));
  }
  known = now;
}

async function page(event, path) {
  try {
    const response = await fetch(event.request);
    event.waitUntil(keep(path, response.clone()).then(forget_deleted).catch(() => {}));  // tried again with the next page
    return response;
  } catch {
    const pages = await caches.open(PAGES);
    return (await pages.match(path)) || (await pages.match(NOT_KEPT)) || Response.error();
  }
}

// Names carry a version, so what is here is right; older versions go when a new one comes.
async function asset(request) {
  const assets = await caches.open(ASSETS);
  const kept = await assets.match(request);
  if (kept) return kept;
  const response = await fetch(request);
  if (response.ok) {
    const {pathname} = new URL(request.url);
    for (const old of await assets.keys()) if (new URL(old.url).pathname === pathname) await assets.delete(old);
    await assets.put(request, response.clone());
  }
  return response;
}

self.addEventListener('fetch', event => {
  const {request} = event, {origin, pathname} = new URL(request.url);
  if (request.method !== 'GET' || origin !== location.origin) return;
  if (request.mode === 'navigate' && /^\/(?:chat(?:\/.*)?)?$/.test(pathname)) event.respondWith(page(event, pathname));
  else if (pathname.startsWith('/static/')) event.respondWith(asset(request));
});

// The page says what changed: the address of a conversation, or nothing where one was deleted.
self.addEventListener('message', event => {
  const done = event.data ? keep(event.data).then(forget_deleted) : forget_deleted();
  event.waitUntil(done.catch(() => {}));
});

// The tag of a notification is the path of what it speaks of.
async function show({tag}) {
  const tabs = await self.clients.matchAll({type: 'window'});
  const open = tabs.find(({url}) => new URL(url).pathname === tag);
  await (open ? open.focus() : self.clients.openWindow(tag));
}

self.addEventListener('notificationclick', event => {
  event.notification.close();
  event.waitUntil(show(event.notification));
});
