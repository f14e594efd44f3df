// Map files: every tile is found, damaged and hostile files are named, and a replaced file is read anew.
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { TileName } from '../../model/map-tiles.ts';
import { MapFiles, tileIdOf } from './map-files.ts';
import { pmtilesOf, type TestMap } from './testing-pmtiles.ts';

let folder: string;
let nowMs = 0;
let files: MapFiles;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'maps-'));
  nowMs = 0;
  files = new MapFiles(folder, () => nowMs);
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Replaced at once, as operators are told to. */
function put(bytes: Buffer, name = 'city.pmtiles'): void {
  writeFileSync(join(folder, 'new'), bytes);
  renameSync(join(folder, 'new'), join(folder, name));
  nowMs += 10_000;
}

const caller = new AbortController().signal;
const tile = async (name: TileName) => (await files.tile('o', name, caller))?.bytes;

/** All tiles of the zooms, some of them equal. */
function tilesOf(zooms: readonly number[]): TestMap['tiles'] {
  return zooms.flatMap((z) =>
    Array.from({ length: 4 ** z }, (_, at) => {
      const name = { z, x: at % 2 ** z, y: Math.floor(at / 2 ** z) };
      const isSea = name.y < 2 ** z / 2;
      return { name, bytes: Buffer.from(isSea ? 'sea' : `${z}/${name.x}/${name.y}`) };
    }),
  );
}

test('the numbers of tiles follow the Hilbert curves of the specification', () => {
  const numbers = [
    [0, 0, 0, 0],
    [1, 0, 0, 1],
    [1, 0, 1, 2],
    [1, 1, 1, 3],
    [1, 1, 0, 4],
    [2, 0, 0, 5],
    [12, 3423, 1763, 19078479],
  ] as const;
  for (const [z, x, y, id] of numbers) expect(tileIdOf({ z, x, y })).toBe(id);
  const ids = tilesOf([5]).map(({ name }) => tileIdOf(name));
  expect(ids.toSorted((a, b) => a - b)).toEqual(ids.map((_, at) => (4 ** 5 - 1) / 3 + at));
});

test.each([
  ['in the root directory', {}],
  ['compressed', { isGzipped: true }],
  ['in directories below the root', { leafEntries: 7 }],
  ['in compressed directories below the root', { leafEntries: 3, isGzipped: true }],
])('every tile is found %s, and no other', async (_, form) => {
  const tiles = tilesOf([1, 2, 4]);
  put(pmtilesOf({ ...form, tiles }));
  for (const { name, bytes } of tiles) expect(await tile(name)).toEqual(bytes);
  for (const name of [
    { z: 0, x: 0, y: 0 },
    { z: 3, x: 1, y: 1 },
    { z: 5, x: 0, y: 0 },
  ])
    expect(await tile(name)).toBeUndefined();
});

test('a file says what its tiles are, how close they go, and whom it names', async () => {
  expect(await files.find()).toBeUndefined();
  const metadata = { attribution: '<a href="https://x.example">&copy; Maps &amp; Co</a>' };
  put(pmtilesOf({ tiles: tilesOf([0, 2]), metadata, isGzipped: true }));
  const city = { name: 'city.pmtiles', zoomMax: 2, attribution: '© Maps & Co' };
  expect(await files.find()).toEqual({ ...city, contentType: 'image/png' });
  // The first by name counts.
  put(pmtilesOf({ tiles: tilesOf([0]), type: 1 }), 'a.pmtiles');
  const contentType = 'application/vnd.mapbox-vector-tile';
  expect(await files.find()).toEqual({
    name: 'a.pmtiles',
    zoomMax: 0,
    attribution: '',
    contentType,
  });
});

describe('a file that cannot be read', () => {
  const good = pmtilesOf({ tiles: tilesOf([0, 3]), metadata: { name: 'x' } });
  const changed = (at: number, byte: number) => {
    const bytes = Buffer.from(good);
    bytes[at] = byte;
    return bytes;
  };
  test.each([
    ['a text', Buffer.from('no map'), 'it ends after 6 bytes'],
    ['another format', changed(0, 65), 'it is not a PMTiles file'],
    ['an older version', changed(7, 2), 'it has PMTiles version 2'],
    ['an unknown type of tiles', changed(99, 9), 'tiles of an unknown type'],
    ['Zstandard', changed(97, 4), 'Zstandard'],
    ['metadata that are not JSON', changed(24, 130), 'metadata that is not JSON'],
    ['metadata beyond its end', changed(30, 1), 'it ends after'],
  ])('is named with the reason: %s', async (_, bytes, reason) => {
    put(bytes);
    await expect(files.find()).rejects.toMatchObject({
      message: expect.stringContaining(`city.pmtiles cannot be read: `),
    });
    await expect(files.find()).rejects.toThrow(reason);
    await expect(tile({ z: 0, x: 0, y: 0 })).rejects.toThrow(reason);
  });

  test('is named when a tile shows it: a cut file, a damaged directory, one that leads to itself', async () => {
    put(good.subarray(0, good.length - 3));
    // The curve ends in the upper right corner.
    const last = { z: 3, x: 7, y: 0 };
    await expect(tile(last)).rejects.toThrow('it ends after');
    expect(await tile({ z: 3, x: 7, y: 7 })).toEqual(Buffer.from('3/7/7'));
    put(changed(127, 127));
    await expect(tile(last)).rejects.toThrow('damaged directory');
    // A root whose only entry is a directory, which is the root itself.
    const loop = pmtilesOf({ tiles: tilesOf([0]), leafEntries: 1 });
    loop.writeBigUInt64LE(loop.readBigUInt64LE(8), 40);
    put(loop);
    await expect(tile({ z: 0, x: 0, y: 0 })).rejects.toThrow('below each other');
  });

  test('neither a tile nor a directory of a huge length is read', async () => {
    const bytes = Buffer.from(good);
    bytes.writeBigUInt64LE(2n ** 40n, 16);
    put(bytes);
    await expect(tile({ z: 0, x: 0, y: 0 })).rejects.toThrow('the maximum is 8388608');
  });
});

test('a file that was replaced is read anew, at the latest after ten seconds', async () => {
  const of = (text: string) =>
    pmtilesOf({ tiles: [{ name: { z: 0, x: 0, y: 0 }, bytes: Buffer.from(text) }] });
  put(of('old'));
  const name = { z: 0, x: 0, y: 0 };
  expect(await tile(name)).toEqual(Buffer.from('old'));
  put(of('new'));
  nowMs -= 10_000;
  expect(await tile(name)).toEqual(Buffer.from('new'));
  rmSync(join(folder, 'city.pmtiles'));
  nowMs += 10_000;
  expect(await files.tile('o', name, caller)).toBeUndefined();
});

test('an organization with many tiles waiting is refused, others are served in turn', async () => {
  put(pmtilesOf({ tiles: tilesOf([0, 1, 2]) }));
  const name = { z: 2, x: 3, y: 3 };
  const many = Array.from({ length: 300 }, () => files.tile('greedy', name, caller));
  const refusals = Promise.allSettled(many);
  expect((await files.tile('other', name, caller))?.bytes).toEqual(Buffer.from('2/3/3'));
  const refused = (await refusals).filter(({ status }) => status === 'rejected');
  expect(refused).toHaveLength(300 - 2 - 256);
  expect(refused[0]).toMatchObject({ reason: { status: 429 } });
  expect(await files.tile('o', name, AbortSignal.abort())).toBeUndefined();
});
