// Every limit of the script machine, with what happens at it.

export const scriptLimits = {
  /** Calls of `emit` in one run (interface 2.10); the next one ends the run with an ERROR. */
  emitsMax: 50,
  /** Bytes of all emits of one run as JSON; the emit that passes it ends the run with an ERROR. */
  outputBytesMax: 1_048_576,
  /**
   * Bytes of a script's source as UTF-8; a larger one yields an ERROR without a run (contract 35).
   */
  sourceBytesMax: 1_048_576,
  /** Bytes of the event as JSON; a larger one yields an ERROR without a run. */
  eventBytesMax: 1_048_576,
  /**
   * CPU time of one run: top level, `consume` and its pending jobs together. Interpreted code is
   * interrupted there.
   */
  cpuMs: 100,
  /**
   * Silence after which a run is taken to be stuck in a builtin that cannot be interrupted; its
   * worker is ended.
   */
  silenceMsMax: 400,
  /** CPU time to parse a source that is tried out; one that needs more is refused. */
  compileCpuMs: 200,
  /**
   * The same for live runs: a source that could be tried is never refused there, however slow the
   * machine is just then.
   */
  liveCompileCpuMs: 1_000,
  /**
   * Silence after which a source is taken to be stuck in the engine's compiler, which polls
   * nothing.
   */
  compileSilenceMsMax: 2_000,
  /** How often the silence is looked at. */
  watchIntervalMs: 25,
  /** Heap of the guest; beyond it the guest sees an out of memory error. */
  heapBytesMax: 32 * 1_048_576,
  /**
   * Linear memory of the engine, the heap with all its overhead. It is reserved, and used only as
   * far as runs need it.
   */
  memoryBytesMax: 64 * 1_048_576,
  /** Memory that a run may have touched without the instance being thrown away after it. */
  memoryBytesKept: 16 * 1_048_576,
  /** Stack of the guest; beyond it the guest sees a RangeError. */
  stackBytesMax: 256 * 1_024,
  /** Characters kept of an error's message and of its stack. */
  errorMessageCharsMax: 2_000,
  errorStackCharsMax: 4_000,
  /**
   * Bytes of compiled scripts that a worker keeps; the least recently used are forgotten and
   * compiled again.
   */
  imageCacheBytesMax: 96 * 1_048_576,
  /**
   * Different sources that the machine tells apart, and their length together; the least recently
   * used are forgotten.
   */
  scriptsMax: 5_000,
  scriptCharsMax: 64 * 1_048_576,
  /** Runs in one message to a worker. */
  batchRunsMax: 16,
  /**
   * Time after which a worker hands the rest of a batch back, so that slow scripts do not hold up
   * others.
   */
  batchMsMax: 10,
  /**
   * Messages to one worker at once; the second keeps it busy while the answer to the first travels.
   */
  batchesInFlightMax: 2,
  /**
   * A tenant whose runs take longer than this on average is kept off the thread that is reserved
   * for the others.
   */
  quickMsMax: 10,
  /**
   * Waiting live runs of one tenant, and waiting runs of all; beyond them a run is refused with
   * `intakeFull`.
   */
  tenantQueueMax: 4_000,
  queueMax: 20_000,
  /**
   * Trial runs of one tenant: under way, waiting, and the bytes of those that wait; beyond them
   * `quotaBusy`.
   */
  trialsRunningMax: 4,
  trialsWaitingMax: 1_000,
  trialBytesMax: 64 * 1_048_576,
  /** Time without a slow or trial run after which the reserved thread is ended. */
  reserveIdleMs: 60_000,
  /** Time without any run after which threads are replaced by fresh ones, which hold no scripts. */
  idleMs: 300_000,
  /** How often the idle times are looked at. */
  restIntervalMs: 15_000,
  /** Workers that die before they are ready, in a row, after which the machine gives up. */
  failedStartsMax: 3,
} as const;

export type ScriptLimits = { readonly [K in keyof typeof scriptLimits]: number };
