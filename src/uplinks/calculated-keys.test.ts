// Calculated keys: random streams give the same at intake, with and without memory, and when they are computed again.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Sample } from '../model/sample.ts';
import { entryOf } from '../storage/samples/conformance/sample-entries.ts';
import type { ValuesRequest } from '../storage/samples/sample-store.ts';
import { openTestSamples } from '../storage/samples/testing-samples.ts';
import { CalculatedKeys } from './calculated-keys.ts';

/** CALCULATED_STREAMS=1000 compares as many as the first comparison did. */
const streams = Number(process.env['CALCULATED_STREAMS'] ?? 25);

const keyOf = (key: string, expression: string, topic = 'default') => ({
  key,
  topic,
  expression,
  title: null,
  unit: null,
  description: null,
});
const calculatedKeys = [
  keyOf('double', 't * 2'),
  keyOf('mean', 'avgOver(double, "PT10S")'),
  keyOf('count', 'countOver(t, "PT5S")'),
  keyOf('step', 't - prev(t)'),
  keyOf('spread', 'stddevOver(step, "PT20S")'),
  keyOf('state', 'last(text, "PT3S") == "on" ? mean : null'),
  keyOf('other', 'last(key("power", "side"), "PT4S") + t'),
  keyOf('rise', 'change(power, "PT10S") ?? 0', 'side'),
];

/** Numbers from 0 to 1, the same for the same seed. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 4_294_967_296;
  };
}

function randomSample(random: () => number, at: number): Sample {
  const data: Record<string, number | string> = {};
  const isSide = random() < 0.3;
  if (isSide) data['power'] = Math.round(random() * 100);
  else {
    if (random() < 0.8) data['t'] = Math.round(random() * 1_000) / 10;
    if (random() < 0.3) data['text'] = random() < 0.5 ? 'on' : 'off';
    // Tells samples of one instant apart.
    data['n'] = random();
  }
  return { deviceId: 'd', topic: isSide ? 'side' : 'default', timestamp: at, data };
}

test('intake, intake after a restart, and recalculation give the same', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'heliograph-calculated-'));
  const store = await openTestSamples({ directory, now: () => 1 });
  try {
    const seen = new Set<string>();
    for (let stream = 1; stream <= streams; stream++) {
      const random = seeded(stream);
      const device = {
        id: `d${stream}`,
        organizationId: 'o1',
        workspaceId: 'w1',
        fields: {},
        type: { calculatedKeys },
      };
      const calculated = new CalculatedKeys({
        values: (request) => store.values(request),
        deviceOf: () => device,
        offsetsOf: () => () => 0,
      });
      let now = 1_700_000_000_000;
      for (let entry = 0; entry < 25; entry++) {
        const samples = Array.from({ length: 1 + Math.floor(random() * 4) }, () => {
          now += random() < 0.2 ? 0 : Math.floor(random() * 4_000);
          return { sample: randomSample(random, now), notes: [], metrics: {} };
        });
        const given = await calculated.calculate(device.id, samples);
        const rows = given.map(({ sample: { topic, timestamp: at, data } }) => ({
          topic,
          at,
          data,
        }));
        const journalEntry = entryOf(device.id, rows);
        await calculated.stored(journalEntry, store.append(journalEntry));
        // A device that repeats its samples changes nothing.
        if (random() < 0.2) {
          const again = await calculated.calculate(device.id, samples);
          const repeated = again.map(({ sample: { topic, timestamp: at, data } }) => ({
            topic,
            at,
            data,
          }));
          const retry = entryOf(device.id, repeated);
          const { duplicates } = await calculated.stored(retry, store.append(retry));
          expect(duplicates).toBe(samples.length);
        }
        if (random() < 0.2) calculated.forget(device.id);
      }
      const stored: Sample[] = [];
      for await (const batch of store.exportSamples({
        deviceId: device.id,
        unreadable: () => undefined,
      }))
        stored.push(...batch);
      const again: Sample[] = [];
      const anew = calculated.recalculated(device.id, calculatedKeys, [stored], 'stored');
      for await (const batch of anew) again.push(...batch);
      expect(again.map(({ data }) => data)).toEqual(stored.map(({ data }) => data));
      for (const { data } of stored) for (const key of Object.keys(data)) seen.add(key);
    }
    expect([...seen]).toEqual(expect.arrayContaining(calculatedKeys.map(({ key }) => key)));
  } finally {
    await store.close();
    rmSync(directory, { recursive: true, force: true });
  }
}, 600_000);

test('late and removed samples: memory, little memory, and the store give the same', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'heliograph-calculated-'));
  const store = await openTestSamples({ directory, now: () => 1 });
  try {
    const deviceOf = (id: string) => ({
      id,
      organizationId: 'o1',
      workspaceId: 'w1',
      fields: {},
      type: { calculatedKeys },
    });
    const stages = {
      values: (request: ValuesRequest) => store.values(request),
      deviceOf,
      offsetsOf: () => () => 0,
    };
    const [withMemory, withLittle] = [
      new CalculatedKeys(stages),
      new CalculatedKeys(stages, 4_000),
    ];
    const random = seeded(streams + 3);
    const devices = ['e1', 'e2', 'e3'];
    let now = 1_700_000_000_000;
    for (let entry = 0; entry < streams * 20; entry++) {
      const id = devices[Math.floor(random() * devices.length)] ?? 'e1';
      const late = random() < 0.3 ? Math.floor(random() * 30_000) : 0;
      const samples = Array.from({ length: 1 + Math.floor(random() * 3) }, () => {
        now += Math.floor(random() * 3_000);
        return { sample: randomSample(random, now - late), notes: [], metrics: {} };
      });
      const given = await withMemory.calculate(id, samples);
      const dataOf = (some: typeof given) => some.map(({ sample: { data } }) => data);
      const little = await withLittle.calculate(id, samples);
      expect(dataOf(little)).toEqual(dataOf(given));
      const anew = await new CalculatedKeys(stages).calculate(id, samples);
      expect(dataOf(anew)).toEqual(dataOf(given));
      const rows = given.map(({ sample: { topic, timestamp: at, data } }) => ({ topic, at, data }));
      const ranges = [{ topics: null, from: now - 20_000, to: now - 10_000 }];
      const removal = {
        ...entryOf(id, []),
        replaces: { cause: 'DELETED', ranges, workspaceId: 'w1' },
      } as const;
      const journalEntry = random() < 0.1 ? removal : entryOf(id, rows);
      const stored = withMemory.stored(journalEntry, store.append(journalEntry));
      await withLittle.stored(journalEntry, stored);
    }
  } finally {
    await store.close();
    rmSync(directory, { recursive: true, force: true });
  }
}, 600_000);

test('a device that sends more than a window counts is read once', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'heliograph-calculated-'));
  const store = await openTestSamples({ directory, now: () => 1 });
  try {
    let reads = 0;
    const stages = {
      values: (request: ValuesRequest) => store.values(request),
      deviceOf: (id: string) => ({
        id,
        organizationId: 'o1',
        workspaceId: 'w1',
        fields: {},
        type: {
          calculatedKeys: [keyOf('mean', 'avgOver(t, "PT1H")'), keyOf('step', 't - prev(t)')],
        },
      }),
      offsetsOf: () => () => 0,
    };
    const calculated = new CalculatedKeys({
      ...stages,
      values(request) {
        reads++;
        return store.values(request);
      },
    });
    const random = seeded(9);
    let now = 1_700_000_000_000;
    for (let entry = 0; entry < 400; entry++) {
      const samples = Array.from({ length: 10 }, () => ({
        sample: {
          deviceId: 'f1',
          topic: 'default',
          timestamp: (now += 100),
          data: { t: Math.round(random() * 1_000) / 10 },
        },
        notes: [],
        metrics: {},
      }));
      const given = await calculated.calculate('f1', samples);
      if (entry % 40 === 39)
        expect(given).toEqual(await new CalculatedKeys(stages).calculate('f1', samples));
      const rows = given.map(({ sample: { topic, timestamp: at, data } }) => ({ topic, at, data }));
      const journalEntry = entryOf('f1', rows);
      await calculated.stored(journalEntry, store.append(journalEntry));
    }
    expect(reads).toBe(1);
  } finally {
    await store.close();
    rmSync(directory, { recursive: true, force: true });
  }
}, 600_000);

test('a device that sends what it kept, between new samples, is read twice', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'heliograph-calculated-'));
  const store = await openTestSamples({ directory, now: () => 1 });
  try {
    let reads = 0;
    const stages = {
      values: (request: ValuesRequest) => store.values(request),
      deviceOf: (id: string) => ({
        id,
        organizationId: 'o1',
        workspaceId: 'w1',
        fields: {},
        type: {
          calculatedKeys: [keyOf('mean', 'avgOver(t, "PT1H")'), keyOf('step', 't - prev(t)')],
        },
      }),
      offsetsOf: () => () => 0,
    };
    const calculated = new CalculatedKeys({
      ...stages,
      values(request) {
        reads++;
        return store.values(request);
      },
    });
    const random = seeded(10);
    const start = 1_700_000_000_000;
    const hour = 3_600_000;
    const take = async (timestamp: number) => {
      const data = { t: Math.round(random() * 1_000) / 10 };
      const sample = { deviceId: 'k1', topic: 'default', timestamp, data };
      const given = await calculated.calculate('k1', [{ sample, notes: [], metrics: {} }]);
      expect(given).toEqual(
        await new CalculatedKeys(stages).calculate('k1', [{ sample, notes: [], metrics: {} }]),
      );
      const rows = given.map(({ sample: { topic, timestamp: at, data } }) => ({ topic, at, data }));
      const journalEntry = entryOf('k1', rows);
      await calculated.stored(journalEntry, store.append(journalEntry));
    };
    for (let n = 0; n < 100; n++) {
      await take(start + 48 * hour + n * 60_000);
      await take(start + n * 60_000);
    }
    expect(reads).toBe(2);
  } finally {
    await store.close();
    rmSync(directory, { recursive: true, force: true });
  }
}, 600_000);

test('late samples see the values of other devices', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'heliograph-calculated-'));
  const store = await openTestSamples({ directory, now: () => 1 });
  try {
    const calculated = new CalculatedKeys({
      values: (request) => store.values(request),
      deviceOf: (id) => ({
        id,
        organizationId: 'o1',
        workspaceId: 'w1',
        fields: {},
        type: { calculatedKeys: [keyOf('gap', 't - device("k2", "t", "default")')] },
      }),
      offsetsOf: () => () => 0,
    });
    await store.append(entryOf('k2', [{ topic: 'default', at: 1_000, data: { t: 4 } }]));
    const gapAt = async (timestamp: number) => {
      const sample = { deviceId: 'k1', topic: 'default', timestamp, data: { t: 10 } };
      const [given] = await calculated.calculate('k1', [{ sample, notes: [], metrics: {} }]);
      return given?.sample.data['gap'];
    };
    expect([await gapAt(9_000), await gapAt(2_000), await gapAt(500)]).toEqual([6, 6, undefined]);
  } finally {
    await store.close();
    rmSync(directory, { recursive: true, force: true });
  }
}, 600_000);
