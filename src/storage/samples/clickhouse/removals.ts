// Removals: ranges of samples that replacements removed and ClickHouse still has, as conditions for its rows and for open ones.
import { isInRange } from '../../../model/replacement.ts';
import { int64, listOf, quoted } from '../../clickhouse/statement-values.ts';
import type { LoggedEntry } from '../../log/logged-entry.ts';
import type { RemovalOfJournal } from '../remote-pending-samples.ts';
import type { OpenRow } from './open-rows.ts';

export type Removal = RemovalOfJournal;

/** By device. */
export type RemovalsByDevice = ReadonlyMap<string, readonly Removal[]>;

/** What the entry removes. */
export function removalsOf(
  { position, storedAt, replaces }: LoggedEntry,
  journal: number,
): readonly Removal[] {
  const end = { journal, position: replaces?.before?.position ?? position, storedAt };
  return (replaces?.ranges ?? []).map((range) => ({ ...range, ...end }));
}

export function isRemoved(removals: readonly Removal[], row: OpenRow, ofJournal: number): boolean {
  return removals.some(
    (removal) =>
      isInRange(removal, row.topic, row.timestamp) &&
      (ofJournal === removal.journal
        ? row.position < removal.position
        : row.storedAt <= removal.storedAt),
  );
}

/** A condition for the removed rows of a device, in the tables of samples and points. */
export function removedText(deviceId: string, removals: readonly Removal[]): string {
  const ranges = removals.map(({ topics, from, to, journal, position, storedAt }) => {
    const ofTopics = topics === null ? '' : ` and topic in ${listOf(topics)}`;
    return `(ts >= ${int64(from)} and ts < ${int64(to)}${ofTopics} and if(journal = ${journal}, position < ${position}, storedAt <= ${int64(storedAt)}))`;
  });
  return `(device = ${quoted(deviceId)} and (${ranges.join(' or ')}))`;
}
