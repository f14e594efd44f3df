// Reading in parts finds what reading all of it finds, wherever a part ends.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Sample } from '../../model/sample.ts';
import type { SampleExportPlan } from '../../model/operation.ts';
import {
  type DevicePage,
  type ExportProgress,
  type PartLimits,
  readPart,
  type ReadRange,
} from './export-file.ts';
import { PartColumnsContent } from './part-columns.ts';
import { PartLinesContent } from './sample-lines.ts';
import { addPart } from './value-columns.ts';
import { ShapeInterner } from '../../storage/log/data-shape.ts';
import { runsOfSamples } from '../../storage/samples/value-batches.ts';

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

interface Sources {
  readonly nextDevices: (cursor: ExportProgress['cursor']) => Promise<DevicePage>;
  readonly exportSamples: (range: ReadRange) => AsyncIterable<readonly Sample[]>;
}

/** Samples of each device in order of time, in batches, and devices in pages of two. */
function sourcesOf(devices: readonly (readonly number[])[], batch: number): Sources {
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
    async *exportSamples({ deviceId, from = Number.NEGATIVE_INFINITY, to }) {
      const { samples = [] } = known.find(({ id }) => id === deviceId) ?? {};
      const found = samples.filter(({ timestamp }) => timestamp >= from && timestamp < to);
      for (let i = 0; i < found.length; i += batch) yield found.slice(i, i + batch);
    },
  };
}

type Read = (
  sources: Sources,
  progress: ExportProgress,
  limits?: PartLimits,
) => Promise<{ rows: unknown[]; samples: number; progress: ExportProgress; isLast: boolean }>;

const readLines: Read = async (sources, progress, limits) => {
  const content = new PartLinesContent(sources, plan);
  const reached = await readPart(plan, progress, sources.nextDevices, content, limits);
  const { lines, samples } = content.content();
  return { ...reached, rows: lines.split('\n').slice(0, -1), samples };
};

const readColumns: Read = async (sources, progress, limits) => {
  const shapes = new ShapeInterner();
  const content = new PartColumnsContent(
    {
      async *exportColumns(range) {
        for await (const batch of sources.exportSamples(range)) yield runsOfSamples(batch, shapes);
      },
    },
    plan,
  );
  const reached = await readPart(plan, progress, sources.nextDevices, content, limits);
  const rows: unknown[] = [];
  const samples = addPart(content.content(), 3, ({ length, times, numbers, deviceIds }) => {
    const ids = deviceIds.runs.flatMap((run) =>
      Array.from({ length: run.rows }, () => deviceIds.dictionary.texts[run.id]),
    );
    for (let i = 0; i < length; i++) rows.push([ids[i], times.values[i], numbers.values[i]]);
  });
  return { ...reached, rows, samples };
};

test.each([
  ['lines', readLines],
  ['columns', readColumns],
])('parts of any size contain each sample once, in order, as %s', async (_, read) => {
  const times = fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 20 });
  const property = fc.asyncProperty(
    fc.array(times, { maxLength: 7 }),
    fc.integer({ min: 1, max: 5 }),
    fc.integer({ min: 1, max: 900 }),
    fc.integer({ min: 1, max: 4 }),
    async (devices, batch, sizeMax, devicesMax) => {
      const sources = sourcesOf(devices, batch);
      const whole = await read(sources, atStart);
      const rows: unknown[] = [];
      let [progress, isLast, samples] = [atStart, false, 0];
      for (let part = 0; !isLast; part++) {
        // A restart keeps nothing but what was stored.
        const stored = JSON.parse(JSON.stringify(progress)) as ExportProgress;
        const next = await read(sources, stored, { sizeMax, devicesMax });
        ({ progress, isLast } = next);
        rows.push(...next.rows);
        samples += next.samples;
        expect(part).toBeLessThan(1_000);
      }
      expect(rows).toEqual(whole.rows);
      expect(progress).toMatchObject({ devices: devices.length });
      expect([samples, whole.samples]).toEqual([devices.flat().length, devices.flat().length]);
    },
  );
  await fc.assert(property, { numRuns: 300 });
});

test('devices whose samples cannot be read are counted once', async () => {
  const sources = sourcesOf([[1, 2, 3], [4]], 1);
  const damaged: Sources = {
    ...sources,
    exportSamples(range) {
      if (range.deviceId === 'd000') range.unreadable();
      return sources.exportSamples(range);
    },
  };
  let [progress, isLast] = [atStart, false];
  while (!isLast)
    ({ progress, isLast } = await readLines(damaged, progress, { sizeMax: 1, devicesMax: 1 }));
  expect(progress.unreadable).toBe(1);
});
