// Recalculations: random streams equal, after a recalculation in pieces, what intake makes of them, also while samples come.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { UplinkRoute } from '../inventory/devices/uplink-route-cache.ts';
import type { CalculatedKey } from '../model/device-type.ts';
import type { Sample } from '../model/sample.ts';
import type { RecalculationPlace } from '../model/sample-changes.ts';
import { entryOf } from '../storage/samples/conformance/sample-entries.ts';
import { openTestSamples } from '../storage/samples/testing-samples.ts';
import { CalculatedKeys } from './calculated-keys.ts';
import { testingStages } from './testing-stages.ts';
import { Replacements } from './sample-changes.ts';
import { Recalculations } from './recalculation.ts';

/** RECALCULATED_STREAMS=1000 compares as many as the first comparison did. */
const streams = Number(process.env['RECALCULATED_STREAMS'] ?? 10);

const keyOf = (key: string, expression: string, topic = 'default'): CalculatedKey => ({
  key,
  topic,
  expression,
  title: null,
  unit: null,
  description: null,
});
const oldKeys = [
  keyOf('double', 't * 2'),
  keyOf('mean', 'avgOver(double, "PT10S")'),
  keyOf('rise', 'change(power, "PT10S") ?? 0', 'side'),
];
const newKeys = [
  keyOf('double', 't > 20 ? t * 3 : null'),
  keyOf('mean', 'avgOver(double, "PT20S")'),
  keyOf('step', 'mean - prev(mean)'),
  keyOf('total', 'sumOver(step, "PT30S")'),
  keyOf('rise', 'change(power, "PT5S") ?? 1', 'side'),
  keyOf('other', 'last(key("power", "side"), "PT4S") + t'),
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
  const isSide = random() < 0.3;
  // Tells samples of one instant apart.
  const data: Record<string, number> = { n: random() };
  if (isSide) data['power'] = Math.round(random() * 100);
  else if (random() < 0.8) data['t'] = Math.round(random() * 1_000) / 10;
  return { deviceId: 'd', topic: isSide ? 'side' : 'default', timestamp: at, data };
}

test('stored samples equal those of an intake with the new keys', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'heliograph-recalculated-'));
  const store = await openTestSamples({ directory, now: () => 1 });
  try {
    const types = new Map<string, { calculatedKeys: readonly CalculatedKey[] }>();
    const calculated = new CalculatedKeys({
      values: (request) => store.values(request),
      deviceOf: (id) => ({
        id,
        organizationId: 'o1',
        workspaceId: 'w1',
        fields: {},
        type: types.get(id) ?? null,
      }),
      offsetsOf: () => () => 0,
    });
    const keep = async (deviceId: string, samples: readonly Sample[]) => {
      const validated = samples.map((sample) => ({ sample, notes: [], metrics: {} }));
      const computed = await calculated.calculate(deviceId, validated);
      const entry = entryOf(
        deviceId,
        computed.map(({ sample: { topic, timestamp: at, data } }) => ({ topic, at, data })),
      );
      return calculated.stored(entry, store.append(entry));
    };
    const dataOf = async (deviceId: string) => {
      const rows: unknown[] = [];
      for await (const batch of store.exportSamples({ deviceId, unreadable: () => undefined }))
        rows.push(...batch.map(({ topic, timestamp, data }) => ({ topic, timestamp, data })));
      return rows;
    };
    const followers = { announce: () => undefined, announceRows: () => undefined };
    const stages = testingStages(store, followers, 1, undefined, calculated);
    const routeOf = (id: string) =>
      ({
        device: { id, organizationId: 'o1', workspaceId: 'w1' },
        flow: { id: 'f1' },
        type: { id: 't1', ...types.get(id) },
      }) as unknown as UplinkRoute;
    const recalculations = new Recalculations(
      new Replacements(routeOf, store, stages, 7),
      calculated,
      async () => ({ uplinks: [], total: 0 }),
      async () => ({ samples: [], notes: [] }),
    );
    for (let stream = 1; stream <= streams; stream++) {
      const random = seeded(stream);
      const [device, reference] = [`d${stream}`, `r${stream}`];
      types.set(device, { calculatedKeys: oldKeys });
      types.set(reference, { calculatedKeys: newKeys });
      let now = 1_700_000_000_000;
      const send = async () => {
        const samples = Array.from({ length: 1 + Math.floor(random() * 4) }, () => {
          now += random() < 0.2 ? 0 : Math.floor(random() * 4_000);
          return randomSample(random, now);
        });
        await keep(device, samples);
        await keep(reference, samples);
      };
      for (let entry = 0; entry < 20; entry++) await send();
      types.set(device, { calculatedKeys: newKeys });
      const recalculation = {
        deviceTypeId: 't1',
        source: 'SAMPLES',
        from: null,
        to: null,
      } as const;
      const run = async (place: RecalculationPlace | null) =>
        recalculations.recalculate({ deviceId: device, recalculation, place });
      let place: RecalculationPlace | null = null;
      let pieces = 0;
      let samples = 0;
      for (;;) {
        const sending = random() < 0.3 && pieces < 10 ? send() : undefined;
        const done = await run(place);
        await sending;
        samples += done.samples;
        pieces += 1;
        if (done.next === null) break;
        // A restart begins again.
        place = random() < 0.05 ? null : done.next;
      }
      expect(pieces).toBeGreaterThan(3);
      expect(samples).toBeGreaterThan(0);
      expect(await dataOf(device)).toEqual(await dataOf(reference));
      expect((await run(null)).samples).toBe(0);
    }
  } finally {
    await store.close();
    rmSync(directory, { recursive: true, force: true });
  }
}, 600_000);
