// Sparkplug limits, each with what happens when it is reached.

export const sparkplugLimits = {
  /** Metrics, cells, rows, properties and items of arrays of one payload; more refuse it. */
  valuesMax: 100_000,
  /** Messages within messages, such as templates in templates; a deeper payload is refused. */
  depthMax: 16,
  /** Bytes of a compressed payload after decompression; more refuse it. */
  inflatedBytesMax: 4 * 1024 * 1024,
  /** Metrics of the births of one edge node; a birth with more is refused. */
  metricsPerNodeMax: 20_000,
  /** Devices of one edge node; the birth of another one is refused. */
  devicesPerNodeMax: 1_000,
  /** Memory of the births of all edge nodes, roughly; a birth beyond it is refused. */
  birthBytesMax: 256 * 1024 * 1024,
  /** A node is asked for its births at most this often. */
  rebirthEveryMs: 10_000,
  /** Faults of a message that its note lists; the others are counted. */
  faultsNotedMax: 10,
  /** A fault that repeats is noted this often for one device. */
  noteEveryMs: 60_000,
  /** Topic filters of one client; a further one is refused. */
  filtersPerClientMax: 100,
} as const;
