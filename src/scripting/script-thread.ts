// One worker thread as the main thread sees it: sends batches, takes answers, and ends the thread when a run gets stuck.
import { Worker } from 'node:worker_threads';
import type { MemoryLayout } from './guest-memory.ts';
import type { ScriptLimits } from './script-limits.ts';
import {
  createRecorderMemory,
  recorderPhases,
  type RecorderView,
  viewRecorder,
} from './run-recorder.ts';
import type { Waiting } from './run-queue.ts';
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

/** A run on its way; `finish` gets its entries as a JSON array. */
export interface PendingRun extends Waiting {
  readonly number: number;
  /** Absent when a source is only checked; the source is then in `event`. */
  readonly script?: ScriptRegistration;
  readonly mode: number;
  readonly event: string;
  /** Whether its thread was ended once already because nothing was heard of it. */
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
  /** Whether it has a run that others do not wait behind. */
  readonly isSlow: boolean;
  /** Whether anything was sent to it since it started. */
  readonly isUsed: boolean;
  /** `slow`: nothing else is to be sent until it is answered. */
  send(runs: readonly PendingRun[], slow: boolean): void;
  /** How long the run under way has taken so far, in milliseconds; 0 without any. */
  runMs(now: number): number;
  /** Looks whether the thread still moves and ends it when it does not; to be called every now and then. */
  watch(now: number): void;
  /** Ends the thread; whatever it was doing is lost. */
  end(): Promise<void>;
}

export interface ThreadEvents {
  ready(): void;
  /** A batch was answered; some of its runs may come back because they were not begun. */
  answered(returned: readonly PendingRun[]): void;
  /** A run has an answer, or a try of it was in vain; `ms` is what it took of a processor. */
  ran(run: PendingRun, ms: number): void;
  /**
   * The thread is gone. All its runs come back but the one that is to blame, which comes as `again` when it may be tried
   * once more: a machine that stood still looks the same from here. `why` is a sentence.
   */
  gone(
    returned: readonly PendingRun[],
    wasReady: boolean,
    again: PendingRun | undefined,
    why: string,
  ): void;
}

export interface ThreadParts {
  readonly module: WebAssembly.Module;
  readonly layout: MemoryLayout;
  readonly limits: ScriptLimits;
}

/** Starts a thread. It is ready when it says so; until then nothing may be sent. */
export function startScriptThread(parts: ThreadParts, events: ThreadEvents): ScriptThread {
  const { limits } = parts;
  const shared = createRecorderMemory(limits.outputBytesMax);
  const recorder = viewRecorder(shared);
  const silence = createSilenceClock(recorder, limits);
  const runs = new Map<number, PendingRun>();
  const known = new Set<number>();
  let isReady = false;
  let isGone = false;
  let batches = 0;
  let isSlow = false;
  let isUsed = false;

  // The thread needs nothing of the environment; what it does not have, no script can find there.
  const worker = new Worker(new URL('./script-worker.ts', import.meta.url), {
    workerData: { ...parts, recorder: shared } satisfies WorkerStart,
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: oldGenerationMbMax, stackSizeMb: hostStackMb },
  });

  const take = (number: number): PendingRun | undefined => {
    const run = runs.get(number);
    runs.delete(number);
    return run;
  };

  const leave = (message: string, bySilence: boolean): void => {
    if (isGone) return;
    isGone = true;
    const guilty = recorder.phase === recorderPhases.idle ? undefined : take(recorder.run);
    const again = bySilence && guilty?.isRepeated === false ? guilty : undefined;
    const ms = silence.sinceStart(performance.now());
    if (guilty !== undefined) events.ran(guilty, ms);
    if (again !== undefined) again.isRepeated = true;
    else if (guilty !== undefined) {
      const entries = recorder.text().slice(0, -1);
      const error =
        guilty.script === undefined ? JSON.stringify({ message }) : errorEntry({ message });
      guilty.finish(`${entries}${entries.length > 1 ? ',' : ''}${error}]`, ms, 'stuck');
    }
    const returned = [...runs.values()];
    runs.clear();
    events.gone(returned, isReady, again, message);
  };

  worker.on('message', (message: FromWorker) => {
    if (isGone) return;
    if (message === 'ready') {
      isReady = true;
      events.ready();
      return;
    }
    const { results, cpuShare, last, returned, forgotten } = message;
    const ends = message.ends.length === 0 ? undefined : new Map(message.ends);
    for (let i = 0; i < results.length; i += resultItems) {
      const run = take(results[i] as number);
      if (run === undefined) continue;
      const ms = results[i + 2] as number;
      events.ran(run, ms * cpuShare);
      run.finish(results[i + 1] as string, ms, ends?.get(run.number) ?? 'ended');
    }
    for (const id of forgotten) known.delete(id);
    const back = returned.map((number) => take(number)!);
    if (!last) return;
    batches -= 1;
    isSlow = false;
    events.answered(back);
  });
  worker.on('error', (error: Error) =>
    leave(`The script broke its worker: ${error.message}`, false),
  );
  worker.on('exit', () => leave('The script broke its worker', false));

  const registration = (run: PendingRun): ScriptRegistration[] => {
    if (run.script === undefined || known.has(run.script.id)) return [];
    known.add(run.script.id);
    return [run.script];
  };

  return {
    get isReady() {
      return isReady;
    },
    get batches() {
      return batches;
    },
    runs,
    get isSlow() {
      return isSlow;
    },
    get isUsed() {
      return isUsed;
    },
    runMs: (now) => (runs.size === 0 ? 0 : silence.underWay(now)),
    send(batch, slow) {
      isSlow = slow;
      isUsed = true;
      const scripts = batch.flatMap(registration);
      const flat: (number | string)[] = [];
      for (const run of batch) {
        runs.set(run.number, run);
        flat.push(run.number, run.script?.id ?? checkOnly, run.mode, run.event);
      }
      // A trial travels alone.
      const compileCpuMs =
        batch[0]?.kind === 'trial' ? limits.compileCpuMs : limits.liveCompileCpuMs;
      batches += 1;
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- That is a window's.
      worker.postMessage({ scripts, compileCpuMs, runs: flat } satisfies ToWorker);
    },
    watch(now) {
      if (isGone || !silence.isTooLong(now)) return;
      leave(`The script was ended after ${Math.round(silence.sinceStart(now))} ms`, true);
      void worker.terminate();
    },
    async end() {
      isGone = true;
      await worker.terminate();
    },
  };
}

// A source of the greatest length needs this much to be parsed.
const oldGenerationMbMax = 512;
const hostStackMb = 4;

/** How long a run has given no sign of life. The thread's own clock is not needed: a beat that stands still is seen here. */
function createSilenceClock(recorder: RecorderView, limits: ScriptLimits) {
  let beat = 0;
  let beatAt = 0;
  let run = 0;
  let runAt = 0;
  return {
    sinceStart: (now: number): number => now - runAt,
    /** The same as far as it was seen by the last look; 0 for a run that began since. */
    underWay: (now: number): number =>
      recorder.phase !== recorderPhases.idle && recorder.run === run ? now - runAt : 0,
    isTooLong(now: number): boolean {
      if (recorder.run !== run || recorder.phase === recorderPhases.idle) {
        run = recorder.run;
        runAt = now;
      }
      if (recorder.beat !== beat || recorder.phase === recorderPhases.idle) {
        beat = recorder.beat;
        beatAt = now;
      }
      const max =
        recorder.phase === recorderPhases.compiling
          ? limits.compileSilenceMsMax
          : limits.silenceMsMax;
      return now - beatAt > max;
    },
  };
}
