// Reading in parts finds what reading all of it finds, wherever a part ends.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Sample } from '../../model/sample.ts';
import type { SampleExportPlan } from '../../model/sample-export.ts';
import type { ExportProgress } from './export-file.ts';
import { type LineSources, nextLines } from './next-lines.ts';

const plan: SampleExportPlan = {
  format: 'ndjson',
  from: null,
  to: 1_000,
  topics: null,
  keys: null,
  deviceIds: null,
  tagIds: null,
};
const atStart: ExportProgress = { cursor: null, devices: 0, samples: 0, unreadable: 0 };

/** Samples of each device in order of time, in batches, and devices in pages of two. */
function sourcesOf(devices: readonly (readonly number[])[], batch: number): LineSources {
  const known = devices.map((times, i) => {
    const deviceId = `d${String(i).padStart(3, '0')}`;
    const samples = times
      .toSorted((a, b) => a - b)
      .map((timestamp, n): Sample => ({ deviceId, topic: 'default', timestamp, data: { n } }));
    return { id: deviceId, name: deviceId, samples };
  });
  return {
    async nextDevices(cursor) {
      const isNext = (id: string) =>
        cursor === null ||
        id > cursor.deviceId ||
        (cursor.behind !== null && id === cursor.deviceId);
      const page = known.filter(({ id }) => isNext(id)).slice(0, 2);
      return { devices: page, through: page.at(-1)?.id ?? '', isLast: page.length < 2 };
    },
    async *samplesOf({ deviceId, from = Number.NEGATIVE_INFINITY, to }) {
      const { samples = [] } = known.find(({ id }) => id === deviceId) ?? {};
      const found = samples.filter(({ timestamp }) => timestamp >= from && timestamp < to);
      for (let i = 0; i < found.length; i += batch) yield found.slice(i, i + batch);
    },
  };
}

test('parts of any size contain each sample once, in order', async () => {
  const times = fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 20 });
  const property = fc.asyncProperty(
    fc.array(times, { maxLength: 7 }),
    fc.integer({ min: 1, max: 5 }),
    fc.integer({ min: 1, max: 900 }),
    fc.integer({ min: 1, max: 4 }),
    async (devices, batch, charactersMax, devicesMax) => {
      const sources = sourcesOf(devices, batch);
      const whole = await nextLines(plan, atStart, sources);
      let [lines, progress, isLast] = ['', atStart, false];
      for (let part = 0; !isLast; part++) {
        // A restart keeps nothing but what was stored.
        const stored = JSON.parse(JSON.stringify(progress)) as ExportProgress;
        const next = await nextLines(plan, stored, sources, { charactersMax, devicesMax });
        [lines, progress, isLast] = [lines + next.lines, next.progress, next.isLast];
        expect(part).toBeLessThan(1_000);
      }
      expect(lines).toBe(whole.lines);
      expect(progress).toMatchObject({ devices: devices.length, samples: devices.flat().length });
    },
  );
  await fc.assert(property, { numRuns: 300 });
});

test('devices whose samples cannot be read are counted once', async () => {
  const sources = sourcesOf([[1, 2, 3], [4]], 1);
  const damaged: LineSources = {
    ...sources,
    samplesOf(range) {
      if (range.deviceId === 'd000') range.unreadable();
      return sources.samplesOf(range);
    },
  };
  let [progress, isLast] = [atStart, false];
  while (!isLast)
    ({ progress, isLast } = await nextLines(plan, progress, damaged, {
      charactersMax: 1,
      devicesMax: 1,
    }));
  expect(progress.unreadable).toBe(1);
});
