// Change following: forwards record changes of other nodes to everything that this node keeps of records in memory.
import type { ChangeFollower } from '../model/record.ts';
import type { PublishedChanges } from '../storage/records/rows/shared-records.ts';
import type { SetTimer } from '../structures/timers.ts';

export const changeFollowing = {
  /** How often a node reads without being asked. */
  everyMs: 200,
  rowsMax: 200,
  /** A node that has read nothing for so long discards everything that it keeps. */
  staleAfterMs: 10_000,
  /** Rows are kept for longer than a node can be away without a loss of its memory. */
  keptMs: 600_000,
} as const;

interface ChangeFollowingParts {
  /** The id of this node, which knows its own changes. */
  readonly node: string;
  /** The newest change when nothing was in memory yet; see `recordChangeRows.newest`. */
  readonly from: number;
  /** See `recordChangeRows.behind`. */
  readonly read: (last: number, max: number) => Promise<readonly PublishedChanges[] | undefined>;
  readonly newest: () => Promise<number>;
  readonly follower: ChangeFollower;
  /** See `RecordsEngine.listsChanged`. */
  readonly listsChanged: (organizationIds: readonly string[] | 'all') => void;
  readonly failed: (error: unknown) => void;
  /** Milliseconds, for lengths of time only. */
  readonly clock: () => number;
  readonly setRepeatingTimer: SetTimer;
}

export interface ChangeFollowing {
  /** Call when another node has committed something. Resolves when all of it was forwarded. */
  readNow(): Promise<void>;
  /** How long ago the node was up to date for the last time. */
  readonly behindMs: () => number;
  close(): Promise<void>;
}

interface FollowingState {
  /** The last change that was forwarded; undefined when it was removed meanwhile. */
  last: number | undefined;
  isRequested: boolean;
  isClosed: boolean;
  upToDateAt: number;
  discardedAt: number;
}

/** Reads repeatedly from the call on. */
export function createChangeFollowing(parts: ChangeFollowingParts): ChangeFollowing {
  const { clock, from: last } = parts;
  const [upToDateAt, discardedAt] = [clock(), clock()];
  const state: FollowingState = {
    last,
    upToDateAt,
    discardedAt,
    isRequested: false,
    isClosed: false,
  };
  let reading: Promise<void> | undefined;

  async function read(): Promise<void> {
    try {
      // Requests also come after the last look for them, while its promise is settled.
      do await readAll(state, parts);
      while (state.isRequested && !state.isClosed);
    } catch (error) {
      parts.failed(error);
    } finally {
      // Not a microtask later: a request in between would be lost.
      reading = undefined;
    }
  }

  function readNow(): Promise<void> {
    state.isRequested = true;
    reading ??= read();
    return reading;
  }

  const stop = parts.setRepeatingTimer(() => {
    void readNow();
    // A read that hangs reports nothing.
    const trustedAt = Math.max(state.upToDateAt, state.discardedAt);
    if (clock() - trustedAt > changeFollowing.staleAfterMs) discardAll(state, parts);
  }, changeFollowing.everyMs);

  return {
    readNow,
    behindMs: () => clock() - state.upToDateAt,
    async close() {
      state.isClosed = true;
      stop();
      await reading;
    },
  };
}

async function readAll(state: FollowingState, parts: ChangeFollowingParts): Promise<void> {
  let isUpToDate = false;
  while ((state.isRequested || !isUpToDate) && !state.isClosed) {
    state.isRequested = false;
    const startedAt = parts.clock();
    if (state.last === undefined) {
      state.last = await parts.newest();
      // What was read before that change is discarded, and what is read from here on is behind it.
      discardAll(state, parts);
    }
    isUpToDate = await readRows(state.last, state, parts);
    if (isUpToDate) state.upToDateAt = startedAt;
  }
}

/** True when these were all rows. */
async function readRows(
  last: number,
  state: FollowingState,
  parts: ChangeFollowingParts,
): Promise<boolean> {
  const rows = await parts.read(last, changeFollowing.rowsMax);
  if (rows === undefined) {
    state.last = undefined;
    return false;
  }
  for (const row of rows) {
    if (row.node !== parts.node) forward(row, parts);
    state.last = row.sequence;
  }
  return rows.length < changeFollowing.rowsMax;
}

function discardAll(state: FollowingState, parts: ChangeFollowingParts): void {
  state.discardedAt = parts.clock();
  try {
    parts.listsChanged('all');
    parts.follower.changesMissed();
  } catch (error) {
    parts.failed(error);
  }
}

/** A change that cannot be forwarded does not stop the others. */
function forward(
  { changes, lists }: PublishedChanges,
  { follower, listsChanged, failed }: ChangeFollowingParts,
): void {
  if (lists.length > 0) listsChanged(lists);
  for (const change of changes) {
    try {
      follower.recordChanged(change);
    } catch (error) {
      failed(error);
    }
  }
}
