// Decoded entry: what both formats of entries have in common when they are read.
import type { EpochMs } from '../model/instant.ts';
import type { JournalEntry } from '../model/journal-entry.ts';
import type { JsonObject } from '../model/json.ts';
import type { DataShape } from './data-shape.ts';
import type { LeafValues } from './leaf-values.ts';
import type { EntrySample } from './logged-entry.ts';

/** A row without its data. */
export type DecodedSample = Omit<EntrySample, 'deviceId' | 'data'>;

export interface DecodedRows {
  readonly samples: readonly DecodedSample[];
  readonly shapes: readonly DataShape[];
  readonly values: LeafValues;
  /** See `LoggedRows`. */
  readonly valuesAt?: number;
}

/** What an entry has apart from its rows. */
export type EntryRest = Pick<JournalEntry, 'notes' | 'state' | 'metrics' | 'trace'>;

export interface DecodedEntry {
  readonly deviceId: string;
  readonly receivedAt: EpochMs;
  readonly duplicates: number;
  readonly firstOrder: number;
  readonly rows: DecodedRows;
  /** `data` is that of the first row. To be called once. */
  readonly rest: (data: JsonObject | undefined) => EntryRest;
}
