// The limits of topics and data keys: exact at the boundary, however the samples come, and without asking the store for each.
import { expect, test } from 'vitest';
import type { JsonObject } from '../../model/json.ts';
import { keyPaths } from '../../model/sample.ts';
import { DeviceNames } from './device-names.ts';
import { validateSample } from './sample-validation.ts';

const limits = { topics: 20, dataKeys: 100 };

/** A store that has what was admitted, and counts how often it was asked. */
function bench() {
  const stored = new Map<string, Set<string>>();
  let asked = 0;
  const { admit } = new DeviceNames(limits, async () => {
    asked += 1;
    return new Map([...stored].map(([topic, names]) => [topic, new Set(names)]));
  });
  const send = async (topic: string, data: JsonObject, count = 1) => {
    const one = validateSample({ deviceId: 'd', topic, timestamp: 0, data });
    const admitted = await admit(
      'd',
      Array.from({ length: count }, () => one),
    );
    for (const { sample } of admitted) {
      const names = stored.get(sample.topic) ?? new Set();
      stored.set(sample.topic, names);
      for (const path of keyPaths(sample.data)) names.add(path);
    }
    return admitted[0]!;
  };
  const keysStored = () => [...stored.values()].reduce((sum, { size }) => sum + size, 0);
  return { send, keysStored, stored, asked: () => asked };
}

test('review security 14: exactly the limit of data keys is kept, whatever they come in', async () => {
  for (const perSample of [1, 3, 7, 60, 99, 100, 101, 500]) {
    const { send, keysStored } = bench();
    for (let next = 0; next < 250; next += perSample) {
      const data = Object.fromEntries(
        Array.from({ length: perSample }, (_, i) => [`k${next + i}`, i]),
      );
      const { sample } = await send('default', data);
      const kept = Object.keys(sample.data).length;
      const left = Object.keys((sample.meta?.svcDataKeyValidation ?? {}) as object).length;
      expect(kept + left, `${perSample} a sample`).toBe(perSample);
    }
    expect(keysStored(), `${perSample} a sample`).toBe(limits.dataKeys);
    expect((await send('default', { k0: 9 })).sample).toMatchObject({ data: { k0: 9 } });
  }
});

test('review security 14: exactly the limit of topics is kept; the topic default is always open', async () => {
  const { send, stored } = bench();
  for (let n = 0; n < 50; n++) await send(`topic${n}`, { n });
  expect(stored.size).toBe(limits.topics + 1);
  expect((await send('topic49', { n: 1 })).sample.topic).toBe('default');
  expect((await send('topic3', { n: 1 })).sample.topic).toBe('topic3');
});

test('a device with many kinds of samples asks the store seldom', async () => {
  const { send, asked } = bench();
  for (let n = 0; n < 2_000; n++) await send('default', { [`k${n % 20}`]: n });
  expect(asked()).toBeLessThan(70);
  const before = asked();
  for (let n = 0; n < 2_000; n++) await send('default', { k1: n, k2: n });
  expect(asked() - before).toBeLessThan(2);
});

test('samples that come at once ask the store once', async () => {
  const { send, asked } = bench();
  await Promise.all(Array.from({ length: 50 }, (_, n) => send('default', { n })));
  expect(asked()).toBe(1);
});

test.each([
  ['at the top', (data: JsonObject) => data],
  ['in an object', (data: JsonObject) => ({ a: { b: data } })],
])('review security 4: very many new keys %s are read and cut in many turns', async (_, nested) => {
  const { admit } = new DeviceNames({ topics: 20, dataKeys: 10_000 }, async () => new Map());
  const many = Object.fromEntries(Array.from({ length: 55_000 }, (__, i) => [`k${i}`, i]));
  const sent = validateSample({
    deviceId: 'd',
    topic: 'default',
    timestamp: 0,
    data: nested(many),
  });
  let turns = 0;
  const [admitted] = await admit('d', [sent], (work) => {
    turns += 1;
    return work();
  });
  // A millisecond each; in one turn it took 40 ms.
  expect(turns).toBeGreaterThan(50);
  const { data, meta } = admitted!.sample;
  expect(keyPaths(data)).toHaveLength(10_000);
  expect(Object.keys(meta?.svcDataKeyValidation as object).length).toBeGreaterThan(10);
  expect(keyPaths(sent.sample.data)).toHaveLength(55_000);
});
