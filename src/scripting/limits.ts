// Every limit of the script machine, with what happens at it.

export const scriptLimits = {
  /** Calls of `emit` in one run (interface 2.10); the next one ends the run with an ERROR. */
  emitsMax: 50,
  /** Bytes of all emits of one run as JSON; the emit that passes it ends the run with an ERROR. */
  outputBytesMax: 1_048_576,
  /** Bytes of a script's source as UTF-8; a larger one yields an ERROR without a run (contract 35). */
  sourceBytesMax: 1_048_576,
  /** Bytes of the event as JSON; a larger one yields an ERROR without a run. */
  eventBytesMax: 1_048_576,
  /** CPU time of one run: top level, `consume` and its pending jobs together. Interpreted code is interrupted there. */
  cpuMs: 100,
  /** Silence after which a run is taken to be stuck in a builtin that cannot be interrupted; its worker is ended. */
  silenceMsMax: 400,
  /** The same while a source is parsed and compiled, which polls nothing. */
  compileMsMax: 5_000,
  /** How often the silence is looked at. */
  watchIntervalMs: 25,
  /** Heap of the guest; beyond it the guest sees an out of memory error. */
  heapBytesMax: 32 * 1_048_576,
  /** Linear memory of the engine, the heap with all its overhead. It is reserved, and used only as far as runs need it. */
  memoryBytesMax: 64 * 1_048_576,
  /** Memory that a run may have touched without the instance being thrown away after it. */
  memoryBytesKept: 16 * 1_048_576,
  /** Stack of the guest; beyond it the guest sees a RangeError. */
  stackBytesMax: 256 * 1_024,
  /** Characters kept of an error's message and of its stack. */
  errorMessageCharsMax: 2_000,
  errorStackCharsMax: 4_000,
  /** Bytes of compiled scripts that a worker keeps; the least recently used are forgotten and compiled again. */
  imageCacheBytesMax: 96 * 1_048_576,
  /** Different sources that the machine tells apart; the least recently used are forgotten. */
  scriptsMax: 5_000,
  /** Runs in one message to a worker. */
  batchRunsMax: 16,
  /** Time after which a worker hands the rest of a batch back, so that slow scripts do not hold up others. */
  batchMsMax: 10,
  /** Messages to one worker at once; the second keeps it busy while the answer to the first travels. */
  batchesInFlightMax: 2,
  /** Waiting runs of one tenant and of all; beyond them a run is refused with `intakeFull`. */
  tenantQueueMax: 4_000,
  queueMax: 20_000,
  /** Workers that die before they are ready, in a row, after which the machine gives up. */
  failedStartsMax: 3,
} as const;

export type ScriptLimits = { readonly [K in keyof typeof scriptLimits]: number };
