// Raw uplink follower: keeps the raw uplinks of the journal in their own store, for their retention.
import { problem } from '../../model/problem.ts';
import { rawUplinkOf } from '../../model/uplink.ts';
import type {
  OpenRawUplinkStore,
  RawUplinkPage,
  RawUplinkRange,
  ReceivedUplinks,
} from '../../storage/raw-uplinks/raw-uplink-store.ts';
import type { EntryLog } from '../../storage/log/entry-log.ts';
import { setRepeatingTimer } from '../../structures/timers.ts';
import type { Telemetry } from '../../telemetry/events.ts';
import type { Followers } from './followers.ts';
import type { FollowedLog } from './journal-consumer.ts';

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
