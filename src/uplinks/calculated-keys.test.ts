// Calculated keys: random streams give the same at intake, with and without memory, and when they are computed again.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Sample } from '../model/sample.ts';
import { entryOf } from '../storage/samples/conformance/sample-entries.ts';
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
      const device = { id: `d${stream}`, workspaceId: 'w1', fields: {}, type: { calculatedKeys } };
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
