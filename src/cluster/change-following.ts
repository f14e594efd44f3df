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

/** Reads repeatedly from its creation on. */
export class ChangeFollowing {
  readonly #parts: ChangeFollowingParts;
  readonly #stop: () => void;
  /** The last change that was forwarded; undefined when it was removed meanwhile. */
  #last: number | undefined;
  #reading: Promise<void> | undefined;
  #isRequested = false;
  #isClosed = false;
  #upToDateAt: number;
  #discardedAt: number;

  constructor(parts: ChangeFollowingParts) {
    const { clock } = parts;
    this.#parts = parts;
    this.#last = parts.from;
    this.#upToDateAt = clock();
    this.#discardedAt = clock();
    this.#stop = parts.setRepeatingTimer(() => {
      void this.readNow();
      // A read that hangs reports nothing.
      const trustedAt = Math.max(this.#upToDateAt, this.#discardedAt);
      if (clock() - trustedAt > changeFollowing.staleAfterMs) this.#discardAll();
    }, changeFollowing.everyMs);
  }

  /** Call when another node has committed something. Resolves when all of it was forwarded. */
  readonly readNow = (): Promise<void> => {
    this.#isRequested = true;
    this.#reading ??= this.#read();
    return this.#reading;
  };

  /** How long ago the node was up to date for the last time. */
  readonly behindMs = (): number => this.#parts.clock() - this.#upToDateAt;

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stop();
    await this.#reading;
  }

  async #read(): Promise<void> {
    try {
      // Requests also come after the last look for them, while its promise is settled.
      do await this.#readAll();
      while (this.#isRequested && !this.#isClosed);
    } catch (error) {
      this.#parts.failed(error);
    } finally {
      // Not a microtask later: a request in between would be lost.
      this.#reading = undefined;
    }
  }

  async #readAll(): Promise<void> {
    let isUpToDate = false;
    while ((this.#isRequested || !isUpToDate) && !this.#isClosed) {
      this.#isRequested = false;
      const startedAt = this.#parts.clock();
      if (this.#last === undefined) {
        this.#last = await this.#parts.newest();
        // What was read before that change is discarded, and what is read from here on is behind it.
        this.#discardAll();
      }
      isUpToDate = await this.#readRows(this.#last);
      if (isUpToDate) this.#upToDateAt = startedAt;
    }
  }

  /** True when these were all rows. */
  async #readRows(last: number): Promise<boolean> {
    const rows = await this.#parts.read(last, changeFollowing.rowsMax);
    if (rows === undefined) {
      this.#last = undefined;
      return false;
    }
    for (const row of rows) {
      if (row.node !== this.#parts.node) this.#forward(row);
      this.#last = row.sequence;
    }
    return rows.length < changeFollowing.rowsMax;
  }

  #discardAll(): void {
    const { clock, listsChanged, follower, failed } = this.#parts;
    this.#discardedAt = clock();
    try {
      listsChanged('all');
      follower.changesMissed();
    } catch (error) {
      failed(error);
    }
  }

  /** A change that cannot be forwarded does not stop the others. */
  #forward({ changes, lists }: PublishedChanges): void {
    const { follower, listsChanged, failed } = this.#parts;
    if (lists.length > 0) listsChanged(lists);
    for (const change of changes) {
      try {
        follower.recordChanged(change);
      } catch (error) {
        failed(error);
      }
    }
  }
}
