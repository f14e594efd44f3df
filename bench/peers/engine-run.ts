// One engine through the whole workload: load, rest, check every answer, time the queries, then single requests.
import { setTimeout as delay } from 'node:timers/promises';
import { inLanes } from '../load/http.ts';
import { type Summary, summarize } from '../load/measure.ts';
import type { Engine, Peer } from './peer.ts';
import { type Query, type QueryName, difference, queryOf, repetitions } from './queries.ts';
import {
  type SampleColumns,
  type WorkloadShape,
  deviceOrdered,
  endMsOf,
  samplesOf,
  timeOrdered,
} from '../load/workload.ts';

export interface RunOptions {
  readonly shape: WorkloadShape;
  /** Samples a bulk request. */
  readonly batch: number;
  /** Bulk requests in flight. */
  readonly bulkLanes: number;
  /** Single requests in flight. */
  readonly singleLanes: number;
  readonly singleSeconds: number;
  readonly order: 'device' | 'time';
  readonly queries: readonly QueryName[];
  readonly say: (line: string) => void;
}

export interface EngineResult {
  readonly version: string;
  readonly bulkPerSecond: number;
  readonly bulk: Summary;
  readonly bytesPerSample: number;
  readonly logMiB: number;
  readonly memoryMiB: number;
  /** From the start of the server until the latest sample of a device is answered. */
  readonly startMs: number;
  readonly settled: string;
  readonly single?: {
    readonly perSecond: number;
    readonly durations: Summary;
    readonly note: string;
  };
  readonly queries: { readonly [N in QueryName]?: QueryResult };
}

export type QueryResult = { readonly durations: Summary } | { readonly wrong: string };

// Requests are built before they are sent, so that building costs no measured time; this number
// limits the memory.
const preparedMax = 64;
const checksMax = 5;
const singlesMax = 400_000;
/**
 * Single requests of this first time count for nothing: a server that was started a moment ago is
 * slow.
 */
const singlesWarmMs = 3_000;
const calmMs = 1_000;

export async function runEngine(
  peer: Pick<Peer, 'title' | 'exceptions' | 'start'>,
  folder: string,
  reference: (query: Query) => number[],
  options: RunOptions,
): Promise<EngineResult> {
  const { shape, say } = options;
  const engine = await peer.start(folder, shape);
  try {
    say(`${peer.title} ${engine.version}: loading ${samplesOf(shape)} samples`);
    const { seconds, durations } = await loadWorkload(engine, options);
    const memoryMiB = engine.memoryBytes() / 2 ** 20;
    say(`  ${Math.round(samplesOf(shape) / seconds)} samples/s; settling`);
    const settled = await engine.settle();
    const atRest = await engine.bytesAtRest();
    const startMs = await timeStart(engine, shape);
    await delay(calmMs);
    const queries: { [N in QueryName]?: QueryResult } = {};
    for (const name of options.queries) {
      const exception = peer.exceptions[name];
      if (exception?.absent === true) continue;
      const comparable = exception?.comparable ?? ((wanted: readonly number[]) => [...wanted]);
      const result = await timeQuery(engine, name, shape, (query) => comparable(reference(query)));
      say(
        `  ${name}: ${'wrong' in result ? `WRONG, ${result.wrong}` : `p50 ${result.durations.p50Ms.toFixed(3)} ms`}`,
      );
      queries[name] = result;
    }
    const single = options.singleSeconds > 0 ? await loadSingles(engine, options) : undefined;
    if (single !== undefined) say(`  ${Math.round(single.perSecond)} single requests/s`);
    const bulkPerSecond = samplesOf(shape) / seconds;
    const bulk = summarize(durations);
    const bytesPerSample = atRest.samples / samplesOf(shape);
    const logMiB = atRest.log / 2 ** 20;
    return {
      version: engine.version,
      bulkPerSecond,
      bulk,
      bytesPerSample,
      logMiB,
      memoryMiB,
      startMs,
      settled,
      ...(single !== undefined && { single }),
      queries,
    };
  } finally {
    await engine.stop();
  }
}

/**
 * Sends every sample in bulk requests; answers the seconds of sending and the milliseconds of each
 * request.
 */
export async function loadWorkload(
  engine: Engine,
  options: Pick<RunOptions, 'shape' | 'order' | 'batch' | 'bulkLanes'>,
): Promise<{ seconds: number; durations: number[] }> {
  const batches = options.order === 'device' ? deviceOrdered : timeOrdered;
  const lanes = await engine.openLanes(options.bulkLanes);
  const durations: number[] = [];
  let seconds = 0;
  let prepared: Prepared[] = [];
  const flush = async (): Promise<void> => {
    const startMs = performance.now();
    await inLanes(lanes, prepared, async (lane, { request, count }) => {
      const sentMs = performance.now();
      await lane.send(request, count);
      durations.push(performance.now() - sentMs);
    });
    seconds += (performance.now() - startMs) / 1_000;
    prepared = [];
  };
  for (const batch of batches(options.shape, options.batch)) {
    prepared.push({ request: engine.encode(batch), count: batch.length });
    if (prepared.length === preparedMax) await flush();
  }
  await flush();
  for (const lane of lanes) lane.close();
  return { seconds, durations };
}

interface Prepared {
  readonly request: Buffer;
  readonly count: number;
}

/** Milliseconds of a restart after a clean end, until the first query is answered. */
async function timeStart(engine: Engine, shape: WorkloadShape): Promise<number> {
  const startedMs = await engine.restart();
  await engine.query(queryOf('latest', 0, shape));
  return performance.now() - startedMs;
}

async function timeQuery(
  engine: Engine,
  name: QueryName,
  shape: WorkloadShape,
  wanted: (query: Query) => number[],
): Promise<QueryResult> {
  const rounds = repetitions[name];
  for (let n = 0; n < Math.min(checksMax, rounds); n++) {
    const query = queryOf(name, n, shape);
    // An engine that refuses a query has given a wrong answer; the others are still measured.
    const wrong = await engine.query(query).then(
      (got) => difference(got, wanted(query)),
      (error: Error) => error.message.slice(0, 200),
    );
    if (wrong !== undefined) return { wrong };
  }
  const durations: number[] = [];
  for (let n = 0; n < rounds; n++) {
    const query = queryOf(name, n, shape);
    const startMs = performance.now();
    await engine.query(query);
    durations.push(performance.now() - startMs);
  }
  return { durations: summarize(durations) };
}

// One sample a request, many requests in flight, for a bounded time: samples of the days after the
// workload.
async function loadSingles(
  engine: Engine,
  options: RunOptions,
): Promise<NonNullable<EngineResult['single']>> {
  const shape = { ...options.shape, startMs: endMsOf(options.shape), days: 1_000 };
  const requests: Buffer[] = [];
  for (const sample of timeOrdered(shape, 1)) {
    requests.push(engine.encode(sample satisfies SampleColumns));
    if (requests.length === singlesMax) break;
  }
  const lanes = await engine.openLanes(options.singleLanes);
  const durations: number[] = [];
  let note = '';
  const startMs = performance.now() + singlesWarmMs;
  const endMs = startMs + options.singleSeconds * 1_000;
  await inLanes(lanes, requests, async (lane, request) => {
    const sentMs = performance.now();
    if (sentMs > endMs || note !== '') return;
    try {
      await lane.send(request, 1);
      if (sentMs >= startMs) durations.push(performance.now() - sentMs);
    } catch (error) {
      note = `stopped by a refusal after ${durations.length} requests: ${(error as Error).message.slice(0, 120)}`;
    }
  });
  for (const lane of lanes) lane.close();
  return {
    perSecond: durations.length / options.singleSeconds,
    durations: summarize(durations.length > 0 ? durations : [0]),
    note,
  };
}
