// Format of journal entries: what was written is read again, also after harm.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readEncodings } from '../../model/payload.ts';
import type { DurableEntry, JournalEntry } from '../../model/journal-entry.ts';
import type { Replacement } from '../../model/sample-changes.ts';
import type { Json, JsonObject } from '../../model/json.ts';
import { Random, randomStream } from '../samples/conformance/random-entries.ts';
import { collect, entryOf } from '../samples/conformance/sample-entries.ts';
import { ShapeInterner, LeafValues } from './data-shape.ts';
import { EntryLog, type EntryLogOptions } from './entry-log.ts';
import { dataOfRows, type ReadEntry } from './logged-entry.ts';
import { entriesWithEverything } from './testing-entries.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'entry-formats-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

const storedAt = Date.UTC(2026, 10, 21, 8, 0, 1);

function open(more: Partial<EntryLogOptions> = {}): Promise<EntryLog> {
  let now = storedAt;
  return EntryLog.open({
    directory,
    now: () => now++,
    shapes: new ShapeInterner(),
    replayFrom: 0,
    replay: () => undefined,
    damaged: ({ reason }) => expect.fail(reason),
    failed: (error) => expect.fail(String(error)),
    segmentBytes: 1024 * 1024,
    ...more,
  });
}

/** Appends as sample intakes do; `i` is the number of duplicates and gives the order. */
function append(log: EntryLog, entry: JournalEntry, i: number): Promise<void> {
  const interner = new ShapeInterner();
  const values = new LeafValues();
  const shapes = entry.samples.map(({ data }) => interner.shapeOf(data, values, undefined));
  const rows = { samples: entry.samples, shapes, values };
  return log.append({ entry, rows, duplicates: i, firstOrder: i * 300 }).durable;
}

/** The entry as followers get it; JSON has no undefined members and no negative zero. */
function durable(entry: JournalEntry, position: number): DurableEntry {
  const samples = entry.samples.map((sample, i) => ({
    ...sample,
    storedAt: storedAt + position,
    cursor: String(position).padStart(14, '0') + String(i + 1).padStart(6, '0'),
  }));
  return { ...entry, position, samples, duplicates: position };
}

function expectLogged(logged: readonly ReadEntry[], entries: readonly JournalEntry[]): void {
  for (const [i, { firstOrder, rows }] of logged.entries()) {
    const { samples } = entries[i]!;
    expect(firstOrder).toBe(i * 300);
    expect([...dataOfRows(rows)]).toEqual(samples.map(({ data }) => data));
    expect(rows.samples).toMatchObject(
      samples.map(({ topic, timestamp, workspaceId, dataFlowId, stored, meta }) => ({
        topic,
        timestamp,
        workspaceId,
        dataFlowId,
        stored,
        ...(meta && { meta }),
      })),
    );
  }
}

function randomJson(random: Random, depth = 0): Json {
  const kinds: (() => Json)[] = [
    () => random.pick([0, -1, 3.25, 1e300, 2 ** 53, -0.1, 1e-7]),
    () => random.pick(['', 'a', 'Grüße', '\ud800', '"', 'x'.repeat(60), '0200000000000001']),
    () => random.pick([true, false, null]),
  ];
  if (depth < 3) {
    kinds.push(
      () => Array.from({ length: random.below(3) }, () => randomJson(random, depth + 1)),
      () => randomObject(random, depth + 1),
    );
  }
  return random.pick(kinds)();
}

function randomObject(random: Random, depth = 0): JsonObject {
  const keys = Array.from({ length: random.below(5) }, () =>
    random.pick(['a', 'b', 'data', 'ä', '1', 'deviceId', '']),
  );
  return Object.fromEntries(keys.map((key) => [key, randomJson(random, depth)]));
}

const someOf = <T extends object>(random: Random, record: T): Partial<T> =>
  Object.fromEntries(Object.entries(record).filter(() => random.below(2) === 0)) as Partial<T>;

const randomId = (random: Random): string =>
  random.pick([
    '0200000000000001',
    '020000000000000A',
    'a0b1c2d3-e4f5-4a6b-8c7d-9e0f1a2b3c4d',
    'a0b1c2d3-e4f5-4a6b-8c7d-9e0f1a2b3c4D',
    'a0b1c2d3_e4f5_4a6b_8c7d_9e0f1a2b3c4d',
    'job 7',
    '',
    'ü'.repeat(20),
  ]);
const randomNumber = (random: Random): number =>
  random.pick([0, 1, -1, 63, -64, 300, 1.5, -2.25, 2 ** 31, 2 ** 40, -(2 ** 49), 2 ** 52, 1e200]);

function randomReplacement(random: Random): Replacement {
  const range = { topics: random.pick([null, [], ['a', 'ü']]), from: -5, to: randomNumber(random) };
  const before = random.below(2) === 0 && { before: { order: 3, position: 2 ** 40 } };
  return { cause: 'DELETED', workspaceId: 'w', ranges: [range], ...before };
}

function randomEntry(random: Random): JournalEntry {
  const deviceId = randomId(random);
  const [given = []] = randomStream(random, 1);
  const number = () => randomNumber(random);
  const data = randomObject(random);
  const base = entryOf(deviceId, random.below(4) === 0 ? [] : given);
  const samples = base.samples.map((sample) => ({
    ...sample,
    correlationId: randomId(random),
    data: random.below(3) === 0 ? data : sample.data,
  }));
  const radio = { uplinkSize: number(), latitude: number(), snr: number(), sqiTimestamp: number() };
  const raw = {
    topic: random.pick([null, '', 'a topic']),
    timestamp: random.pick([null, number()]),
    body: random.pick([data, samples[0]?.data ?? data, [randomJson(random)]]),
    bodyBytes: number(),
    ...(random.below(2) === 0 && { metrics: someOf(random, radio) }),
    ...someOf(random, { encoding: random.pick([...readEncodings]), payloadHex: '00ff' }),
  };
  const times = { dataReceived: number(), processingStart: number(), processingEnd: number() };
  const scripted = { scriptRunUplinkStart: number(), scriptRunUplinkEnd: number() };
  const trace = {
    duplicateKey: randomId(random),
    raw,
    times: { ...times, ...(random.below(2) === 0 && scripted) },
    ruleHops: 1,
    rulesSkipped: true as const,
  };
  const note = { id: 'n', level: 'WARN' as const, source: 'RULE' as const, message: 'm' };
  const notes = [{ ...note, deviceId, timestamp: number(), correlationId: randomId(random) }];
  const uplink = { uplinkId: randomId(random), deviceId: randomId(random), timestamp: number() };
  return {
    ...base,
    receivedAt: number(),
    samples,
    notes: random.below(3) === 0 ? notes : [],
    ...(random.below(3) > 0 && {
      metrics: { ...uplink, uplinkSize: 1, ...someOf(random, radio) },
      trace: someOf(random, trace),
    }),
    ...(random.below(4) === 0 && { state: randomObject(random) }),
    ...(random.below(4) === 0 && { replaces: randomReplacement(random) }),
  };
}

const runs = Number(process.env['RUNS'] ?? 20);

test('any entry is read as it was written, in the same run and after a restart', async () => {
  for (let seed = 1; seed <= runs; seed++) {
    const random = new Random(seed);
    const folder = join(directory, String(seed));
    const log = await open({ directory: folder, segmentBytes: 8_000 });
    const entries = Array.from({ length: 1 + random.below(60) }, () => randomEntry(random));
    const appended = entries.map((entry, i) => append(log, entry, i));
    await Promise.all(appended);
    const expected = JSON.parse(JSON.stringify(entries.map(durable))) as DurableEntry[];
    const first = await collect(log.entriesFrom(0));
    await log.close();
    const replayed: ReadEntry[] = [];
    const again = await open({
      directory: folder,
      replay: (found) => void replayed.push(...found),
    });
    const second = await collect(again.entriesFrom(0));
    await again.close();
    for (const read of [first, second])
      expect(JSON.parse(JSON.stringify(read)), `seed ${seed}`).toEqual(expected);
    expectLogged(replayed, expected);
  }
});

const keysOf = (entries: readonly DurableEntry[]) =>
  entries.flatMap(({ receivedAt, trace }) =>
    trace?.duplicateKey === undefined ? [] : [{ duplicateKey: trace.duplicateKey, receivedAt }],
  );

test('speed 1: keys are read behind any rows as whole entries have them', async () => {
  const random = new Random(11);
  const log = await open({ segmentBytes: 8_000 });
  const entries = [
    ...entriesWithEverything,
    ...Array.from({ length: 300 }, () => randomEntry(random)),
  ];
  await Promise.all(entries.map((entry, i) => append(log, entry, i)));
  const expected = keysOf(await collect(log.entriesFrom(0)));
  expect(expected.length).toBeGreaterThan(60);
  expect(await collect(log.duplicateKeysFrom(0))).toEqual(expected);
  expect(await collect(log.duplicateKeysFrom(entries.length))).toEqual(
    keysOf(await collect(log.entriesFrom(entries.length))),
  );
  await log.close();
});

test('after harm to a file the other blocks are read, and never anything that was not written', async () => {
  const log = await open({ segmentBytes: 150_000 });
  const random = new Random(7);
  const entries: JournalEntry[] = [];
  for (let group = 0; group < 12; group++) {
    const some = Array.from({ length: 1 + random.below(150) }, () => randomEntry(random));
    await Promise.all(some.map((entry, i) => append(log, entry, entries.length + i)));
    entries.push(...some);
  }
  const written = new Map<number, string>();
  for (const entry of await collect(log.entriesFrom(0)))
    written.set(entry.position, JSON.stringify(entry));
  await log.close();
  expect(written.size).toBe(entries.length);
  const files = readdirSync(directory).filter((name) => name.endsWith('.journal'));
  for (let i = 0; i < runs; i++) {
    const path = join(directory, random.pick(files));
    const sound = readFileSync(path);
    const harmed = Buffer.from(sound);
    const at = random.below(sound.length);
    if (i % 2 === 0) harmed[at]! ^= 1 << random.below(8);
    else harmed.fill(0, at, Math.min(sound.length, at + random.below(5_000)));
    writeFileSync(path, harmed);
    let told = 0;
    const again = await open({
      damaged: () => void told++,
      seen: { acknowledgedTo: entries.length, followFrom: 0 },
    });
    const read = await collect(again.entriesFrom(0));
    for (const entry of read) expect(JSON.stringify(entry)).toBe(written.get(entry.position));
    if (read.length < entries.length) expect(told).toBeGreaterThan(0);
    // The harmed block, and at most the next one that the zeros reach, is at most so long.
    expect(read.length).toBeGreaterThan(entries.length / 3);
    await again.close();
    for (const name of readdirSync(directory))
      if (!files.includes(name)) rmSync(join(directory, name));
    writeFileSync(path, sound);
  }
});
