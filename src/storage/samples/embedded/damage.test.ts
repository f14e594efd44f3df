// Files cut short or with one bit flipped, at random places: detected, the rest readable, never wrong data, never a start that fails.
// More than the usual 20 cases: CASES=5000 npx vitest run src/storage/samples/embedded/damage.test.ts
import {
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
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Random, randomStream } from '../conformance/random-entries.ts';
import type { Sample } from '../../../model/sample.ts';
import { allSamples, entryOf, samplesOfRuns } from '../conformance/sample-entries.ts';
import { openTestSamples } from '../testing-samples.ts';
import type { StoreLimits } from './store-limits.ts';
import { verifyStore } from './store-loader.ts';

const cases = Number(process.env['CASES'] ?? 20);
const tiny: Partial<StoreLimits> = {
  rowsToCloseAtDay: 30,
  rowsMax: 60,
  segmentBytes: 20_000,
  segmentsToMerge: 3,
  lastRowsMin: 2,
};
describe.each<[string, Partial<StoreLimits>]>([
  ['runs of many devices', {}],
  ['chunks of one device', { chunkRowsMin: 1 }],
])('%s', (_, ofKind) => {
  const devices = ['d1', 'd2', 'd3'];
  const root = mkdtempSync(join(tmpdir(), 'damage-'));
  const live = join(root, 'live');
  const sound = join(root, 'sound');
  /** Every sample that was stored, as text, by device. */
  const known = new Map<string, Set<string>>();

  const textOf = (sample: object): string => JSON.stringify(sample);
  function textWithoutMeta(text: string): string {
    const { meta: _, ...sample } = JSON.parse(text) as Sample;
    return textOf(sample);
  }

  beforeAll(async () => {
    const store = await openTestSamples({
      directory: live,
      now: () => 1,
      limits: { ...tiny, ...ofKind },
    });
    for (const [i, device] of devices.entries()) {
      for (const entry of randomStream(new Random(i + 11), 150))
        await store.append(entryOf(device, entry));
      if (i < 2) await store.sealAll();
    }
    store.setFollowerPosition('rules', store.position);
    for (const device of devices)
      known.set(device, new Set((await allSamples(store, device)).map(textOf)));
    await store.idle();
    // The folder as a crash leaves it: not closed, with rows in the journal alone.
    cpSync(live, sound, { recursive: true });
    await store.close();
  });

  afterAll(() => rmSync(root, { recursive: true }));

  function filesOf(folder: string): string[] {
    return (
      readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && entry.name !== 'reserve')
        .map((entry) => join(entry.parentPath, entry.name))
        // An empty file can neither be cut nor flipped.
        .filter((path) => statSync(path).size > 0)
        .sort()
    );
  }

  /** Cuts the file or flips a bit; says what was done. */
  function harm(folder: string, random: Random): string {
    const path = random.pick(filesOf(folder));
    const { size } = statSync(path);
    const place = random.below(Math.max(1, size));
    if (random.below(2) === 0) {
      truncateSync(path, place);
      return `${basename(path)} of ${size} bytes cut to ${place}`;
    }
    const bytes = readFileSync(path);
    bytes[place]! ^= 1 << random.below(8);
    writeFileSync(path, bytes);
    return `${basename(path)}: bit flipped in byte ${place} of ${size}`;
  }

  test('the sound folder is found sound', async () => {
    const findings = await verifyStore(sound);
    expect(findings).toMatchObject({ damage: [], tornBytes: 0 });
    expect(findings.segments).toBeGreaterThan(1);
    expect(findings.sealedSamples).toBeGreaterThan(300);
    expect(findings.journalEntries).toBeGreaterThan(100);
  });

  test.each(Array.from({ length: Math.ceil(cases / 10) }, (_, i) => i))(
    'figures: 10 harmed files from %i times 10',
    { timeout: 240_000 },
    async (group) => {
      for (let seed = group * 10 + 1; seed <= group * 10 + 10; seed++) {
        const folder = join(root, `case-${seed}`);
        cpSync(sound, folder, { recursive: true });
        const what = harm(folder, new Random(seed * 31));
        const verified = await verifyStore(folder);
        // Twice: the first start repairs what it may, the second must find a folder it can start
        // from.
        for (const round of ['first', 'second']) {
          const store = await openTestSamples({
            directory: folder,
            now: () => 1,
            limits: { ...tiny, ...ofKind },
          });
          let missing = 0;
          for (const device of devices) {
            const read = (await allSamples(store, device)).map(textOf);
            const invented = read.filter((text) => !known.get(device)!.has(text));
            expect(invented, `${what}, ${round} start`).toEqual([]);
            expect(new Set(read).size, `${what}: a sample twice`).toBe(read.length);
            const columns = await samplesOfRuns(device, store.exportColumns({ deviceId: device }));
            const wanted = new Set([...known.get(device)!].map(textWithoutMeta));
            const others = columns.map(textOf).filter((text) => !wanted.has(text));
            expect(others, `${what}, ${round} start`).toEqual([]);
            missing += known.get(device)!.size - Math.min(read.length, columns.length);
          }
          const told = store.damage.length + store.tornBytes;
          if (missing > 0 && round === 'first') {
            expect(told, `${what}: ${missing} missing`).toBeGreaterThan(0);
            expect(
              verified.damage.length + verified.tornBytes,
              `${what}: not verified`,
            ).toBeGreaterThan(0);
          }
          await store.append(entryOf('fresh', [{ at: seed, data: { round } }]));
          expect(await allSamples(store, 'fresh')).toHaveLength(round === 'first' ? 1 : 2);
          await store.close();
        }
        rmSync(folder, { recursive: true });
      }
    },
  );
});
