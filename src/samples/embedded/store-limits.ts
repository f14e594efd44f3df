// The limits of the embedded store, by name; tests make them small.

export const storeLimits = {
  /**
   * From so many rows on, open rows close at the next UTC day: a day's chunk answers a day's
   * question from its statistics.
   */
  rowsToCloseAtDay: 720,
  /** From so many rows on, they close at the next hour. */
  rowsToCloseAtHour: 2_048,
  rowsMax: 4_096,
  /** Rows times columns: rows that share no keys close early. */
  openCellsMax: 262_144,
  openRowsBytesMax: 2 * 1024 * 1024,
  /** Sealed chunks wait in memory until so many bytes make a segment. */
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
   * The limits on the journal's tail and on open rows are looked at after so many journalled bytes.
   */
  lookEveryBytes: 2 * 1024 * 1024,
  /** So many segments of about one size are merged into one. */
  segmentsToMerge: 6,
  /** Larger segments are left as they are. */
  mergedBytesMax: 256 * 1024 * 1024,
  /** Overlapping chunks are merged up to so many rows at a time. */
  mergeRowsMax: 8_192,
} as const;

export type StoreLimits = { readonly [K in keyof typeof storeLimits]: number };
