// What the main thread and a script worker tell each other. Runs travel as flat lists: copying those is cheapest.
import type { MemoryLayout } from './quickjs.ts';
import type { ScriptLimits } from './script-limits.ts';

/** Given to a worker when it starts. */
export interface WorkerStart {
  readonly module: WebAssembly.Module;
  readonly layout: MemoryLayout;
  readonly limits: ScriptLimits;
  readonly recorder: SharedArrayBuffer;
}

/**
 * A script that a worker does not know yet. Scripts of different tenants are different scripts,
 * whatever their source.
 */
export interface ScriptRegistration {
  readonly id: number;
  readonly tenant: string;
  readonly source: string;
}

export interface ToWorker {
  readonly scripts: readonly ScriptRegistration[];
  /** CPU milliseconds to parse the source of any of the runs. */
  readonly compileCpuMs: number;
  /** For each run four items: its number, the script's id, the mode, the event as JSON. */
  readonly runs: readonly (number | string)[];
}

export type FromWorker =
  | 'ready'
  | {
      /**
       * For each finished run three items: its number, its entries as a JSON array, its duration in
       * ms.
       */
      readonly results: readonly (number | string)[];
      /** How runs ended that did not end by themselves, by their numbers. */
      readonly ends: readonly (readonly [number, RunOutcome])[];
      /** The part of these durations during which the thread had a processor. */
      readonly cpuShare: number;
      /** Whether the batch is done; a slow one is answered in parts. */
      readonly last: boolean;
      /**
       * Runs of the batch that were not begun: the time was used up, or their script is not known
       * any more.
       */
      readonly returned: readonly number[];
      /** Scripts that were evicted to free memory. */
      readonly forgotten: readonly number[];
    };

export const runItems = 4;
export const resultItems = 3;

/**
 * How a run ended: `late` by the limit of CPU time, `refused` because its source takes too long to
 * compile, `stuck` with its thread, which the main thread ended.
 */
export type RunOutcome = 'ended' | 'late' | 'refused' | 'stuck';

/**
 * As a script's id: a source is only to be checked. It stands where the event would; the entries
 * are its errors.
 */
export const checkOnly = -1;
