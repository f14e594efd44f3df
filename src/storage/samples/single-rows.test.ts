// Entries of one sample in flight: repetitions, late samples and failing disks among many of one turn.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { ShapeInterner } from '../log/data-shape.ts';
import { type Disk, realDisk } from '../log/durable-file.ts';
import { EntryLog } from '../log/entry-log.ts';
import type { DurableEntry, JournalEntry } from '../../model/journal-entry.ts';
import { allSamples, entryOf, type Given } from './conformance/sample-entries.ts';
import { openEmbeddedStore } from './embedded/embedded-store.ts';
import { SampleIntake } from './samples.ts';
import { openTestSamples } from './testing-samples.ts';

const root = mkdtempSync(join(tmpdir(), 'heliograph-single-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let folders = 0;
const folder = (): string => join(root, String(++folders));

const sent = fc.record({
  device: fc.constantFrom('d0', 'd1', 'd2'),
  at: fc.integer({ min: 0, max: 6 }),
  n: fc.integer({ min: 0, max: 1 }),
  topic: fc.constantFrom('default', 'default', 'side'),
  kind: fc.constantFrom('plain', 'plain', 'plain', 'note', 'meta', 'hidden', 'pair'),
});
type Sent = typeof sent extends fc.Arbitrary<infer T> ? T : never;

function samplesOf({ at, n, topic, kind }: Sent): Given[] {
  const sample = { at, data: { n, label: `l${n}` }, topic };
  if (kind === 'pair') return [sample, { ...sample, at: at + 1 }];
  if (kind === 'meta') return [{ ...sample, meta: { why: 1 } }];
  return [{ ...sample, stored: kind !== 'hidden' }];
}

function sentEntry(one: Sent): JournalEntry {
  const { device: deviceId } = one;
  const note = { id: 'n', deviceId, timestamp: 1, correlationId: 'c', source: 'SCRIPT' } as const;
  const notes = [{ ...note, level: 'INFO', code: 'emitted', message: 'm', details: {} } as never];
  return entryOf(deviceId, samplesOf(one), one.kind === 'note' ? { notes } : {});
}

/** The same for every way to keep rows: which samples are new is decided in the order of the calls. */
function expected(all: readonly Sent[]): { duplicates: number[]; stored: Map<string, number> } {
  const stored = new Map<string, number>();
  const known = new Set<string>();
  const duplicates = all.map((one) => {
    const fresh = samplesOf(one).filter(({ at, data, topic, stored: isStored }) => {
      const name = JSON.stringify([one.device, topic, at, data]);
      if (isStored === false) return true;
      if (known.has(name)) return false;
      known.add(name);
      stored.set(one.device, (stored.get(one.device) ?? 0) + 1);
      return true;
    });
    return samplesOf(one).length - fresh.length;
  });
  return { duplicates, stored };
}

test('property: entries of some turns are answered and stored as one after the other', async () => {
  // Most samples are later than those of the turn before.
  const turns = fc
    .array(fc.array(sent, { minLength: 1, maxLength: 14 }), { maxLength: 6 })
    .map((all) => all.map((turn, i) => turn.map((one) => ({ ...one, at: one.at + 5 * i }))));
  await fc.assert(
    fc.asyncProperty(turns, async (all) => {
      const limits = { memtableRowsMax: 9, chunkRowsMin: 8 };
      const store = await openTestSamples({ directory: folder(), now: () => 5, limits });
      const settled: DurableEntry[] = [];
      const answers: Promise<DurableEntry>[] = [];
      for (const turn of all) {
        for (const one of turn) {
          const answer = store.append(sentEntry(one));
          answers.push(answer);
          void answer.then((entry) => settled.push(entry));
        }
        // Some turns share a sync, and others do not.
        if (turn.length % 2 === 0) await answers.at(-1);
        else await new Promise((resolve) => setImmediate(resolve));
      }
      const entries = await Promise.all(answers);
      const { duplicates, stored } = expected(all.flat());
      expect(entries.map((entry) => entry.duplicates)).toEqual(duplicates);
      for (const [i, one] of all.flat().entries()) {
        const { samples, deviceId } = entries[i]!;
        expect(deviceId).toBe(one.device);
        for (const { data, topic } of samples)
          expect([data, topic]).toEqual([{ n: one.n, label: `l${one.n}` }, one.topic]);
      }
      // In the order of the journal, but for those that wait for what they repeat.
      const positions = settled.filter((e) => e.duplicates === 0).map((e) => e.position);
      expect(positions).toEqual(positions.toSorted((a, b) => a - b));
      for (const [device, count] of stored)
        expect(await allSamples(store, device)).toHaveLength(count);
      await store.close();
    }),
    { numRuns: 25 },
  );
}, 240_000);

test('an entry takes the short way behind others of its device that are in flight and did not', async () => {
  const store = await openTestSamples({ directory: folder(), now: () => 5 });
  const send = (at: number, meta?: { why: number }) =>
    store.append(entryOf('d1', [{ at, data: { n: at }, ...(meta && { meta }) }]));
  // With it the device gets a number.
  await send(1);
  const given = [send(10, { why: 1 }), send(11), send(12), send(7), send(13), send(12), send(14)];
  const entries = await Promise.all(given);
  // The samples of an entry of the short way are created when they are first read.
  const isShort = entries.map((entry) => !Object.hasOwn(entry, 'samples'));
  expect(isShort).toEqual([false, true, true, false, true, false, false]);
  expect(entries.map(({ duplicates }) => duplicates)).toEqual([0, 0, 0, 0, 0, 1, 0]);
  const read = await allSamples(store, 'd1');
  expect(read.map(({ timestamp }) => timestamp)).toEqual([14, 13, 12, 11, 10, 7, 1]);
  await store.close();
});

/** An intake on a disk that refuses while `failing` is set. */
async function intakeOnFailingDisk() {
  const directory = folder();
  const failing: { code?: string } = {};
  const disk: Disk = {
    ...realDisk,
    write: async (fd, bytes, offset) => {
      if (failing.code === undefined) return realDisk.write(fd, bytes, offset);
      throw Object.assign(new Error('refused'), { code: failing.code });
    },
  };
  const shapes = new ShapeInterner();
  const damaged = (): void => undefined;
  const failed = damaged;
  const common = { shapes, damaged, failed };
  const committed = (): Promise<void> => Promise.resolve();
  const opened = { ...common, directory: join(directory, 's'), logStart: undefined, committed };
  const store = await openEmbeddedStore(opened);
  const logOptions = { segmentBytes: 1e6, replayFrom: 0, replay: () => undefined, now: () => 5 };
  const log = await EntryLog.open({ ...common, ...logOptions, directory, disk });
  return { failing, store, intake: new SampleIntake(log, shapes, store) };
}

test('a disk that refuses loses entries in flight with their repetitions, which can be sent again', async () => {
  const { failing, store, intake } = await intakeOnFailingDisk();
  const at = (time: number, n = 1): JournalEntry => entryOf('d1', [{ at: time, data: { n } }]);
  await intake.append(at(1));
  failing.code = 'ENOSPC';
  // In flight, a later one, a repetition of each, and a late one.
  const sending = [at(5), at(6), at(5), at(6), at(4)].map((entry) => intake.append(entry));
  const outcomes = await Promise.allSettled(sending);
  expect(outcomes.map((o) => o.status === 'rejected' && o.reason.problem)).toEqual(
    sending.map(() => 'storageFull'),
  );
  await intake.idle();
  delete failing.code;
  const again = await Promise.all([at(5), at(6), at(5), at(4)].map((e) => intake.append(e)));
  expect(again.map(({ duplicates }) => duplicates)).toEqual([0, 0, 1, 0]);
  const { samples } = await store.samples({ deviceId: 'd1', limit: 9, skip: 0 });
  expect(samples.map(({ timestamp }) => timestamp)).toEqual([6, 5, 4, 1]);
  await store.close();
});

test('samples of a device that is dropped while they are in flight are gone, and what follows is not', async () => {
  const store = await openTestSamples({ directory: folder(), now: () => 5 });
  const entry = (time: number): JournalEntry => entryOf('d1', [{ at: time, data: { n: 1 } }]);
  await store.append(entry(1));
  const before = store.append(entry(2));
  const dropped = store.dropDevice('d1');
  const after = store.append(entry(2));
  expect((await before).duplicates).toBe(0);
  expect((await after).duplicates).toBe(0);
  await dropped;
  expect((await allSamples(store, 'd1')).map(({ timestamp }) => timestamp)).toEqual([2]);
  await store.close();
});
