// Store queries: the timed queries of the bench of the sample store, on workload W.
import { type AccumulatorName, accumulators } from '../../src/query/summaries/accumulators.ts';
import { noSlots } from '../../src/query/summaries/occupied-slots.ts';
import type { TestSamples } from '../../src/storage/samples/testing-samples.ts';
import { figure, summarize } from './measure.ts';
import { deviceName, endMsOf, samplesOf, type WorkloadShape, workloadW } from './workload.ts';
import { type figureNotes, type Goal, under, upTo } from './figure-notes.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** Larger runs query as many devices as workload W has, so that their answers compare. */
const manyMax = workloadW.devices;

export interface StoreQueries {
  readonly store: TestSamples;
  readonly shape: WorkloadShape;
  readonly askedDays: number;
  /** More samples than workload W: other goals apply. */
  readonly isLarge: boolean;
  readonly note: ReturnType<typeof figureNotes>['note'];
}

/** Common part of all timed queries. */
interface Asking {
  readonly kpi: (
    source: 'raw' | 'hours',
    deviceIds: readonly string[],
    key: { readonly dataKey: string; readonly accumulator: AccumulatorName },
    edges: readonly number[],
  ) => Promise<unknown>;
  readonly device: () => string;
  /** The beginning of some 24 hours, at any minute. */
  readonly day: () => number;
  readonly below: (limit: number) => number;
}

function asking({ store, shape }: StoreQueries): Asking {
  let state = 7;
  const below = (limit: number): number => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % limit;
  };
  return {
    kpi: (source, deviceIds, key, edges) =>
      store.buckets({ source, deviceIds, topic: 'default', ...key, edges }),
    device: () => deviceName(below(shape.devices)),
    day: () => endMsOf(shape) - dayMs - below(Math.max(1, (shape.days - 1) * 1_440)) * 60_000,
    below,
  };
}

function edgesEvery(step: number, from: number, to: number): number[] {
  return Array.from({ length: Math.round((to - from) / step) + 1 }, (_, i) => from + i * step);
}

/** Times queries of one device: samples, KPIs and series, from samples and from hours. */
export async function timeOneDevice(queries: StoreQueries): Promise<void> {
  const { store, shape, askedDays } = queries;
  const { kpi, device, day } = asking(queries);
  const timed = timer(queries);
  const end = endMsOf(shape);
  const from = end - askedDays * dayMs;
  await timed(
    'last 100 samples of a device',
    400,
    () => store.samples({ deviceId: device(), topic: 'default', limit: 100, skip: 0 }),
    under(0.15),
  );
  await timed('10,000 samples of a device', 20, () =>
    store.samples({ deviceId: device(), topic: 'default', limit: 10_000, skip: 0 }),
  );
  await timed(
    'raw AVG, 24 h, one device',
    2_000,
    () => {
      const start = day();
      return kpi('raw', [device()], { dataKey: 'temperature', accumulator: 'AVG' }, [
        start,
        start + dayMs,
      ]);
    },
    upTo(0.06),
  );
  await timed('raw AVG, 24 h in PT1H, one device', 1_000, () => {
    const start = day();
    return kpi(
      'raw',
      [device()],
      { dataKey: 'temperature', accumulator: 'AVG' },
      edgesEvery(hourMs, start, start + dayMs),
    );
  });
  await timed('raw LAST, 24 h, one device', 500, () => {
    const start = day();
    return kpi('raw', [device()], { dataKey: 'temperature', accumulator: 'LAST' }, [
      start,
      start + dayMs,
    ]);
  });
  await timed('raw DISTINCT_COUNT of label, 24 h, one device', 500, () => {
    const start = day();
    return kpi('raw', [device()], { dataKey: 'label', accumulator: 'DISTINCT_COUNT' }, [
      start,
      start + dayMs,
    ]);
  });
  await timed(
    `hourly AVG, ${askedDays} d, one device`,
    1_000,
    () => kpi('hours', [device()], { dataKey: 'temperature', accumulator: 'AVG' }, [from, end]),
    upTo(0.03),
  );
  await timed(`hourly AVG, ${askedDays} d but 5 h at each end, one device`, 1_000, () =>
    kpi('hours', [device()], { dataKey: 'temperature', accumulator: 'AVG' }, [
      from + 5 * hourMs,
      end - 5 * hourMs,
    ]),
  );
  await timed(`hourly MAX in P1D, ${askedDays} d, one device`, 1_000, () =>
    kpi('hours', [device()], { dataKey: 'co2', accumulator: 'MAX' }, edgesEvery(dayMs, from, end)),
  );
  await timed(`hourly AVG in PT1H, ${askedDays} d, one device`, 1_000, () =>
    kpi(
      'hours',
      [device()],
      { dataKey: 'temperature', accumulator: 'AVG' },
      edgesEvery(hourMs, from, end),
    ),
  );
  await timed(`hourly OCCUPANCY, ${askedDays} d, one device`, 500, () =>
    kpi('hours', [device()], { dataKey: 'occupied', accumulator: 'OCCUPANCY' }, [from, end]),
  );
}

/** Times queries of many devices and of all samples. */
export async function timeManyDevices(queries: StoreQueries): Promise<void> {
  const { store, shape, askedDays, isLarge, note } = queries;
  const { kpi, day, below } = asking(queries);
  const timed = timer(queries);
  const end = endMsOf(shape);
  const from = end - askedDays * dayMs;
  const all = Array.from({ length: shape.devices }, (_, i) => deviceName(i));
  const many = all.slice(0, manyMax);
  await timed(
    `hourly AVG, ${askedDays} d, ${many.length} devices`,
    50,
    () => kpi('hours', many, { dataKey: 'temperature', accumulator: 'AVG' }, [from, end]),
    under(5),
  );
  await timed(`hourly AVG, ${askedDays} d but 5 h at each end, ${many.length} devices`, 20, () =>
    kpi('hours', many, { dataKey: 'temperature', accumulator: 'AVG' }, [
      from + 5 * hourMs,
      end - 5 * hourMs,
    ]),
  );
  await timed(
    'raw SUM, 24 h, 100 devices',
    50,
    () => {
      const start = day();
      const first = below(Math.max(1, shape.devices - 100));
      return kpi('raw', all.slice(first, first + 100), { dataKey: 'co2', accumulator: 'SUM' }, [
        start,
        start + dayMs,
      ]);
    },
    under(4),
  );
  await timed(
    `average over all ${samplesOf(shape).toLocaleString('en-US')} samples`,
    10,
    () => kpi('raw', all, { dataKey: 'temperature', accumulator: 'AVG' }, [0, end + dayMs]),
    isLarge ? undefined : under(80),
  );
  await timed('the same with all rows read', 3, () =>
    kpi('raw', all, { dataKey: 'temperature', accumulator: 'AVG' }, oddEdges(shape, end)),
  );
  const request = {
    topic: 'default',
    dataKey: 'temperature',
    accumulator: 'AVG',
    edges: [0, end + dayMs],
  } as const;
  const total = await store.buckets({ ...request, source: 'raw', deviceIds: all });
  const count = total.reduce((sum, [partial]) => sum + (partial?.count ?? 0), 0);
  note('samples counted by a query', count.toLocaleString('en-US'));
  note('mean temperature of device 0', String(accumulators.AVG.finish(total[0]![0]!, noSlots)));
}

/** Buckets that start at irregular times of each day, so that no chunk is inside one of them. */
function oddEdges(shape: WorkloadShape, end: number): number[] {
  const edges = [0];
  for (let at = shape.startMs + 7 * 60_000 + 13; at < end; at += dayMs / 3) edges.push(at);
  return [...edges, end + dayMs];
}

function timer({ note }: StoreQueries) {
  return async (
    what: string,
    rounds: number,
    query: () => Promise<unknown>,
    goal?: Goal,
  ): Promise<void> => {
    for (let i = 0; i < Math.min(20, rounds); i++) await query();
    const durations: number[] = [];
    for (let i = 0; i < rounds; i++) {
      const startMs = performance.now();
      await query();
      durations.push(performance.now() - startMs);
    }
    const { p50Ms, p95Ms } = summarize(durations);
    note(`${what} (ms, p50 / p95)`, `${figure(p50Ms)} / ${figure(p95Ms)}`, goal, p50Ms);
  };
}
