// Contract 39.5: what the maps of a workspace show, which tiles it may load, and the tiles of the map file.
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pmtilesOf } from '../../src/storage/maps/testing-pmtiles.ts';
import { type AccessWorld, addMember, signIn, startAccessWorld } from '../access/access-world.ts';
import { startWorld, type World } from '../world/world.ts';

let at: AccessWorld;
let world: World;
let path: string;
beforeAll(async () => {
  at = await startAccessWorld();
  ({ world } = at);
  path = `/v3/workspaces/${world.workspaceId}`;
});
afterAll(() => at.close());

const streets = 'https://tile.openstreetmap.org';
const none = { kind: 'NONE', tiles: null, attribution: null, maxZoom: null, note: null };
const soon = { timeout: 60_000, interval: 200 };

const choose = (map: unknown) => world.call('PUT', path, { settings: { map } });
const shown = () => world.must('GET', `${path}/map`);

/** Replaced at once, as operators are told to; with two nodes in the folder of each. */
function putFile(folder: string, bytes: Buffer): void {
  for (const node of [folder, `${folder}-second`].filter((one) => existsSync(one))) {
    mkdirSync(join(node, 'maps'), { recursive: true });
    writeFileSync(join(node, 'maps', 'new'), bytes);
    renameSync(join(node, 'maps', 'new'), join(node, 'maps', 'city.pmtiles'));
  }
}

describe('the setting', () => {
  test('nothing is shown by default, and no host is asked until somebody chooses it', async () => {
    const { settings } = await world.must('GET', path);
    expect(settings.map).toEqual({ source: 'INSTALLATION', url: null, attribution: null });
    expect(await shown()).toEqual({ ...none, source: 'INSTALLATION', origins: [streets] });
  });

  test('OpenStreetMap is chosen by the workspace, stands in the audit log, and null goes back', async () => {
    const { status, body } = await choose({ source: 'OPEN_STREET_MAP' });
    expect(status).toBe(200);
    expect(body.settings.map).toEqual({ source: 'OPEN_STREET_MAP', url: null, attribution: null });
    expect(await shown()).toEqual({
      kind: 'RASTER',
      tiles: `${streets}/{z}/{x}/{y}.png`,
      attribution: '© OpenStreetMap contributors',
      maxZoom: 19,
      source: 'OPEN_STREET_MAP',
      note: null,
      origins: [streets],
    });
    const changed = () =>
      world.must('GET', `/v3/audit-logs?organizationId=${world.organizationId}&size=20`);
    await expect
      .poll(async () => JSON.stringify((await changed()).content), soon)
      .toContain('OPEN_STREET_MAP');
    // Other settings leave it alone.
    await world.must('PUT', path, { settings: { timezone: 'Europe/Zurich' } });
    expect((await shown()).source).toBe('OPEN_STREET_MAP');
    expect((await choose(null)).body.settings.map.source).toBe('INSTALLATION');
    expect((await choose({ source: 'NONE' })).status).toBe(200);
    expect(await shown()).toMatchObject({ ...none, source: 'NONE' });
  });

  test('other tiles of an allowed origin', async () => {
    const url = `${streets}/hot/{z}/{x}/{y}.png`;
    const map = { source: 'URL', url, attribution: '© HOT' };
    expect((await choose(map)).body.settings.map).toEqual(map);
    expect(await shown()).toMatchObject({ kind: 'RASTER', tiles: url, attribution: '© HOT' });
    // The same record again changes nothing.
    const { settings } = await world.must('GET', path);
    expect((await world.call('PUT', path, { settings })).status).toBe(200);
  });

  const attribution = '© X';
  test.each([
    [
      'another host',
      { url: 'https://evil.example/{z}/{x}/{y}.png' },
      'map.url: https://evil.example is not allowed',
    ],
    ['another port', { url: `${streets}:8443/{z}/{x}/{y}.png` }, `map.url: ${streets}:8443 is not`],
    [
      'another scheme of the host',
      { url: 'http://tile.openstreetmap.org/{z}/{x}/{y}' },
      'map.url: http://tile.openstreetmap.org is not allowed',
    ],
    [
      'the host as a user',
      { url: 'https://tile.openstreetmap.org@evil.example/{z}/{x}/{y}' },
      'map.url: must be',
    ],
    ['a script', { url: 'javascript:alert(1)/{z}/{x}/{y}' }, 'map.url: must be'],
    ['a file', { url: 'file:///etc/{z}/{x}/{y}' }, 'map.url: must be'],
    ['a host of places', { url: 'https://{x}.example/{z}/{x}/{y}' }, 'map.url: must be'],
    ['a place too few', { url: `${streets}/{z}/{x}.png` }, 'map.url: must be'],
    ['nothing', {}, 'map.url: is required'],
  ])('refused with where and why: tiles of %s', async (_, sent, reason) => {
    const { status, body } = await choose({ source: 'URL', attribution, ...sent });
    expect(status).toBe(400);
    expect(body.message).toContain(`body settings.${reason}`);
  });

  test.each([
    [
      'no attribution',
      { source: 'URL', url: `${streets}/{z}/{x}/{y}` },
      'map.attribution: is required',
    ],
    [
      'an address of another source',
      { source: 'NONE', url: streets },
      'map.url: requires the source URL',
    ],
    ['a file that is not there', { source: 'FILE' }, 'map.source: FILE requires'],
    ['an unknown source', { source: 'GOOGLE' }, 'settings.map.source'],
    ['a member too many', { source: 'NONE', key: 'x' }, 'key'],
    ['an attribution too long', { source: 'URL', attribution: 'x'.repeat(501) }, 'map.attribution'],
  ])('refused with where and why: %s', async (_, map, reason) => {
    const { status, body } = await choose(map);
    expect(status).toBe(400);
    expect(body.message).toContain(reason);
  });

  test('documents of workspaces carry it, and are refused with tiles of other hosts', async () => {
    const map = { source: 'OPEN_STREET_MAP', url: null, attribution: null };
    await choose({ source: 'OPEN_STREET_MAP' });
    const document = await world.must('GET', `${path}/configuration`);
    expect(document.workspace.settings.map).toEqual(map);
    await choose(null);
    await world.must('PUT', `${path}/configuration`, document);
    expect((await world.must('GET', path)).settings.map).toEqual(map);
    const hostile = { source: 'URL', url: 'https://evil.example/{z}/{x}/{y}', attribution };
    const settings = { ...document.workspace.settings, map: hostile };
    const { status, body } = await world.call('PUT', `${path}/configuration`, {
      ...document,
      workspace: { ...document.workspace, settings },
    });
    expect([status, body.message]).toEqual([400, expect.stringContaining('evil.example')]);
  });

  test('a viewer reads it and cannot change it; other organizations read neither', async () => {
    await addMember(at.base, at.owner, path, 'map@example.org', 'VIEWER');
    const viewer = await signIn(at.base, 'map@example.org');
    expect((await viewer.call('GET', `${path}/map`)).status).toBe(200);
    const refused = await viewer.call('PUT', path, { settings: { map: { source: 'NONE' } } });
    expect(refused.status).toBe(403);
  });
});

describe('tiles of the map file', () => {
  const bytes = Buffer.from('a picture');
  const name = { z: 1, x: 1, y: 0 };
  const tile = (z: number | string, x: number | string, y: number | string) =>
    world.call('GET', `/v3/map/tiles/${z}/${x}/${y}`);
  /** Of two requests, which are for both nodes if there are two. */
  const statuses = async () => [(await tile(1, 1, 0)).status, (await tile(1, 1, 0)).status];
  const raw = (headers: Record<string, string> = {}) =>
    fetch(`${world.base}/v3/map/tiles/1/1/0`, {
      headers: { 'x-api-key': world.apiKey, ...headers },
    });

  test('are served with their type, a tag and for a day; 204 where the map has none', async () => {
    expect((await tile(1, 1, 0)).status).toBe(204);
    const metadata = { attribution: '&copy; City' };
    putFile(world.directory, pmtilesOf({ tiles: [{ name, bytes }], metadata, isGzipped: true }));
    // A file is found within ten seconds, without a restart.
    await expect.poll(statuses, soon).toEqual([200, 200]);
    const answer = await raw();
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(bytes);
    expect(answer.headers.get('content-type')).toBe('image/png');
    expect(answer.headers.get('cache-control')).toBe('private, max-age=86400');
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    // Each node has a file of its own; equal bytes have equal tags.
    const tags = await Promise.all([raw(), raw(), raw()]).then((answers) =>
      answers.map(({ headers }) => headers.get('etag')),
    );
    const tag = answer.headers.get('etag') ?? '';
    expect(tags).toEqual([tag, tag, tag]);
    expect((await raw({ 'if-none-match': tag })).status).toBe(304);
    expect((await raw({ 'if-none-match': '"another"' })).status).toBe(200);
    expect((await tile(1, 0, 0)).status).toBe(204);
    expect((await tile(2, 0, 0)).status).toBe(204);
    await choose(null);
    const tiles = '/v3/map/tiles/{z}/{x}/{y}';
    expect(await shown()).toMatchObject({
      kind: 'RASTER',
      tiles,
      attribution: '© City',
      maxZoom: 1,
    });
    expect((await choose({ source: 'FILE' })).status).toBe(200);
    expect(await shown()).toMatchObject({ kind: 'RASTER', tiles, source: 'FILE' });
  });

  test.each([
    [1, 2, 0, 'path x: 2 is not below 2'],
    [0, 0, 1, 'path y: 1 is not below 1'],
    [27, 0, 0, 'path z'],
    [1, -1, 0, 'path x'],
    [1, 'a', 0, 'path x'],
    [1, 0, '0.5', 'path y'],
  ])('a tile that is nowhere is refused: %s/%s/%s', async (z, x, y, reason) => {
    const { status, body } = await tile(z, x, y);
    expect([status, body.message]).toEqual([400, expect.stringContaining(reason)]);
  });

  test('nobody reads them without a credential', async () => {
    expect((await fetch(`${world.base}/v3/map/tiles/1/1/0`)).status).toBe(401);
  });

  test('a file that cannot be read is named, without its folder', async () => {
    putFile(world.directory, Buffer.from('no map'));
    await expect.poll(statuses, soon).toEqual([503, 503]);
    const { body } = await tile(1, 1, 0);
    expect(body.errorCode).toBe('50331_MAP_FILE_UNREADABLE');
    expect(body.message).toContain('city.pmtiles cannot be read: it ends after 6 bytes');
    expect(body.message).not.toContain(world.directory);
  });
});

describe('the operator', () => {
  test('allows other origins with MAP_ORIGINS, which pages then may load pictures from, and no other', async () => {
    const environment = {
      MAP_ORIGINS: 'https://tiles.example.com',
      MAP_TILES_URL: 'https://maps.example.com/{z}/{x}/{y}.png',
      MAP_TILES_ATTRIBUTION: '© Maps',
    };
    const own = await startWorld({ environment });
    try {
      const workspace = `/v3/workspaces/${own.workspaceId}`;
      const url = 'https://tiles.example.com/{z}/{x}/{y}.png';
      const policy = async () =>
        (await fetch(own.base, { headers: { accept: 'text/html' } })).headers.get(
          'content-security-policy',
        );
      const expected = "img-src 'self' https://tiles.example.com https://maps.example.com;";
      expect(await policy()).toContain(expected);
      expect(await own.must('GET', `${workspace}/map`)).toMatchObject({
        kind: 'RASTER',
        tiles: 'https://maps.example.com/{z}/{x}/{y}.png',
        attribution: '© Maps',
      });
      const map = { source: 'URL', url, attribution: '© Tiles' };
      await own.must('PUT', workspace, { settings: { map } });
      const { status, body } = await own.call('PUT', workspace, {
        settings: { map: { source: 'OPEN_STREET_MAP' } },
      });
      expect([status, body.message]).toEqual([
        400,
        `body settings.map.source: ${streets} is not allowed; MAP_ORIGINS of this installation allows https://tiles.example.com`,
      ]);
      expect(await policy()).toContain(expected);
    } finally {
      await own.close();
    }
  });
});
