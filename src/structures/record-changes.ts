// Record changes: which records changed since a read began, so that a read is discarded only for what it contains.
import { createBoundedMap } from './bounded-map.ts';

/** Reads take milliseconds. One that lasts longer than this many changes is not cached. */
const changesKept = 20_000;

export interface RecordChanges {
  /** Number of changes so far. */
  readonly revision: number;
  add(recordId: string): void;
  /** Any record may have changed. */
  addAll(): void;
  /** Whether the record may have changed after the revision. */
  hasChanged(recordId: string, revision: number): boolean;
}

export function createRecordChanges(max = changesKept): RecordChanges {
  let revision = 0;
  let evicted = 0;
  const revisions = createBoundedMap<string, number>(max, (oldest) => {
    evicted = oldest;
  });
  return {
    get revision() {
      return revision;
    },
    add(recordId) {
      revision += 1;
      revisions.set(recordId, revision);
    },
    addAll() {
      revision += 1;
      evicted = revision;
      revisions.clear();
    },
    hasChanged: (recordId, since) => (revisions.get(recordId) ?? evicted) > since,
  };
}
