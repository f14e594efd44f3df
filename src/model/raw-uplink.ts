// Raw uplink: a payload and the result of its decoder, stored so that changed decoders can be tested.
import type { RawPayload } from './entry-trace.ts';
import type { EpochMs } from './instant.ts';
import type { JsonObject } from './json.ts';
import type { DurableEntry } from './journal-entry.ts';
import type { Sample } from './sample.ts';

export interface RawUplink {
  /** The correlation id. */
  readonly id: string;
  /** Service device id. */
  readonly deviceId: string;
  /** Place in the journal; tells repetitions. */
  readonly position: number;
  readonly receivedAt: EpochMs;
  readonly payload: RawPayload;
  /**
   * The samples it led to, without those that were stored already; null when they were too large to
   * be kept again.
   */
  readonly samples: readonly Sample[] | null;
  /** How many samples were stored already. */
  readonly duplicates: number;
  /** The state that the decoder left, when it left one. */
  readonly state?: JsonObject;
}

/**
 * The raw uplink of an entry; undefined for backfills, samples of rules and entries without a
 * correlation id.
 */
export function rawUplinkOf(entry: DurableEntry): RawUplink | undefined {
  const { deviceId, position, receivedAt, duplicates, state, trace, metrics } = entry;
  // Only uplinks have one. The samples of others are perhaps not built yet.
  if (trace?.raw === undefined) return undefined;
  const { samples } = entry;
  const id = metrics?.uplinkId ?? samples[0]?.correlationId;
  if (id === undefined) return undefined;
  const uplink = { id, deviceId, position, receivedAt, payload: trace.raw, samples, duplicates };
  return state === undefined ? uplink : { ...uplink, state };
}
