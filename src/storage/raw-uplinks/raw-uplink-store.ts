// Raw uplink store: the port behind which raw uplinks are kept, added in journal order and listed newest first.
import type { EpochMs } from '../../model/instant.ts';
import type { RawUplink } from '../../model/uplink.ts';

export interface RawUplinkStore {
  /**
   * Adds uplinks in the order of the journal; `through` is the position behind everything that was
   * looked at. Those that were added before change nothing.
   */
  add(uplinks: readonly RawUplink[], through: number): Promise<void>;
  /** Every uplink before this journal position is kept; the journal holds the others. */
  readonly durable: number;
  /** Newest first; nothing older than the retention. */
  list(range: RawUplinkRange): Promise<RawUplinkPage>;
  /** To be called every few seconds: makes durable what has waited for long enough. */
  syncWhenDue(): Promise<void>;
  /** Makes durable where other nodes find it what was added before the call. */
  share(): Promise<void>;
  /** Drops what is past the retention or too much. Returns the number of freed bytes. */
  dropExpired(): Promise<number>;
  /** Drops everything of these devices. Says how many uplinks that were. */
  dropDevices(deviceIds: ReadonlySet<string>): Promise<number>;
  /** Drops uplinks of a device that were received from a time on and before another. Says how many. */
  removeReceived(received: ReceivedUplinks): Promise<number>;
  readonly bytes: number;
  close(): Promise<void>;
}

/** What a store needs of the journal when it opens. */
export interface FollowedJournal {
  /**
   * The journal gives uplinks again from this position on; undefined when nothing was ever
   * followed.
   */
  readonly followedFrom: number | undefined;
  /** The position behind the newest durable entry. */
  readonly position: number;
  /**
   * Whether the journal lost some of the entries from a position on and before another; what it
   * cannot give again must be kept.
   */
  readonly isLost: (from: number, to: number) => boolean;
}

export type OpenRawUplinkStore = (journal: FollowedJournal) => Promise<RawUplinkStore>;

export interface ReceivedUplinks {
  readonly deviceId: string;
  readonly from: EpochMs;
  readonly to: EpochMs;
}

export interface RawUplinkRange {
  readonly deviceId: string;
  /** Of the time of receipt; inclusive. */
  readonly from?: EpochMs;
  /** Exclusive. */
  readonly to?: EpochMs;
  readonly skip: number;
  readonly limit: number;
}

export interface RawUplinkPage {
  readonly uplinks: readonly RawUplink[];
  /** How many the range has in all. */
  readonly total: number;
}
