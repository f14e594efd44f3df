// Composes the raw uplinks: a follower of the journal keeps them in a store of their own, for their retention.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Parts } from './platform-parts.ts';
import { createJournalFollower } from '../flows/journal-follower.ts';
import type { DurableEntry } from '../model/journal-entry.ts';
import { problem } from '../model/problem.ts';
import { rawUplinkOf } from '../model/raw-uplink.ts';
import type { RawUplinkPage, RawUplinkRange } from '../raw-uplinks/block-reader.ts';
import { openRawUplinkStore } from '../raw-uplinks/raw-uplink-store.ts';

const follower = 'raw-uplinks';
const lookEveryMs = 5_000;

export interface RawUplinks {
  /** To be told of every entry that became durable. */
  readonly follow: (entry: DurableEntry) => void;
  /** Newest first, with all that was acknowledged before the call. */
  readonly list: (range: RawUplinkRange) => Promise<RawUplinkPage>;
  readonly dropDevices: (deviceIds: ReadonlySet<string>) => Promise<void>;
  /** Drops what is past its retention or too much. */
  readonly runMaintenance: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Opens the store and lets it catch up with the journal in the background; with a retention of 0 nothing is kept. */
export async function composeRawUplinks(parts: Parts): Promise<RawUplinks> {
  const { config, store, telemetry, diskIsFull, now } = parts;
  const directory = join(config.dataDirectory, 'uplinks');
  if (config.rawUplinkRetentionMs === 0) return keepingNone(parts, directory);
  const uplinks = await openRawUplinkStore({
    directory,
    now,
    retentionMs: config.rawUplinkRetentionMs,
    bytesMax: config.rawUplinkBytesMax,
    followedFrom: store.followerPosition(follower),
    isLost: (from, to) => store.isLost(from, to),
    damaged: (damage) => telemetry.damageFound({ what: 'raw uplinks', ...damage }),
  });
  telemetry.gauge('raw_uplink_bytes', 'Bytes of raw uplinks on disk.', () => uplinks.bytes);
  const failed = (error: unknown) => telemetry.backgroundFailed('keeping raw uplinks', error);
  const journal = createJournalFollower({
    name: follower,
    store: {
      followerPosition: (name) => store.followerPosition(name),
      entriesFrom: (position) => store.entriesFrom(position),
      // The journal holds what is not on disk here yet, so that uplinks need no sync of their own: see `tellPosition`.
      setFollowerPosition: (name, position) => {
        if (store.followerPosition(name) === undefined) store.setFollowerPosition(name, position);
      },
      get position() {
        return store.position;
      },
    },
    handle: async (entries) => {
      // The journal keeps them until there is room again.
      if (diskIsFull()) throw problem('storageFull');
      await uplinks.add(
        entries.flatMap((entry) => rawUplinkOf(entry) ?? []),
        entries.at(-1)!.position + 1,
      );
    },
    failed,
  });
  const tellPosition = (): void => {
    if (uplinks.durable > (store.followerPosition(follower) ?? 0))
      store.setFollowerPosition(follower, uplinks.durable);
  };
  const look = async (): Promise<void> => {
    await uplinks.syncWhenDue();
    tellPosition();
  };
  const timer = setInterval(() => void look().catch(failed), lookEveryMs);
  timer.unref();
  return {
    follow: (entry) => journal.follow(entry),
    async list(range) {
      // A failure to keep is told by the follower; what is there can still be read.
      await journal.settled().catch(() => undefined);
      return uplinks.list(range);
    },
    async dropDevices(deviceIds) {
      if (deviceIds.size === 0) return;
      await journal.settled();
      telemetry.rawUplinksDropped({
        reason: 'deviceDeleted',
        uplinks: await uplinks.dropDevices(deviceIds),
      });
    },
    async runMaintenance() {
      telemetry.rawUplinksDropped({ reason: 'retention', bytes: await uplinks.dropExpired() });
      tellPosition();
    },
    async close() {
      clearInterval(timer);
      await journal.close();
      await uplinks.close();
      tellPosition();
    },
  };
}

function keepingNone({ store }: Parts, directory: string): RawUplinks {
  store.removeFollower(follower);
  rmSync(directory, { recursive: true, force: true });
  const nothing = async () => undefined;
  return {
    follow: () => undefined,
    list: async () => ({ uplinks: [], total: 0 }),
    dropDevices: nothing,
    runMaintenance: nothing,
    close: nothing,
  };
}
