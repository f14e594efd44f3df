// The script machine: runs users' scripts in worker threads, each run in a fresh realm and within limits.
// It knows no device, rule or store: a source and an event go in, emits come out (interface 2.10, 4.8; contract 15, 16, 35).
import { availableParallelism } from 'node:os';
import type { Json } from '../model/json.ts';
import { problem } from '../model/problem.ts';
import type { Emit, ScriptErrorEvent } from './emit.ts';
import { modeNumber } from './engine.ts';
import { type ScriptLimits, scriptLimits } from './limits.ts';
import { createRunQueue } from './run-queue.ts';
import { createScriptRegistry } from './script-registry.ts';
import type { PendingRun } from './script-thread.ts';
import type { CodecEntry } from './source-analysis.ts';
import { createThreadPool } from './thread-pool.ts';

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
   * with the problem `intakeFull`, when too many runs wait, or `stopping`.
   */
  run(run: ScriptRun): Promise<ScriptResult>;
  /** What is wrong with a source, without running it: syntax, imports, a missing `consume`. Empty when nothing is. */
  check(tenant: string, source: string): Promise<readonly ScriptErrorEvent[]>;
  /** Ends all workers; runs that wait or run are rejected with `stopping`. */
  close(): Promise<void>;
}

export interface ScriptMachineOptions {
  /** Worker threads; by default one less than there are cores, at least one. */
  readonly workers?: number | undefined;
  readonly limits?: Partial<ScriptLimits>;
}

/** Makes the machine. It starts in the background; runs that come before it is ready wait. */
export function createScriptMachine(options: ScriptMachineOptions = {}): ScriptMachine {
  const limits: ScriptLimits = { ...scriptLimits, ...options.limits };
  const queue = createRunQueue<PendingRun>(limits.tenantQueueMax, limits.queueMax);
  const registry = createScriptRegistry(limits.scriptsMax);
  const pool = createThreadPool(options.workers ?? Math.max(1, availableParallelism() - 1), limits, queue);
  let nextNumber = 1;

  const enqueue = (run: Omit<PendingRun, 'number' | 'finish' | 'fail'>): Promise<[string, number]> =>
    new Promise((resolve, reject) => {
      const number = nextNumber;
      nextNumber = number === numberMax ? 1 : number + 1;
      const pending = { ...run, number, finish: (text: string, ms: number) => resolve([text, ms]), fail: reject };
      if (pool.error() !== undefined) reject(pool.error()!);
      else if (queue.push(pending)) pool.dispatchSoon();
      else reject(problem('intakeFull'));
    });

  return {
    async run({ tenant, source, event, entry = 'decodeUplink', nonFinite = 'text' }) {
      const eventText = JSON.stringify(event);
      const refusal =
        tooLarge('script', source, limits.sourceBytesMax) ?? tooLarge('event', eventText, limits.eventBytesMax);
      if (refusal !== undefined) return { emits: [{ type: 'ERROR', event: { message: refusal } }], durationMs: 0 };
      const mode = modeNumber({ entry, nonFinite });
      const script = registry.of(tenant, source);
      const [entries, durationMs] = await enqueue({ tenant, script, mode, event: eventText });
      return { emits: JSON.parse(entries) as Emit[], durationMs };
    },
    async check(tenant, source) {
      const refusal = tooLarge('script', source, limits.sourceBytesMax);
      if (refusal !== undefined) return [{ message: refusal }];
      const [errors] = await enqueue({ tenant, mode: 0, event: source });
      return JSON.parse(errors) as ScriptErrorEvent[];
    },
    close: pool.close,
  };
}

// Numbers of runs are words of the memory that is shared with the workers.
const numberMax = 0x7fff_ffff;

function tooLarge(what: string, text: string, bytesMax: number): string | undefined {
  if (text.length * 3 <= bytesMax || Buffer.byteLength(text) <= bytesMax) return undefined;
  return `The ${what} is larger than ${bytesMax} bytes`;
}
