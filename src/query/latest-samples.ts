// Latest samples of many devices: one read of the store, and the data narrowed to the wanted keys (contract 37).
import { dataValue } from '../model/data-value.ts';
import { formatInstant } from '../model/instant.ts';
import type { JsonObject } from '../model/json.ts';
import type { UnreadableSamples } from '../samples/sample-store.ts';
import type { ReadingStore } from './sample-reader.ts';

export interface WantedSamples {
  /** All topics when undefined. */
  readonly topics: readonly string[] | undefined;
  /** All data when undefined. */
  readonly keys: readonly string[] | undefined;
  /** Called for what the read omits. */
  readonly unreadable: (samples: UnreadableSamples) => void;
}

interface LatestOfDevice {
  readonly deviceId: string;
  /** Newest first. */
  readonly samples: { topic: string; timestamp: string; data: JsonObject }[];
}

/** One item per device, in the order of the ids. */
export async function latestOfDevices(
  deviceIds: readonly string[],
  { topics, keys, unreadable }: WantedSamples,
  store: Pick<ReadingStore, 'latest'>,
): Promise<LatestOfDevice[]> {
  const found = await store.latest({
    deviceIds,
    ...(topics !== undefined && { topics }),
    unreadable,
  });
  return deviceIds.map((deviceId, i) => ({
    deviceId,
    samples: (found[i] ?? []).map(({ topic, timestamp, data }) => ({
      topic,
      timestamp: formatInstant(timestamp),
      data: keys === undefined ? data : narrowed(data, keys),
    })),
  }));
}

/** A key without a value is omitted. */
function narrowed(data: JsonObject, keys: readonly string[]): JsonObject {
  const values = keys.map((key) => [key, dataValue(data, key)] as const);
  return Object.fromEntries(values.filter(([, value]) => value !== undefined)) as JsonObject;
}
