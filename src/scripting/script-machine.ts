// The script machine: runs users' scripts in worker threads, each run in a fresh realm and within limits.
// It knows no device, rule or store: a source and an event go in, emits come out (interface 2.10, 4.8; contract 15, 16, 35).
import { availableParallelism } from 'node:os';
import type { Json } from '../model/json.ts';
import { problem } from '../model/problem.ts';
import { quotaDetails, standardQuotas } from '../model/quota.ts';
import type { Emit, ScriptErrorEvent } from './emit.ts';
import { modeNumber } from './engine.ts';
import { type ScriptLimits, scriptLimits } from './script-limits.ts';
import { createRunQueue, type RunKind } from './run-queue.ts';
import { createScriptRegistry } from './script-registry.ts';
import type { PendingRun } from './script-thread.ts';
import type { CodecEntry } from './source-analysis.ts';
import { createThreadPool } from './thread-pool.ts';
import type { RunOutcome } from './worker-messages.ts';

export interface ScriptRun {
  /** Whose script it is; nothing of one tenant is ever in the memory in which another one's script runs. */
  readonly tenant: string;
  readonly source: string;
  /** The argument of `consume`. */
  readonly event: Json;
  /** For LoRa Alliance payload codecs: which function is meant. Scripts with `consume` are always entered there. */
  readonly entry?: CodecEntry;
  /**
   * How numbers that JSON cannot hold are written: `text` as "NaN", "Infinity" and "-Infinity", which is what run-script
   * answers; `marked` as null, with their paths in `Emit.nonFinite` (contract 16).
   */
  readonly nonFinite?: 'text' | 'marked';
  /** `trial` runs come after `live` ones and have limits of their own; without it a run is live. */
  readonly kind?: RunKind;
  /** A run that waits is dropped when it is aborted: its answer has no entries. */
  readonly signal?: AbortSignal | undefined;
}

export interface ScriptResult {
  /** In the order of emitting. With `nonFinite: 'text'` exactly the array that run-script answers. */
  readonly emits: readonly Emit[];
  /** Milliseconds that the run took in its worker. */
  readonly durationMs: number;
}

export interface ScriptMachine {
  /**
   * Runs a script once. Everything that a script or its source does wrong is an ERROR entry; the promise is rejected only
   * with the problem `intakeFull`, when too many runs wait, `quotaBusy`, when too many trials of the tenant do, or `stopping`.
   */
  run(run: ScriptRun): Promise<ScriptResult>;
  /** What is wrong with a source, without running it: syntax, imports, a missing `consume`. Empty when nothing is. */
  check(tenant: string, source: string): Promise<readonly ScriptErrorEvent[]>;
  /** Waiting runs of all tenants, and threads. */
  readonly waiting: number;
  readonly threads: number;
  /** Trial runs of a tenant that wait, and that are under way. */
  trials(tenant: string): { readonly waiting: number; readonly underWay: number };
  /** Ends all workers; runs that wait or run are rejected with `stopping`. */
  close(): Promise<void>;
}

export interface ScriptMachineOptions {
  /** Worker threads; by default one less than there are cores, at least one. */
  readonly workers?: number | undefined;
  readonly limits?: Partial<ScriptLimits>;
  /** Told of every run that has an answer. */
  readonly ran?: ((run: RunFigures) => void) | undefined;
  /** Told in a sentence why a worker died or was ended and replaced. */
  readonly troubled?: ((why: string) => void) | undefined;
}

export interface RunFigures {
  readonly kind: RunKind;
  /** `error`: the script itself failed. */
  readonly outcome: RunOutcome | 'error';
  readonly waitMs: number;
  readonly durationMs: number;
}

/** Makes the machine. It starts in the background; runs that come before it is ready wait. */
export function createScriptMachine(options: ScriptMachineOptions = {}): ScriptMachine {
  const { ran = () => undefined, troubled = () => undefined } = options;
  const limits: ScriptLimits = { ...scriptLimits, ...options.limits };
  const queue = createRunQueue<PendingRun>(limits, () => performance.now());
  const registry = createScriptRegistry(limits.scriptsMax, limits.scriptCharsMax);
  const pool = createThreadPool(
    options.workers ?? Math.max(1, availableParallelism() - 1),
    limits,
    queue,
    troubled,
  );
  let nextNumber = 1;

  const restTimer = setInterval(() => {
    if (pool.rest(performance.now())) registry.clear();
  }, limits.restIntervalMs);
  restTimer.unref();

  const enqueue = (run: NewRun, signal?: AbortSignal): Promise<RunAnswer> =>
    new Promise((resolve, reject) => {
      if (pool.error() !== undefined) return reject(pool.error()!);
      if (signal?.aborted === true) return resolve(dropped);
      const number = nextNumber;
      nextNumber = number === numberMax ? 1 : number + 1;
      const queuedAt = performance.now();
      const pending: PendingRun = {
        ...run,
        number,
        bytes: run.event.length + (run.script?.source.length ?? 0),
        isRepeated: false,
        finish(entries, durationMs, outcome) {
          signal?.removeEventListener('abort', drop);
          resolve({
            entries,
            durationMs,
            outcome,
            waitMs: Math.max(0, performance.now() - queuedAt - durationMs),
          });
        },
        fail: reject,
      };
      const drop = (): void => {
        if (queue.remove(pending)) resolve(dropped);
      };
      const pushed = queue.push(pending);
      if (pushed === 'taken') {
        signal?.addEventListener('abort', drop, { once: true });
        pool.dispatchSoon();
      } else if (pushed === 'full' || run.kind === 'live') reject(problem('intakeFull'));
      else reject(trialRefusal(limits));
    });

  return {
    async run({
      tenant,
      source,
      event,
      entry = 'decodeUplink',
      nonFinite = 'text',
      kind = 'live',
      signal,
    }) {
      const eventText = JSON.stringify(event);
      const refusal =
        tooLarge('script', source, limits.sourceBytesMax) ??
        tooLarge('event', eventText, limits.eventBytesMax);
      if (refusal !== undefined)
        return { emits: [{ type: 'ERROR', event: { message: refusal } }], durationMs: 0 };
      const mode = modeNumber({ entry, nonFinite });
      const script = registry.of(tenant, source);
      const answer = await enqueue({ tenant, kind, script, mode, event: eventText }, signal);
      const emits = JSON.parse(answer.entries) as Emit[];
      if (answer !== dropped) ran(figuresOf(kind, answer, emits));
      return { emits, durationMs: answer.durationMs };
    },
    async check(tenant, source) {
      const refusal = tooLarge('script', source, limits.sourceBytesMax);
      if (refusal !== undefined) return [{ message: refusal }];
      const { entries } = await enqueue({ tenant, kind: 'trial', mode: 0, event: source });
      return JSON.parse(entries) as ScriptErrorEvent[];
    },
    get waiting() {
      return queue.size;
    },
    get threads() {
      return pool.threads;
    },
    trials: queue.trials,
    async close() {
      clearInterval(restTimer);
      await pool.close();
    },
  };
}

type NewRun = Pick<PendingRun, 'tenant' | 'kind' | 'script' | 'mode' | 'event'>;

interface RunAnswer {
  /** A JSON array. */
  readonly entries: string;
  readonly durationMs: number;
  readonly outcome: RunOutcome;
  readonly waitMs: number;
}

/** The answer to somebody who does not wait for it any more. */
const dropped: RunAnswer = { entries: '[]', durationMs: 0, outcome: 'ended', waitMs: 0 };

function figuresOf(
  kind: RunKind,
  { outcome, waitMs, durationMs }: RunAnswer,
  emits: readonly Emit[],
): RunFigures {
  const failed = outcome === 'ended' && emits.some(({ type }) => type === 'ERROR');
  return { kind, outcome: failed ? 'error' : outcome, waitMs, durationMs };
}

function trialRefusal(limits: ScriptLimits) {
  const quotas = { ...standardQuotas, runScriptsWaiting: limits.trialsWaitingMax };
  return problem('quotaBusy', {
    ...quotaDetails(quotas, 'runScriptsWaiting'),
    retryAfterSeconds: 1,
  });
}

// Numbers of runs are words of the memory that is shared with the workers.
const numberMax = 0x7fff_ffff;

function tooLarge(what: string, text: string, bytesMax: number): string | undefined {
  if (text.length * 3 <= bytesMax || Buffer.byteLength(text) <= bytesMax) return undefined;
  return `The ${what} is larger than ${bytesMax} bytes`;
}
