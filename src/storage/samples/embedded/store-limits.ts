// The limits of the embedded store, by name; tests make them small.

export const storeLimits = {
  /**
   * From this number of rows on, open rows close at the next UTC day: a day's chunk answers a day's
   * question from its statistics.
   */
  rowsToCloseAtDay: 720,
  /** From this number of rows on, they close at the next hour. */
  rowsToCloseAtHour: 2_048,
  rowsMax: 4_096,
  /** Rows times columns: rows that share no keys close early. */
  openCellsMax: 262_144,
  openRowsBytesMax: 2 * 1024 * 1024,
  /** Sealed chunks wait in memory until a segment has this number of bytes. */
  segmentBytes: 4 * 1024 * 1024,
  /**
   * What a start may have to replay: rows that have been in the journal for longer are sealed,
   * however few they are.
   */
  journalTailBytes: 128 * 1024 * 1024,
  /** What all unsealed rows may take in memory; beyond, the oldest are sealed. */
  openBytes: 160 * 1024 * 1024,
  /** What closed rows that wait to be sealed may take in memory; beyond, writers wait. */
  closedBytesMax: 64 * 1024 * 1024,
  /**
   * The limits on the journal's tail and on open rows are checked after this number of journalled bytes.
   */
  lookEveryBytes: 2 * 1024 * 1024,
  /** This number of segments of about one size are merged into one. */
  segmentsToMerge: 6,
  /** Larger segments are left as they are. */
  mergedBytesMax: 256 * 1024 * 1024,
  /** Overlapping chunks are merged up to this number of rows at a time. */
  mergeRowsMax: 8_192,
  /**
   * From this number on, the rows of one device and topic, of one entry or in one memtable, become
   * chunks.
   */
  chunkRowsMin: 720,
  /** Up to this number of rows, making chunks takes less than messages to another thread and back. */
  chunkRowsAtOnce: 1_024,
  /** Closed rows become chunks in one job up to this number of rows. */
  chunkRowsPerJob: 16_384,
  /** Rows of one device at one instant; with more, further ones become chunks. */
  instantRowsMax: 16,
  /** A memtable with this number of rows is sealed. */
  memtableRowsMax: 524_288,
  /** Shapes and topics with a memtable at the same time; further ones have open rows by device. */
  memtablesMax: 256,
  /** What memtables that take rows may take in memory; beyond, the largest is sealed. */
  memtableBytes: 128 * 1024 * 1024,
  /** What memtables that wait to be sealed may take in memory; beyond, writers wait. */
  closedMemtableBytesMax: 192 * 1024 * 1024,
  /** Memory of sealed memtables that is kept for later ones. */
  spareMemtableBytes: 64 * 1024 * 1024,
  /** Shapes and topics with runs; those of one workspace. */
  tablesMax: 1_024,
  tablesPerWorkspace: 128,
  /** Up to this number of rows, writing a run takes less than a thread takes to start: some milliseconds. */
  runRowsAtOnce: 8_192,
  /** This number of neighboring runs of one level become one. */
  runsToMerge: 8,
  /** Runs are not merged to more than about this size. */
  mergedRunBytesMax: 512 * 1024 * 1024,
  /** Decoded sections of runs that are kept for further reads. */
  sectionCacheBytes: 48 * 1024 * 1024,
  /** Hours and values of chunks that are kept, decoded, for further reads. */
  keptChunkBytes: 64 * 1024 * 1024,
  /** At least this number of the last rows of a chunk is decoded when they are not all. */
  lastRowsMin: 128,
  /** Removed ranges of one device, and of all, of which files still have rows. */
  removalsPerDevice: 1_000,
  removalsMax: 100_000,
  /** The newest samples of devices that were asked for. */
  newestSampleBytes: 32 * 1024 * 1024,
} as const;

export type StoreLimits = { readonly [K in keyof typeof storeLimits]: number };
