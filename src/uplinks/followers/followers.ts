// Followers of the journal: one table with their order, and one loop that announces entries.
import type { DurableEntry, DurableRows } from '../../model/journal-entry.ts';
import {
  type FollowedLog,
  JournalFollower,
  type JournalFollowerParts,
} from './journal-consumer.ts';
import { problem } from '../../model/problem.ts';
import type {
  OpenRawUplinkStore,
  RawUplinkPage,
  RawUplinkRange,
  ReceivedUplinks,
} from '../../storage/raw-uplinks/raw-uplink-store.ts';
import type { EntryLog } from '../../storage/log/entry-log.ts';
import { setRepeatingTimer } from '../../structures/timers.ts';
import type { Telemetry } from '../../telemetry/events.ts';
import type { RawUplink } from '../../model/uplink.ts';

/**
 * The raw uplink of an entry; undefined for backfills, samples of rules and entries without a
 * correlation id.
 */
function rawUplinkOf(entry: DurableEntry): RawUplink | undefined {
  const { deviceId, position, receivedAt, duplicates, state, trace, metrics } = entry;
  // Only uplinks have one. The samples of others are perhaps not built yet.
  if (trace?.raw === undefined) return undefined;
  const { samples } = entry;
  const id = metrics?.uplinkId ?? samples[0]?.correlationId;
  if (id === undefined) return undefined;
  const uplink = { id, deviceId, position, receivedAt, payload: trace.raw, samples, duplicates };
  return state === undefined ? uplink : { ...uplink, state };
}

// Raw uplink follower: keeps the raw uplinks of the journal in their own store, for their retention.

const name = 'raw-uplinks';
const syncEveryMs = 5_000;

export interface RawUplinks {
  /** Newest first, with all that was acknowledged before the call. */
  readonly list: (range: RawUplinkRange) => Promise<RawUplinkPage>;
  /** Gives other nodes what was acknowledged before the call, because devices move to them. */
  readonly share: () => Promise<void>;
  readonly dropDevices: (deviceIds: ReadonlySet<string>) => Promise<void>;
  /** Drops uplinks of a device of this node. Says how many; also a restart does not bring them back. */
  readonly removeReceived: (received: ReceivedUplinks) => Promise<number>;
  /** Drops what is past its retention or beyond the limit of bytes. */
  readonly runMaintenance: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Opens the store. It catches up with the journal in the background. */
export async function openRawUplinks(parts: {
  readonly openStore: OpenRawUplinkStore;
  readonly log: FollowedLog & Pick<EntryLog, 'isLost'>;
  readonly followers: Followers;
  readonly telemetry: Telemetry;
  /** Whether the store can take uplinks now. */
  readonly hasRoom: () => boolean;
}): Promise<RawUplinks> {
  const { log, telemetry } = parts;
  const store = await parts.openStore({
    followedFrom: log.followerPosition(name),
    position: log.position,
    isLost: (from, to) => log.isLost(from, to),
  });
  telemetry.gauge('raw_uplink_bytes', 'Bytes of stored raw uplinks.', () => store.bytes);
  const failed = (error: unknown) => telemetry.backgroundFailed('keeping raw uplinks', error);
  const follower = parts.followers.start(name, {
    handle: async (entries) => {
      const last = entries.at(-1);
      if (last === undefined) return;
      // The journal keeps them until there is room again.
      if (!parts.hasRoom()) throw problem('storageFull');
      const uplinks = entries.flatMap((entry) => rawUplinkOf(entry) ?? []);
      await store.add(uplinks, last.position + 1);
    },
    failed,
  });
  /**
   * The journal holds what is not on the disk here yet, so that uplinks need no sync of their own.
   */
  const tellPosition = (): void => {
    if (store.durable > (log.followerPosition(name) ?? 0))
      log.setFollowerPosition(name, store.durable);
  };
  const sync = async (): Promise<void> => {
    await store.syncWhenDue();
    tellPosition();
  };
  const cancelSync = setRepeatingTimer(() => void sync().catch(failed), syncEveryMs);
  return {
    async list(range) {
      // The follower reports its own failures; what is there can still be read.
      await follower.settled().catch(() => undefined);
      return store.list(range);
    },
    share: () => follower.settled().then(() => store.share()),
    async dropDevices(deviceIds) {
      if (deviceIds.size === 0) return;
      await follower.settled();
      const uplinks = await store.dropDevices(deviceIds);
      telemetry.rawUplinksDropped({ reason: 'deviceDeleted', uplinks });
    },
    async removeReceived(received) {
      await follower.settled();
      const uplinks = await store.removeReceived(received);
      telemetry.rawUplinksDropped({ reason: 'deleted', uplinks });
      tellPosition();
      return uplinks;
    },
    async runMaintenance() {
      telemetry.rawUplinksDropped({ reason: 'retention', bytes: await store.dropExpired() });
      tellPosition();
    },
    async close() {
      cancelSync();
      await follower.close();
      await store.close();
      tellPosition();
    },
  };
}

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
    parts: Omit<JournalFollowerParts, 'name' | 'log' | 'durability'>,
  ): JournalFollower {
    const durability = followerTable[name];
    const follower = new JournalFollower({ ...parts, name, log: this.#log, durability });
    this.#add(name, follower);
    return follower;
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
