// Followers of the journal: one table with their order, and one loop that announces entries.
import { type DurableEntry, type DurableRows, isWritten } from '../../model/journal-entry.ts';
import {
  createJournalFollower,
  type FollowedLog,
  type JournalFollower,
  type JournalFollowerParts,
} from './journal-consumer.ts';

/**
 * The rows are in the order of announcement: a client that got a sample by the live stream finds
 * everything else under way. Where the effects of a follower are kept decides what happens to
 * entries that it has not handled at a stop:
 * - `ownTransaction`: it keeps its position together with its effects and gets the rest at the next
 * start;
 * - `told`: the log keeps its position, and it gets the rest again, at least once;
 * - `none`: it only hears what becomes durable while it is there.
 */
export const followerTable = {
  /** Metrics, states and notes of devices in the records. */
  'device-status': 'ownTransaction',
  /** Deliveries to outputs: the journal is their draft until they have their own record. */
  outputs: 'ownTransaction',
  /**
   * Rules write how far they came with what they caused; what has no effect is told to the log
   * alone.
   */
  rules: 'told',
  /** Calculations mark what late samples touch; the marks may be written again. */
  calculations: 'told',
  /** Raw uplinks are synced with their own files. */
  'raw-uplinks': 'ownTransaction',
  live: 'none',
  /** What other nodes follow. Without other nodes, nothing listens. */
  feeds: 'none',
} as const satisfies Readonly<Record<string, JournalFollowerParts['durability'] | 'none'>>;

type FollowerName = keyof typeof followerTable;
type FollowerOfLog = {
  [Name in FollowerName]: (typeof followerTable)[Name] extends 'none' ? never : Name;
}[FollowerName];

export const followersOfLog = (Object.keys(followerTable) as FollowerName[]).filter(
  (name): name is FollowerOfLog => followerTable[name] !== 'none',
);

interface Listener {
  readonly follow: (entry: DurableEntry) => void;
  readonly followRows: (rows: DurableRows) => void;
}

export class Followers {
  readonly #log: FollowedLog;
  readonly #byName = new Map<FollowerName, Listener>();
  #inOrder: readonly Listener[] = [];

  constructor(log: FollowedLog) {
    this.#log = log;
  }

  /** The same for the entries of rows together. */
  readonly announceRows = (rows: DurableRows): void => {
    for (const { followRows } of this.#inOrder) followRows(rows);
  };

  /** Starts a follower of the journal. Each name once. */
  start(
    name: FollowerOfLog,
    {
      announced,
      ...parts
    }: Omit<JournalFollowerParts, 'name' | 'log' | 'durability'> & {
      /** Called with every entry as it is announced, before it is handled. Rows are only samples. */
      readonly announced?: (entry: DurableEntry) => void;
    },
  ): JournalFollower {
    const durability = followerTable[name];
    const follower = createJournalFollower({ ...parts, name, log: this.#log, durability });
    const follow = (entry: DurableEntry): void => {
      // An entry of which nothing was left is not in the journal.
      if (isWritten(entry)) announced?.(entry);
      follower.follow(entry);
    };
    this.#add(name, { follow, followRows: follower.followRows });
    return { ...follower, follow };
  }

  /** Adds a listener without a position. */
  listen(
    name: Exclude<FollowerName, FollowerOfLog>,
    follow: (entry: DurableEntry) => void,
    followRows: (rows: DurableRows) => void,
  ): void {
    this.#add(name, { follow, followRows });
  }

  /** Call once for every entry that became durable. */
  announce(entry: DurableEntry): void {
    for (const { follow } of this.#inOrder) follow(entry);
  }

  #add(name: FollowerName, listener: Listener): void {
    if (this.#byName.has(name)) throw new Error(`Follower ${name} was started twice`);
    this.#byName.set(name, listener);
    this.#inOrder = (Object.keys(followerTable) as FollowerName[]).flatMap(
      (known) => this.#byName.get(known) ?? [],
    );
  }
}
