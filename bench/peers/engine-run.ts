// Engines through the whole workload: each loads and rests, then all are asked in turn, and answers are compared.
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { inLanes } from '../load/http.ts';
import { type Summary, summarize } from '../load/measure.ts';
import { inTemporaryFolder } from '../load/server-process.ts';
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
  /** Queries of each kind that are not timed: compilers of several engines need some thousands. */
  readonly warmUps: number;
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
/** Queries that read much need no more before they are timed. */
const warmUpsOfLong = 5;
const roundsOfShort = 100;
const singlesMax = 400_000;
/**
 * Single requests of this first time count for nothing: a server that was started a moment ago is
 * slow.
 */
const singlesWarmMs = 3_000;
const calmMs = 1_000;

interface LoadedEngine {
  readonly peer: Peer;
  readonly engine: Engine;
  readonly result: Omit<EngineResult, 'queries' | 'single'>;
}

interface MeasuredEngine {
  readonly peer: Peer;
  readonly result: EngineResult;
}

/**
 * Loads one engine after the other, and then asks all of them in turn, so that each query meets the
 * same machine. `failures` are engines that could not be measured, in words.
 */
export async function runEngines(
  peers: readonly Peer[],
  reference: (query: Query) => number[],
  options: RunOptions,
): Promise<{ readonly measured: MeasuredEngine[]; readonly failures: string[] }> {
  const loaded: LoadedEngine[] = [];
  const failures: string[] = [];
  let measured: MeasuredEngine[] = [];
  const runFrom = async (at: number): Promise<void> => {
    const peer = peers[at];
    if (peer === undefined) {
      measured = await askInTurn(loaded, reference, options);
      return;
    }
    await inTemporaryFolder(peer.title, async (folder) => {
      const own = await loadEngine(peer, folder, options).catch((error: Error) => {
        // A long run must not lose the figures of other engines.
        failures.push(`${peer.title} FAILED: ${error.message.slice(0, 300)}`);
        process.exitCode = 1;
      });
      if (own !== undefined) loaded.push(own);
      try {
        await runFrom(at + 1);
      } finally {
        await own?.engine.stop();
      }
    });
  };
  await runFrom(0);
  return { measured, failures };
}

async function loadEngine(peer: Peer, folder: string, options: RunOptions): Promise<LoadedEngine> {
  const { shape, say } = options;
  const engine = await peer.start(folder, shape);
  try {
    say(`${peer.title} ${engine.version}: loading ${samplesOf(shape)} samples`);
    const { seconds, durations } = await loadWorkload(engine, options);
    const memoryMiB = engine.memoryBytes() / 2 ** 20;
    const bulkPerSecond = samplesOf(shape) / seconds;
    say(`  ${Math.round(bulkPerSecond)} samples/s; settling`);
    const settled = await engine.settle();
    const atRest = await engine.bytesAtRest();
    const startMs = await timeStart(engine, shape);
    const result = {
      version: engine.version,
      bulkPerSecond,
      bulk: summarize(durations),
      bytesPerSample: atRest.samples / samplesOf(shape),
      logMiB: atRest.log / 2 ** 20,
      memoryMiB,
      startMs,
      settled,
    };
    return { peer, engine, result };
  } catch (error) {
    await engine.stop();
    throw error;
  }
}

async function askInTurn(
  loaded: readonly LoadedEngine[],
  reference: (query: Query) => number[],
  options: RunOptions,
): Promise<MeasuredEngine[]> {
  const { say } = options;
  await delay(calmMs);
  const found = new Map<LoadedEngine, { [N in QueryName]?: QueryResult }>();
  for (const each of loaded) found.set(each, {});
  for (const name of options.queries) {
    const asked = loaded.filter(({ peer }) => peer.exceptions[name]?.absent !== true);
    for (const [each, result] of await timeQuery(asked, name, options, reference)) {
      const words =
        'wrong' in result
          ? `WRONG, ${result.wrong}`
          : `p50 ${result.durations.p50Ms.toFixed(3)} ms`;
      say(`  ${each.peer.title}, ${name}: ${words}`);
      const own = found.get(each);
      if (own !== undefined) own[name] = result;
    }
  }
  const measured: MeasuredEngine[] = [];
  for (const each of loaded) {
    const { peer, engine, result } = each;
    const single = options.singleSeconds > 0 ? await loadSingles(engine, options) : undefined;
    if (single !== undefined)
      say(`  ${peer.title}: ${Math.round(single.perSecond)} single requests/s`);
    const queries = found.get(each) ?? {};
    measured.push({
      peer,
      result: { ...result, ...(single !== undefined && { single }), queries },
    });
  }
  return measured;
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

/** Engines with a wrong answer are not timed. */
async function timeQuery(
  asked: readonly LoadedEngine[],
  name: QueryName,
  { shape, warmUps }: RunOptions,
  reference: (query: Query) => number[],
): Promise<Map<LoadedEngine, QueryResult>> {
  const results = new Map<LoadedEngine, QueryResult>();
  const durations = new Map<LoadedEngine, number[]>();
  for (const each of asked) {
    const wrong = await wrongAnswer(each, name, shape, reference);
    if (wrong === undefined) durations.set(each, []);
    else results.set(each, { wrong });
  }
  const right = [...durations.keys()];
  const rounds = repetitions[name];
  const warmed = rounds < roundsOfShort ? warmUpsOfLong : warmUps;
  for (let n = 0; n < warmed; n++)
    for (const { engine } of right) await engine.query(queryOf(name, n, shape));
  for (let n = 0; n < rounds; n++) {
    // Others than before, so that of many devices most are read for the first time.
    const query = queryOf(name, warmed + n, shape);
    // Another one begins each time: what follows a long query may be slower.
    for (let turn = 0; turn < right.length; turn++) {
      const each = right[(n + turn) % right.length];
      if (each === undefined) continue;
      const startMs = performance.now();
      await each.engine.query(query);
      durations.get(each)?.push(performance.now() - startMs);
    }
  }
  for (const [each, own] of durations) results.set(each, { durations: summarize(own) });
  return results;
}

/** The first difference to the reference, in words; all engines are compared with the same one. */
async function wrongAnswer(
  { peer, engine }: LoadedEngine,
  name: QueryName,
  shape: WorkloadShape,
  reference: (query: Query) => number[],
): Promise<string | undefined> {
  const comparable =
    peer.exceptions[name]?.comparable ?? ((wanted: readonly number[]) => [...wanted]);
  for (let n = 0; n < Math.min(checksMax, repetitions[name]); n++) {
    const query = queryOf(name, n, shape);
    // An engine that refuses a query has given a wrong answer; the others are still measured.
    const wrong = await engine.query(query).then(
      (got) => difference(got, comparable(reference(query))),
      (error: Error) => error.message.slice(0, 200),
    );
    if (wrong !== undefined) return wrong;
  }
  return undefined;
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
