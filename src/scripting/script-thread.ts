// Worker thread of scripts, seen from the main thread: sends batches, receives answers and ends the thread if a run hangs.
import { Worker } from 'node:worker_threads';
import type { MemoryLayout } from './guest-memory.ts';
import type { ScriptLimits } from './script-limits.ts';
import {
  createRecorderMemory,
  recorderPhases,
  type RecorderView,
  viewRecorder,
} from './run-recorder.ts';
import type { Waiting } from '../structures/run-lines.ts';
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

/** A run without an answer. `finish` gets its entries as a JSON array. */
export interface PendingRun extends Waiting {
  readonly number: number;
  /** Absent when a source is only checked. The source is then in `event`. */
  readonly script?: ScriptRegistration;
  readonly mode: number;
  readonly event: string;
  /** Its thread was already ended once because its heartbeat stopped. */
  isRepeated: boolean;
  finish(entries: string, durationMs: number, outcome: RunOutcome): void;
  fail(error: Error): void;
}

export interface ScriptThread {
  readonly isReady: boolean;
  /** Batches that were sent and not answered in full. */
  readonly batches: number;
  /** Runs that were sent and not answered. */
  readonly runs: ReadonlyMap<number, PendingRun>;
  /** It has a slow run, behind which no other run waits. */
  readonly isSlow: boolean;
  /** Whether anything was sent to it since it started. */
  readonly isUsed: boolean;
  /** After a `slow` batch, send nothing else until it is answered. */
  send(runs: readonly PendingRun[], slow: boolean): void;
  /** Milliseconds since the run in progress started; 0 without one. */
  runMs(now: number): number;
  /** Ends the thread if its heartbeat stopped. Call periodically. */
  watch(now: number): void;
  /** Ends the thread. Its runs are lost. */
  end(): Promise<void>;
}

/** The end of a thread that was not asked to end. */
export interface ThreadEnd {
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

export interface ThreadEvents {
  ready(): void;
  /** A batch was answered. Runs that were not started are returned. */
  answered(returned: readonly PendingRun[]): void;
  /** A run has an answer, or an attempt failed. `ms` is its processor time. */
  ran(run: PendingRun, ms: number): void;
  gone(end: ThreadEnd): void;
}

export interface ThreadParts {
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
export function startScriptThread(parts: ThreadParts, events: ThreadEvents): ScriptThread {
  const { limits } = parts;
  const shared = createRecorderMemory(limits.outputBytesMax);
  const recorder = viewRecorder(shared);
  const thread: ThreadState = {
    limits,
    events,
    recorder,
    silence: createSilenceClock(recorder, limits),
    runs: new Map(),
    known: new Set(),
    isReady: false,
    isGone: false,
    batches: 0,
    isSlow: false,
    isUsed: false,
  };
  const worker = startWorker(thread, { ...parts, recorder: shared });
  return {
    get isReady() {
      return thread.isReady;
    },
    get batches() {
      return thread.batches;
    },
    runs: thread.runs,
    get isSlow() {
      return thread.isSlow;
    },
    get isUsed() {
      return thread.isUsed;
    },
    runMs: (now) => (thread.runs.size === 0 ? 0 : thread.silence.runMs(now)),
    send(batch, slow) {
      thread.isSlow = slow;
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- That is a window's.
      worker.postMessage(messageOf(thread, batch));
    },
    watch(now) {
      if (thread.isGone || !thread.silence.isTooLong(now)) return;
      const ms = Math.round(thread.silence.sinceStart(now));
      leave(thread, `The script exceeded its time limit of ${ms} ms`, true);
      void worker.terminate();
    },
    async end() {
      thread.isGone = true;
      await worker.terminate();
    },
  };
}

function startWorker(thread: ThreadState, workerData: WorkerStart): Worker {
  // The thread needs no environment. A script cannot find there what it does not have.
  const worker = new Worker(new URL('./script-worker.ts', import.meta.url), {
    workerData,
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
    const ms = results[i + 2] as number;
    thread.events.ran(run, ms * cpuShare);
    run.finish(results[i + 1] as string, ms, ends.get(run.number) ?? 'ended');
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
  if (guilty !== undefined) events.ran(guilty, ms);
  if (again !== undefined) again.isRepeated = true;
  else guilty?.finish(entriesWithError(recorder, guilty, why), ms, 'stuck');
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

interface SilenceClock {
  /** Milliseconds since the run in progress started, or ended if there is none. */
  sinceStart(now: number): number;
  /** The same for the run that `isTooLong` saw last; 0 for a later run. */
  runMs(now: number): number;
  isTooLong(now: number): boolean;
}

/**
 * Time since the last heartbeat of a run, measured on this thread: a stopped heartbeat is detected
 * here.
 */
function createSilenceClock(recorder: RecorderView, limits: ScriptLimits): SilenceClock {
  let beat = 0;
  let beatAt = 0;
  let run = 0;
  let runAt = 0;
  return {
    sinceStart: (now) => now - runAt,
    runMs(now) {
      const isSeen = recorder.phase !== recorderPhases.idle && recorder.run === run;
      return isSeen ? now - runAt : 0;
    },
    isTooLong(now) {
      const isIdle = recorder.phase === recorderPhases.idle;
      if (recorder.run !== run || isIdle) {
        run = recorder.run;
        runAt = now;
      }
      if (recorder.beat !== beat || isIdle) {
        beat = recorder.beat;
        beatAt = now;
      }
      const isCompiling = recorder.phase === recorderPhases.compiling;
      return now - beatAt > (isCompiling ? limits.compileSilenceMsMax : limits.silenceMsMax);
    },
  };
}
