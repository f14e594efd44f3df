// Server version: what differs between ClickHouse 18.16 and current versions, in one table.
import type { Settings } from './replica.ts';

/** The oldest version that is supported, and the first that is written to as a current one. */
const oldest = [18, 16] as const;
const firstCurrent = [23, 3] as const;

/** What a column has, for its codec. */
export type ColumnUse = 'time' | 'number' | 'count' | 'text';

export interface VersionFeatures {
  /** Written behind the type of a column. */
  readonly codecs: Readonly<Record<ColumnUse, string>>;
  /** Settings of tables without replication, and of those with it. */
  readonly plainTable: Settings;
  readonly replicatedTable: Settings;
  /** Settings of an insert. */
  readonly insert: Settings;
}

/**
 * 18.16 knows neither codecs nor a sync of files, and refuses settings that it does not know.
 * Its limits of partitions and its forms of statements are those of current versions.
 */
const features = {
  '18.16': {
    codecs: { time: '', number: '', count: '', text: '' },
    plainTable: {},
    replicatedTable: { replicated_deduplication_window: 10_000 },
    insert: {},
  },
  current: {
    codecs: {
      time: 'codec(DoubleDelta, ZSTD(1))',
      number: 'codec(Gorilla, ZSTD(1))',
      count: 'codec(Delta, ZSTD(1))',
      text: 'codec(ZSTD(1))',
    },
    plainTable: {
      fsync_after_insert: 1,
      fsync_part_directory: 1,
      non_replicated_deduplication_window: 1_000,
    },
    replicatedTable: {
      fsync_after_insert: 1,
      fsync_part_directory: 1,
      replicated_deduplication_window: 10_000,
    },
    insert: { async_insert: 0 },
  },
} as const satisfies Record<string, VersionFeatures>;

/** Undefined for a version that is too old, or no version. */
export function featuresOf(version: string): VersionFeatures | undefined {
  const [major = Number.NaN, minor = 0] = version.split('.').map(Number);
  const isFrom = ([first, second]: readonly [number, number]): boolean =>
    major > first || (major === first && minor >= second);
  if (!isFrom(oldest)) return undefined;
  return isFrom(firstCurrent) ? features.current : features['18.16'];
}

export const oldestVersion = oldest.join('.');
