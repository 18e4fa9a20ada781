// Past conversations stay readable without the server: pages come from it where it answers, else from here.
// Served as /sw.js. It never touches the stream or the API, and forgets what the server no longer has.
'use strict';
const PAGES = 'pages', ASSETS = 'assets';

self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('activate', event => event.waitUntil(self.clients.claim()));

async function forget_deleted() {
  const kept = new Set(await (await fetch('/api/session-ids')).json());
  const pages = await caches.open(PAGES);
  for (const request of await pages.keys()) {
    const id = new URL(request.url).pathname.match(/^\/chat\/(.+)$/)?.[1];
    if (id && !kept.has(id)) await pages.delete(request);
  }
}

async function page(request) {
  const pages = await caches.open(PAGES);
  try {
    const response = await fetch(request);
    if (response.ok) await pages.put(new URL(request.url).pathname, response.clone());
    forget_deleted().catch(() => {});  // tried again with the next page
    return response;
  } catch {
    return (await pages.match(request, {ignoreSearch: true})) || (await pages.match('/')) || Response.error();
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
  if (request.mode === 'navigate' && /^\/(?:chat(?:\/.*)?)?$/.test(pathname)) event.respondWith(page(request));
  else if (pathname.startsWith('/static/')) event.respondWith(asset(request));
});
