// Files of the console: the coding that a client prefers, read from disk once, and the page's tag.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Console } from './console.ts';

const folder = mkdtempSync(join(tmpdir(), 'heliograph-console-'));
const script = '/assets/index-abc.js';
let app: FastifyInstance;

function write(path: string, content: string): void {
  writeFileSync(join(folder, path), content);
}

beforeAll(async () => {
  mkdirSync(join(folder, 'assets'));
  write('index.html', '<p>page');
  for (const [ending, content] of [
    ['', 'plain'],
    ['.br', 'brotli'],
    ['.gz', 'gzip'],
  ])
    write(`assets/index-abc.js${ending}`, content ?? '');
  write('assets/font.woff2', 'font');
  mkdirSync(join(folder, 'docs/guide'), { recursive: true });
  write('docs/guide/index.html', 'first page');
  write('docs/guide/start.html', 'start');
  app = Fastify();
  new Console(folder).addFiles(app);
  await app.ready();
});
afterAll(async () => {
  await app.close();
  rmSync(folder, { recursive: true });
});

const get = (url: string, headers: Record<string, string> = {}) =>
  app.inject({ method: 'GET', url, headers });

test.each([
  ['br, gzip', 'brotli', 'br'],
  ['gzip, br', 'brotli', 'br'],
  ['gzip;q=1, br;q=0.5', 'gzip', 'gzip'],
  ['GZIP', 'gzip', 'gzip'],
  ['*', 'brotli', 'br'],
  ['br;q=0, *', 'gzip', 'gzip'],
  ['br;q=0', 'plain', undefined],
  ['identity', 'plain', undefined],
  ['', 'plain', undefined],
])('Accept-Encoding %s gets %s', async (accepted, content, coding) => {
  const answer = await get(script, { 'accept-encoding': accepted });
  expect(answer.body).toBe(content);
  expect(answer.headers['content-encoding']).toBe(coding);
  expect(answer.headers['cache-control']).toContain('immutable');
});

test('a file without copies is sent as it is', async () => {
  const answer = await get('/assets/font.woff2', { 'accept-encoding': 'br' });
  expect([answer.body, answer.headers['content-encoding']]).toEqual(['font', undefined]);
});

test('a file is read once', async () => {
  await get(script);
  write('assets/index-abc.js', 'changed');
  expect((await get(script)).body).toBe('plain');
});

test('pages load pictures of themselves, and from no other host than given', async () => {
  const pictures = (headers: Record<string, unknown>) =>
    /img-src [^;]+/.exec(String(headers['content-security-policy']))?.[0];
  expect(pictures((await get('/')).headers)).toBe("img-src 'self'");
  const withTiles = Fastify();
  new Console(folder, ['https://tiles.example.com']).addFiles(withTiles);
  for (const url of ['/', script]) {
    const { headers } = await withTiles.inject({ url });
    expect(pictures(headers)).toBe("img-src 'self' https://tiles.example.com");
    expect(headers['content-security-policy']).toContain("connect-src 'self';");
  }
  await withTiles.close();
});

test('the page is asked for again by its tag', async () => {
  const { headers, body } = await get('/');
  expect(body).toBe('<p>page');
  const tag = String(headers.etag);
  for (const known of [tag, `W/${tag}`, `"other", ${tag}`, '*'])
    expect((await get('/', { 'if-none-match': known })).statusCode).toBe(304);
  expect((await get('/', { 'if-none-match': '"other"' })).statusCode).toBe(200);
});

test('a file that is missing when it is asked for is an error, and found when it is back', async () => {
  rmSync(join(folder, 'assets', 'index-abc.js.gz'));
  const headers = { 'accept-encoding': 'gzip' };
  // Read before: the copy in memory is sent.
  expect((await get(script, headers)).statusCode).toBe(200);
  const again = Fastify();
  new Console(folder).addFiles(again);
  rmSync(join(folder, 'assets', 'font.woff2'));
  const ask = () => again.inject({ method: 'GET', url: '/assets/font.woff2' });
  expect((await ask()).statusCode).toBe(500);
  write('assets/font.woff2', 'back');
  expect((await ask()).body).toBe('back');
  await again.close();
});

test('pages of the guide have addresses without an ending', async () => {
  const answers = await Promise.all(
    ['/docs/guide', '/docs/guide/', '/docs/guide/start', '/docs/guide/start.html'].map((url) =>
      get(url),
    ),
  );
  expect(answers.map(({ body }) => body.slice(0, 5))).toEqual(['first', 'first', 'start', '{"mes']);
});
