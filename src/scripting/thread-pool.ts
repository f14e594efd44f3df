// Thread pool of the script machine: its threads, a reserve behind slow runs, and the dispatch.
import { Worker } from 'node:worker_threads';
import { problem } from '../model/problem.ts';
import { compileQuickJs, inspectMemoryLayout, type MemoryLayout } from './quickjs.ts';
import type { ScriptLimits } from './script-limits.ts';
import { setRepeatingTimer } from '../structures/timers.ts';
import { atTurnEnd } from '../structures/turns.ts';
import type { RunQueue, Waiting } from '../structures/run-queue.ts';
import { createRecorderMemory, recorderPhases, RecorderView } from './run-recorder.ts';
import { errorEntry } from './script-error.ts';
import {
  checkOnly,
  type FromWorker,
  resultItems,
  type RunOutcome,
  type ScriptRegistration,
  type ToWorker,
  type WorkerStart,
} from './worker-messages.ts';

// Worker thread of scripts, seen from the main thread: sends batches, receives answers and ends the thread if a run hangs.

/** Of a run in its worker. */
export interface RunTimes {
  readonly durationMs: number;
  readonly processorMs: number;
}

/** A run without an answer. `finish` gets its entries as a JSON array. */
export interface PendingRun extends Waiting {
  readonly number: number;
  /** Absent when a source is only checked. The source is then in `event`. */
  readonly script?: ScriptRegistration | undefined;
  readonly mode: number;
  readonly event: string;
  /** Its thread was already ended once because its heartbeat stopped. */
  isRepeated: boolean;
  finish(entries: string, took: RunTimes, outcome: RunOutcome): void;
  fail(error: Error): void;
}

/** The end of a thread that was not asked to end. */
interface ThreadEnd {
  /** Its runs, without the one that caused the end. */
  readonly returned: readonly PendingRun[];
  readonly wasReady: boolean;
  /**
   * The run that caused the end, if it may be tried again: a machine that stood still looks the
   * same.
   */
  readonly again: PendingRun | undefined;
  /** A sentence. */
  readonly why: string;
}

interface ThreadEvents {
  ready(): void;
  /** A batch was answered. Runs that were not started are returned. */
  answered(returned: readonly PendingRun[]): void;
  /** A run has an answer, or an attempt failed. `ms` is its processor time. */
  ran(run: PendingRun, ms: number): void;
  gone(end: ThreadEnd): void;
}

interface ThreadParts {
  readonly module: WebAssembly.Module;
  readonly layout: MemoryLayout;
  readonly limits: ScriptLimits;
}

interface ThreadState {
  readonly limits: ScriptLimits;
  readonly events: ThreadEvents;
  readonly recorder: RecorderView;
  readonly silence: SilenceClock;
  readonly runs: Map<number, PendingRun>;
  /** Ids of the scripts that the thread has. */
  readonly known: Set<number>;
  isReady: boolean;
  isGone: boolean;
  batches: number;
  isSlow: boolean;
  isUsed: boolean;
}

/** Starts a thread. Nothing may be sent until the event `ready`. */
class ScriptThread {
  /** Runs that were sent and not answered. */
  readonly runs: ReadonlyMap<number, PendingRun>;
  readonly #thread: ThreadState;
  readonly #worker: Worker;

  constructor(parts: ThreadParts, events: ThreadEvents) {
    const { limits } = parts;
    const shared = createRecorderMemory(limits.outputBytesMax);
    const recorder = new RecorderView(shared);
    this.#thread = {
      limits,
      events,
      recorder,
      silence: new SilenceClock(recorder, limits),
      runs: new Map(),
      known: new Set(),
      isReady: false,
      isGone: false,
      batches: 0,
      isSlow: false,
      isUsed: false,
    };
    this.#worker = startWorker(this.#thread, { ...parts, recorder: shared });
    this.runs = this.#thread.runs;
  }

  get isReady(): boolean {
    return this.#thread.isReady;
  }

  /** Batches that were sent and not answered in full. */
  get batches(): number {
    return this.#thread.batches;
  }

  /** It has a slow run, behind which no other run waits. */
  get isSlow(): boolean {
    return this.#thread.isSlow;
  }

  /** Whether anything was sent to it since it started. */
  get isUsed(): boolean {
    return this.#thread.isUsed;
  }

  /** Milliseconds since the run in progress started; 0 without one. */
  runMs(now: number): number {
    return this.#thread.runs.size === 0 ? 0 : this.#thread.silence.runMs(now);
  }

  /** After a `slow` batch, send nothing else until it is answered. */
  send(batch: readonly PendingRun[], slow: boolean): void {
    this.#thread.isSlow = slow;
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- That is a window's.
    this.#worker.postMessage(messageOf(this.#thread, batch));
  }

  /** Ends the thread if its heartbeat stopped. Call periodically. */
  watch(now: number): void {
    if (this.#thread.isGone || !this.#thread.silence.isTooLong(now)) return;
    const ms = Math.round(this.#thread.silence.sinceStart(now));
    leave(this.#thread, `The script exceeded its time limit of ${ms} ms`, true);
    void this.#worker.terminate();
  }

  /** Ends the thread. Its runs are lost. */
  async end(): Promise<void> {
    this.#thread.isGone = true;
    await this.#worker.terminate();
  }
}

function startWorker(thread: ThreadState, workerData: WorkerStart): Worker {
  // The thread needs no environment. A script cannot find there what it does not have.
  const worker = new Worker(new URL('./script-worker.ts', import.meta.url), {
    workerData,
    name: 'script',
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: oldGenerationMbMax, stackSizeMb: hostStackMb },
  });
  worker.on('message', (message: FromWorker) => receive(thread, message));
  worker.on('error', ({ message }: Error) =>
    leave(thread, `The script crashed its worker: ${message}`, false),
  );
  worker.on('exit', () => leave(thread, 'The script broke its worker', false));
  return worker;
}

/** Adds the runs to those of the thread. A script is sent with its first run. */
function messageOf(thread: ThreadState, batch: readonly PendingRun[]): ToWorker {
  thread.isUsed = true;
  thread.batches += 1;
  const scripts: ScriptRegistration[] = [];
  const runs: (number | string)[] = [];
  for (const run of batch) {
    thread.runs.set(run.number, run);
    runs.push(run.number, run.script?.id ?? checkOnly, run.mode, run.event);
    if (run.script === undefined || thread.known.has(run.script.id)) continue;
    thread.known.add(run.script.id);
    scripts.push(run.script);
  }
  // A batch with a trial has no other run.
  const isTrial = batch[0]?.kind === 'trial';
  const { compileCpuMs, liveCompileCpuMs } = thread.limits;
  return { scripts, compileCpuMs: isTrial ? compileCpuMs : liveCompileCpuMs, runs };
}

function receive(thread: ThreadState, message: FromWorker): void {
  const { events } = thread;
  if (thread.isGone) return;
  if (message === 'ready') {
    thread.isReady = true;
    events.ready();
    return;
  }
  finishRuns(thread, message);
  for (const id of message.forgotten) thread.known.delete(id);
  const returned = message.returned.flatMap((number) => take(thread, number) ?? []);
  if (!message.last) return;
  thread.batches -= 1;
  thread.isSlow = false;
  events.answered(returned);
}

function finishRuns(thread: ThreadState, message: Exclude<FromWorker, 'ready'>): void {
  const { results, cpuShare } = message;
  const ends = new Map(message.ends);
  for (let i = 0; i < results.length; i += resultItems) {
    const run = take(thread, results[i] as number);
    if (run === undefined) continue;
    const durationMs = results[i + 2] as number;
    const processorMs = durationMs * cpuShare;
    thread.events.ran(run, processorMs);
    const took = { durationMs, processorMs };
    run.finish(results[i + 1] as string, took, ends.get(run.number) ?? 'ended');
  }
}

function take({ runs }: ThreadState, number: number): PendingRun | undefined {
  const run = runs.get(number);
  runs.delete(number);
  return run;
}

function leave(thread: ThreadState, why: string, isSilent: boolean): void {
  if (thread.isGone) return;
  thread.isGone = true;
  const { recorder, runs, events } = thread;
  const guilty = recorder.phase === recorderPhases.idle ? undefined : take(thread, recorder.run);
  const again = isSilent && guilty?.isRepeated === false ? guilty : undefined;
  const ms = thread.silence.sinceStart(performance.now());
  const took = { durationMs: ms, processorMs: ms };
  if (guilty !== undefined) events.ran(guilty, ms);
  if (again !== undefined) again.isRepeated = true;
  else guilty?.finish(entriesWithError(recorder, guilty, why), took, 'stuck');
  const returned = [...runs.values()];
  runs.clear();
  events.gone({ returned, wasReady: thread.isReady, again, why });
}

/** What the run emitted until its thread ended, and the reason of the end, as a JSON array. */
function entriesWithError(recorder: RecorderView, run: PendingRun, message: string): string {
  const entries = recorder.text().slice(0, -1);
  const error = run.script === undefined ? JSON.stringify({ message }) : errorEntry({ message });
  return `${entries}${entries.length > 1 ? ',' : ''}${error}]`;
}

// A source of the maximum length needs this much to be parsed.
const oldGenerationMbMax = 512;
const hostStackMb = 4;

/**
 * Time since the last heartbeat of a run, measured on this thread: a stopped heartbeat is
 * detected here.
 */
export class SilenceClock {
  readonly #recorder: RecorderView;
  readonly #limits: ScriptLimits;
  #beat = 0;
  #beatAt = 0;
  #run = 0;
  #runAt = 0;

  constructor(recorder: RecorderView, limits: ScriptLimits) {
    this.#recorder = recorder;
    this.#limits = limits;
  }

  /** Milliseconds since the run in progress started, or ended if there is none. */
  sinceStart(now: number): number {
    return now - this.#runAt;
  }

  /** The same for the run that `isTooLong` saw last; 0 for a later run. */
  runMs(now: number): number {
    const isSeen = this.#recorder.phase !== recorderPhases.idle && this.#recorder.run === this.#run;
    return isSeen ? now - this.#runAt : 0;
  }

  isTooLong(now: number): boolean {
    const isIdle = this.#recorder.phase === recorderPhases.idle;
    if (this.#recorder.run !== this.#run || isIdle) {
      this.#run = this.#recorder.run;
      this.#runAt = now;
    }
    if (this.#recorder.beat !== this.#beat || isIdle) {
      this.#beat = this.#recorder.beat;
      this.#beatAt = now;
    }
    const isCompiling = this.#recorder.phase === recorderPhases.compiling;
    return (
      now - this.#beatAt >
      (isCompiling ? this.#limits.compileSilenceMsMax : this.#limits.silenceMsMax)
    );
  }
}

/** Slow runs may occupy all threads but one, so there must be two. */
const threadsWithReserve = 2;

interface PoolState {
  /** Threads that the options ask for. */
  readonly size: number;
  readonly limits: ScriptLimits;
  readonly queue: RunQueue<PendingRun>;
  readonly troubled: (why: string) => void;
  readonly working: Set<ScriptThread>;
  readonly ending: Set<Promise<void>>;
  spare: ScriptThread | undefined;
  /** Undefined until the engine is compiled. */
  parts: ThreadParts | undefined;
  failure: Error | undefined;
  /** A warm spare costs the memory of a thread, so it is kept only after a run was stuck. */
  keepsSpare: boolean;
  failedStarts: number;
  isScheduled: boolean;
  stopWatching: (() => void) | undefined;
  slowAt: number;
  ranAt: number;
  wanted: number;
}

/**
 * Starts the threads in the background. `troubled` gets the reason why a thread died, was ended,
 * or cannot be started.
 */
export class ThreadPool {
  readonly #pool: PoolState;

  constructor(
    size: number,
    limits: ScriptLimits,
    queue: RunQueue<PendingRun>,
    troubled: (why: string) => void,
  ) {
    this.#pool = {
      size,
      limits,
      queue,
      troubled,
      working: new Set(),
      ending: new Set(),
      spare: undefined,
      parts: undefined,
      failure: undefined,
      keepsSpare: false,
      failedStarts: 0,
      isScheduled: false,
      stopWatching: undefined,
      slowAt: Number.NEGATIVE_INFINITY,
      ranAt: 0,
      wanted: size,
    };
    begin(this.#pool).catch((error: unknown) => {
      troubled(`No script worker can be started: ${(error as Error).message}`);
      failAll(this.#pool, error as Error);
    });
  }

  /** Why runs can no longer be taken. */
  readonly error = (): Error | undefined => this.#pool.failure;

  readonly close = async (): Promise<void> => {
    failAll(this.#pool, problem('stopping'));
    const ends = allThreads(this.#pool).map((thread) => thread.end());
    await Promise.all([...ends, ...this.#pool.ending]);
  };

  /**
   * Gives waiting runs to threads after the current turn of the event loop, so that they share
   * messages.
   */
  dispatchSoon(): void {
    dispatchSoon(this.#pool);
  }

  get threads(): number {
    return allThreads(this.#pool).length;
  }

  /**
   * Call periodically: ends and replaces threads that were idle for a long time. True if no
   * remaining thread was ever given a script.
   */
  rest(now: number): boolean {
    return rest(this.#pool, now);
  }
}

async function begin(pool: PoolState): Promise<void> {
  const module = await compileQuickJs();
  pool.parts = { module, layout: await inspectMemoryLayout(module), limits: pool.limits };
  if (pool.failure === undefined) fill(pool);
}

function allThreads({ working, spare }: PoolState): readonly ScriptThread[] {
  return [...working, spare].filter((thread) => thread !== undefined);
}

function failAll(pool: PoolState, error: Error): void {
  pool.failure = error;
  stopWatching(pool);
  for (const run of pool.queue.drain()) run.fail(error);
  for (const thread of pool.working) for (const run of thread.runs.values()) run.fail(error);
}

function start(pool: PoolState, parts: ThreadParts): ScriptThread {
  const { queue } = pool;
  const thread = new ScriptThread(parts, {
    ready() {
      pool.failedStarts = 0;
      fill(pool);
    },
    ran: (run, ms) => queue.settle(run, ms),
    answered(returned) {
      queue.putBack(returned);
      dispatch(pool);
    },
    gone: (end) => replace(pool, thread, end),
  });
  return thread;
}

function replace(
  pool: PoolState,
  thread: ScriptThread,
  { returned, wasReady, again, why }: ThreadEnd,
): void {
  const { queue, limits } = pool;
  pool.troubled(wasReady ? why : `A script worker did not start: ${why}`);
  pool.working.delete(thread);
  if (pool.spare === thread) pool.spare = undefined;
  queue.putBack(returned);
  if (again !== undefined && queue.push(again) !== 'taken') again.fail(problem('intakeFull'));
  pool.keepsSpare ||= wasReady;
  pool.failedStarts = wasReady ? 0 : pool.failedStarts + 1;
  if (pool.failedStarts >= limits.failedStartsMax)
    failAll(pool, new Error('The script workers do not start'));
  if (pool.failure === undefined) fill(pool);
}

function fill(pool: PoolState): void {
  const { working, parts } = pool;
  if (parts === undefined) return;
  while (working.size < pool.wanted) {
    working.add(pool.spare ?? start(pool, parts));
    pool.spare = undefined;
  }
  // The spare is started last, because working threads are needed first.
  const isWarm = [...working].every((thread) => thread.isReady);
  if (pool.keepsSpare && isWarm) pool.spare ??= start(pool, parts);
  dispatch(pool);
}

/** Keeps a thread for quick runs from now on, because a run is slow. */
function reserve(pool: PoolState): void {
  pool.slowAt = performance.now();
  if (pool.wanted >= threadsWithReserve) return;
  pool.wanted = threadsWithReserve;
  fill(pool);
}

function watch(pool: PoolState): void {
  const now = performance.now();
  for (const thread of pool.working) thread.watch(now);
  const threads = [...pool.working];
  const delayMsMax = 2 * pool.limits.watchIntervalMs;
  const isDelayed = pool.queue.size > 0 && threads.some((thread) => thread.runMs(now) > delayMsMax);
  if (isDelayed && pool.failure === undefined) reserve(pool);
  if (pool.failure !== undefined || [...pool.working].every((thread) => thread.batches === 0))
    stopWatching(pool);
}

function stopWatching(pool: PoolState): void {
  pool.stopWatching?.();
  pool.stopWatching = undefined;
}

function dispatchSoon(pool: PoolState): void {
  if (pool.queue.hasSlow) reserve(pool);
  if (pool.isScheduled) return;
  pool.isScheduled = true;
  // Requests of other connections that arrived in the same turn are read before it.
  atTurnEnd(() => {
    pool.isScheduled = false;
    dispatch(pool);
  });
}

function dispatch(pool: PoolState): void {
  const { queue, limits } = pool;
  const ready = [...pool.working].filter((thread) => thread.isReady);
  while (queue.size > 0 && pool.failure === undefined) {
    const thread = leastBusy(ready, queue.size, limits);
    if (thread === undefined) return;
    const { lane, runs } = takeFor(thread, ready, pool);
    if (runs.length === 0) return;
    const isSlow = lane !== 'quick';
    pool.ranAt = performance.now();
    if (isSlow) pool.slowAt = pool.ranAt;
    thread.send(runs, isSlow);
    pool.stopWatching ??= setRepeatingTimer(() => watch(pool), limits.watchIntervalMs);
  }
}

function takeFor(
  thread: ScriptThread,
  ready: readonly ScriptThread[],
  { queue, limits }: PoolState,
) {
  const free = ready.filter((other) => canTake(other, queue.size, limits)).length;
  const slow = ready.filter((other) => other.isSlow).length;
  const alsoSlow = thread.batches === 0 && slow < Math.max(1, ready.length - 1);
  return queue.take(Math.min(limits.batchRunsMax, Math.ceil(queue.size / free)), alsoSlow);
}

/** The thread with the fewest batches of those that can take one more. */
function leastBusy(
  ready: readonly ScriptThread[],
  waiting: number,
  limits: ScriptLimits,
): ScriptThread | undefined {
  let found: ScriptThread | undefined;
  for (const thread of ready) {
    if (canTake(thread, waiting, limits) && thread.batches < (found?.batches ?? Infinity))
      found = thread;
  }
  return found;
}

function rest(pool: PoolState, now: number): boolean {
  const { working, limits } = pool;
  if (pool.failure !== undefined || pool.parts === undefined || pool.queue.size > 0) return false;
  if (now - pool.slowAt > limits.reserveIdleMs) pool.wanted = pool.size;
  const isIdle = now - pool.ranAt > limits.idleMs;
  if (isIdle) endSpare(pool);
  for (const thread of working) {
    const isExcess = working.size > pool.wanted || (isIdle && thread.isUsed);
    if (isExcess && thread.batches === 0 && thread.isReady) end(pool, thread);
  }
  fill(pool);
  return [...working].every((thread) => !thread.isUsed);
}

function endSpare(pool: PoolState): void {
  pool.keepsSpare = false;
  if (pool.spare !== undefined) end(pool, pool.spare);
  pool.spare = undefined;
}

function end({ working, ending }: PoolState, thread: ScriptThread): void {
  working.delete(thread);
  const ended = thread.end().finally(() => ending.delete(ended));
  ending.add(ended);
}

// A second batch keeps a thread busy while the first answer is on its way. With few waiting runs it
// would only delay them.
function canTake(thread: ScriptThread, waiting: number, limits: ScriptLimits): boolean {
  if (!thread.isReady || thread.isSlow) return false;
  return (
    thread.batches === 0 ||
    (thread.batches < limits.batchesInFlightMax && waiting >= limits.batchRunsMax)
  );
}
