// The limits of raw uplinks in files, by name; tests make them small.
import { outcomeBytesMax } from '../raw-uplink-line.ts';

export const rawUplinkLimits = {
  /** Uplinks are compressed together when so many bytes of them have come together. */
  blockBytes: 256 * 1024,
  /** A segment is closed when it is longer; the unit in which old uplinks are dropped. */
  segmentBytes: 16 * 1024 * 1024,
  /**
   * A segment is closed when its first uplink is older than this part of the retention, so that few
   * stay longer than they must.
   */
  segmentsInRetention: 28,
  /**
   * What was written is synced after so many bytes or so long; until then the journal holds it too.
   */
  unsyncedBytesMax: 8 * 1024 * 1024,
  unsyncedMsMax: 30_000,
  outcomeBytesMax,
  /** Device tables of closed segments held in memory. */
  tableCacheBytes: 32 * 1024 * 1024,
} as const;

export type RawUplinkLimits = { readonly [K in keyof typeof rawUplinkLimits]: number };
