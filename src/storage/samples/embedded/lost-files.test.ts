// Files of the store that are missing, older or unknown: told, never deleted, never served as if the folder were whole.
import {
  copyFileSync,
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { allSamples, collect, entryOf } from '../conformance/sample-entries.ts';
import { type TestSamples, type TestSamplesOptions, openTestSamples } from '../testing-samples.ts';
import { type Manifest, readManifest, writeManifest } from './segments/segment-set.ts';
import { footerBytes } from './segments/chunk-segment.ts';
import { runMagic } from './runs/run-file.ts';
import type { StoreLimits } from './store-limits.ts';
import { verifyStore } from './store-loader.ts';

const tiny: NonNullable<TestSamplesOptions['limits']> = {
  rowsToCloseAtDay: 10,
  rowsMax: 20,
  segmentBytes: 1_000,
  segmentsToMerge: 100,
  journalSegmentBytes: 2_000,
};
describe.each<[string, Partial<StoreLimits>]>([
  ['runs of many devices', {}],
  ['chunks of one device', { chunkRowsMin: 1 }],
])('%s', (_, ofKind) => {
  const root = mkdtempSync(join(tmpdir(), 'lost-files-'));
  const whole = join(root, 'whole');
  const opened: TestSamples[] = [];
  const entries = 40;
  const rowsAnEntry = 10;
  const samples = entries * rowsAnEntry;
  let olderManifest: string;
  let copies = 0;

  async function open(
    directory: string,
    options: Partial<TestSamplesOptions> = {},
  ): Promise<TestSamples> {
    // Nothing is kept for resuming, so that the journal is dropped as far as it may be.
    const kept = { resumeBytesMax: 0, resumeAgeMsMax: 0 };
    const limits = { ...tiny, ...ofKind, ...options.limits };
    const store = await openTestSamples({ directory, now: () => 1, ...kept, ...options, limits });
    opened.push(store);
    return store;
  }

  const entry = (device: string, i: number) =>
    entryOf(
      device,
      Array.from({ length: rowsAnEntry }, (_, k) => ({ at: i * 1_000 + k, data: { i, k } })),
    );

  beforeAll(async () => {
    const store = await open(whole);
    store.setFollowerPosition('outputs', 0);
    for (let i = 0; i < entries; i++) {
      await store.append(entry('d1', i));
      // From the middle on the journal is let go, so that only segments hold what is older.
      if (i === entries / 2) {
        await store.sealAll();
        olderManifest = join(root, 'older-manifest.json');
        copyFileSync(join(whole, 'segments', 'manifest.json'), olderManifest);
      }
      if (i % 4 === 0) await store.sealAll();
      store.setFollowerPosition('outputs', i);
      await store.idle();
    }
    await store.close();
  });

  afterEach(async () => {
    for (const store of opened.splice(0)) await store.close();
  });
  afterAll(() => rmSync(root, { recursive: true }));

  function copy(): string {
    const folder = join(root, `copy-${++copies}`);
    cpSync(whole, folder, { recursive: true });
    return folder;
  }

  const segmentsOf = (folder: string) =>
    readdirSync(join(folder, 'segments')).filter((name) => /^\d+\.segment/.test(name));
  const journalOf = (folder: string) =>
    readdirSync(join(folder, 'journal')).filter((name) => name.endsWith('.journal'));
  const path = (folder: string, ...names: string[]) => join(folder, ...names);

  test('the folder of these tests holds what only segments have', async () => {
    const [first] = journalOf(whole);
    expect(Number.parseInt(first!, 10)).toBeGreaterThan(entries / 2);
    expect(segmentsOf(whole).length).toBeGreaterThan(5);
    expect((await verifyStore(whole)).damage).toEqual([]);
  });

  test.each([
    ['missing', (folder: string) => rmSync(path(folder, 'segments', 'manifest.json'))],
    ['emptied', (folder: string) => truncateSync(path(folder, 'segments', 'manifest.json'), 0)],
    [
      'an older copy',
      (folder: string) => copyFileSync(olderManifest, path(folder, 'segments', 'manifest.json')),
    ],
  ])(
    'review reliability 2: a manifest that is %s deletes nothing, serves all, and is told',
    async (_, harm) => {
      const folder = copy();
      const before = segmentsOf(folder);
      harm(folder);
      expect((await verifyStore(folder)).damage).toMatchObject([{ kind: 'manifest' }]);
      const store = await open(folder);
      expect(store.damage).toMatchObject([{ kind: 'manifest' }]);
      expect(await allSamples(store, 'd1')).toHaveLength(samples);
      expect(segmentsOf(folder)).toEqual(before);
      await store.append(entry('d1', entries));
      await store.close();
      // Put right: the next start has nothing to tell.
      const again = await open(folder);
      expect(again.damage).toEqual([]);
      expect(await allSamples(again, 'd1')).toHaveLength(samples + rowsAnEntry);
      await again.close();
      expect((await verifyStore(folder)).damage).toEqual([]);
    },
  );

  test('review reliability 2: a segment that the manifest does not name is moved aside and told, once', async () => {
    const folder = copy();
    const stray = path(folder, 'segments', '0000000000.segment');
    copyFileSync(path(folder, 'segments', segmentsOf(folder)[0]!), stray);
    expect((await verifyStore(folder)).damage).toMatchObject([{ kind: 'segment', path: stray }]);
    const store = await open(folder);
    expect(store.damage).toMatchObject([
      { kind: 'segment', path: stray, reason: expect.stringContaining('moved aside') },
    ]);
    expect(await allSamples(store, 'd1')).toHaveLength(samples);
    await store.close();
    expect(segmentsOf(folder)).toContain('0000000000.segment.orphan');
    expect((await verifyStore(folder)).damage).toEqual([]);
  });

  test('review reliability 2: a lost segment is told at every start until its file is back', async () => {
    const folder = copy();
    const name = segmentsOf(folder)[1]!;
    rmSync(path(folder, 'segments', name));
    for (let round = 0; round < 2; round++) {
      const store = await open(folder);
      expect(store.damage).toMatchObject([{ kind: 'segment', reason: 'The file is missing' }]);
      expect((await allSamples(store, 'd1')).length).toBeLessThan(samples + round * rowsAnEntry);
      await store.append(entry('d1', entries + round));
      await store.sealAll();
      await store.close();
      expect((await verifyStore(folder)).damage).toMatchObject([{ kind: 'segment' }]);
    }
    copyFileSync(path(whole, 'segments', name), path(folder, 'segments', name));
    const store = await open(folder);
    expect(store.damage).toEqual([]);
    expect(await allSamples(store, 'd1')).toHaveLength(samples + 2 * rowsAnEntry);
  });

  test('review reliability 2: a device that was dropped while a segment was lost does not come back with it', async () => {
    const folder = copy();
    const name = segmentsOf(folder)[1]!;
    rmSync(path(folder, 'segments', name));
    const dropping = await open(folder);
    await dropping.dropDevice('d1');
    await dropping.append(entry('d2', 1));
    await dropping.sealAll();
    dropping.setFollowerPosition('outputs', dropping.position);
    await dropping.idle();
    await dropping.close();
    copyFileSync(path(whole, 'segments', name), path(folder, 'segments', name));
    const store = await open(folder);
    expect(await allSamples(store, 'd1')).toEqual([]);
    expect(await allSamples(store, 'd2')).toHaveLength(rowsAnEntry);
  });

  test('what a crash leaves of a commit is no damage: a whole segment counts, a half goes', async () => {
    const folder = copy();
    const crashed = copy();
    const store = await open(folder);
    await store.append(entry('d2', 1));
    await store.idle();
    cpSync(path(folder, 'journal'), path(crashed, 'journal'), { recursive: true });
    await store.sealAll();
    const newest = segmentsOf(folder).at(-1)!;
    copyFileSync(path(folder, 'segments', newest), path(crashed, 'segments', newest));
    // Saved before a run counts.
    for (const name of readdirSync(path(folder, 'segments')).filter((one) =>
      one.startsWith('devices'),
    ))
      copyFileSync(path(folder, 'segments', name), path(crashed, 'segments', name));
    writeFileSync(path(crashed, 'segments', '.0000000999.segment.new'), 'half');
    const after = await open(crashed);
    expect(after.damage).toEqual([]);
    expect(await allSamples(after, 'd2')).toHaveLength(rowsAnEntry);
    expect(readdirSync(path(crashed, 'segments'))).not.toContain('.0000000999.segment.new');
  });

  const lastJournal = (folder: string) => path(folder, 'journal', journalOf(folder).at(-1)!);

  test.each([
    ['cut to half', (file: string) => truncateSync(file, statSync(file).size >> 1)],
    ['emptied', (file: string) => truncateSync(file, 0)],
    ['removed', (file: string) => rmSync(file)],
  ])(
    'review reliability 5: the end of the journal %s: numbering goes on behind what was acknowledged',
    async (_, harm) => {
      const folder = copy();
      const filling = await open(folder, {
        limits: {
          ...tiny,
          journalSegmentBytes: 1_000_000,
          rowsMax: 1_000,
          rowsToCloseAtDay: 1_000,
        },
      });
      for (let i = 0; i < 30; i++) await filling.append(entryOf('d3', [{ at: i, data: { i } }]));
      filling.setFollowerPosition('outputs', filling.position);
      await filling.idle();
      const acknowledged = filling.position;
      const crashed = copy();
      cpSync(path(folder, 'journal'), path(crashed, 'journal'), { recursive: true });
      const before = readdirSync(path(crashed, 'journal'));
      harm(lastJournal(crashed));
      expect((await verifyStore(crashed)).damage).toContainEqual(
        expect.objectContaining({ kind: 'journal' }),
      );
      const store = await open(crashed, {
        limits: {
          ...tiny,
          journalSegmentBytes: 1_000_000,
          rowsMax: 1_000,
          rowsToCloseAtDay: 1_000,
        },
      });
      expect(store.damage).toContainEqual(
        expect.objectContaining({
          reason: expect.stringMatching(/journal entries are missing from position \d+/),
        }),
      );
      expect(store.position).toBeGreaterThanOrEqual(acknowledged);
      const { position } = await store.append(entryOf('d4', [{ at: 1, data: {} }]));
      expect(position).toBeGreaterThanOrEqual(acknowledged);
      // The follower gets what is new.
      const given = await collect(store.entriesFrom(store.followerPosition('outputs')!));
      expect(given.map(({ deviceId }) => deviceId)).toEqual(['d4']);
      await store.idle();
      await store.close();
      if (!_.startsWith('removed'))
        expect(readdirSync(path(crashed, 'journal'))).toEqual(expect.arrayContaining(before));
      // Told again, and numbering does not leap a second time.
      const again = await open(crashed, {
        limits: {
          ...tiny,
          journalSegmentBytes: 1_000_000,
          rowsMax: 1_000,
          rowsToCloseAtDay: 1_000,
        },
      });
      expect(again.position).toBe(position + 1);
      expect(await allSamples(again, 'd4')).toHaveLength(1);
    },
  );

  test('review reliability 5: without the journal, what others saw is enough', async () => {
    const folder = copy();
    rmSync(path(folder, 'journal'), { recursive: true });
    const seen = { acknowledgedTo: 500, followFrom: 490 };
    expect((await verifyStore(folder, seen)).damage).toMatchObject([
      { kind: 'journal' },
      { kind: 'journal' },
    ]);
    const store = await open(folder, { seen });
    expect(store.position).toBeGreaterThanOrEqual(500);
    expect(store.followerPosition('outputs')).toBe(490);
    expect(store.damage.map(({ reason }) => reason)).toEqual([
      expect.stringMatching(/journal entries are missing from position \d+/),
      expect.stringContaining('positions of followers are missing'),
    ]);
    expect(await allSamples(store, 'd1')).toHaveLength(samples);
  });

  test('review reliability 5: what raw uplinks saw of the journal counts, and what is lost is known', async () => {
    const folder = copy();
    const before = await open(folder);
    const end = before.position;
    expect(before.isLost(0, end)).toBe(false);
    await before.close();
    const seen = { acknowledgedTo: end, followFrom: end, uplinksTo: end + 20 };
    const store = await open(folder, { seen });
    expect(store.damage).toMatchObject([
      { reason: `20 journal entries are missing from position ${end}` },
    ]);
    expect(store.position).toBeGreaterThanOrEqual(end + 20);
    expect([
      store.isLost(0, end),
      store.isLost(end, end + 1),
      store.isLost(end - 1, end + 1),
    ]).toEqual([false, true, true]);
    const { position } = await store.append(entry('d5', 1));
    expect(store.isLost(end + 20, position + 1)).toBe(false);
  });

  const newerSentence =
    /was written by a newer version \(format 9; this version supports [12]\)\. Start that version/;

  const unreleasedSentence =
    /was written by a development version before release 0\.2\.0, .*\. Set DATA_DIR/;

  test.each([
    ['review reliability 23: a manifest of a newer version', 9, newerSentence],
    ['a manifest of a development version', 1, unreleasedSentence],
    ['a manifest of a development version, which says no format,', undefined, unreleasedSentence],
  ])('%s is refused with a sentence', async (_, format, sentence) => {
    const folder = copy();
    const segments = path(folder, 'segments');
    const manifest = (await readManifest(segments)) as Manifest;
    await writeManifest(segments, { ...manifest, format } as Manifest);
    const before = readdirSync(segments);
    await expect(open(folder)).rejects.toThrow(sentence);
    await expect(verifyStore(folder)).rejects.toThrow(sentence);
    expect(readdirSync(segments)).toEqual(before);
  });

  test('review reliability 23: a segment of a newer version is refused with a sentence', async () => {
    const folder = copy();
    const file = path(folder, 'segments', segmentsOf(folder)[0]!);
    const bytes = readFileSync(file);
    const footer = bytes.subarray(-footerBytes);
    const at = bytes.length - footerBytes - footer.readUInt32LE(0);
    // The index of a run is not compressed.
    const isRun = footer.readUInt32LE(12) === runMagic;
    const stored = bytes.subarray(at, -footerBytes);
    const index = isRun ? Buffer.from(stored) : zstdDecompressSync(stored);
    const place = index.indexOf('"format":1');
    index.write('"format":9', place);
    const packed = isRun ? index : zstdCompressSync(index);
    const newFooter = Buffer.from(footer);
    newFooter.writeUInt32LE(packed.length, 0);
    newFooter.writeUInt32LE(crc32(packed), 4);
    writeFileSync(file, Buffer.concat([bytes.subarray(0, at), packed, newFooter]));
    await expect(open(folder)).rejects.toThrow(newerSentence);
    await expect(verifyStore(folder)).rejects.toThrow(newerSentence);
  });
});
