// MQTT uplinks: repetitions are stored once, and invalid JSON becomes a note for the device's owner (contract 18).
import { isUtf8 } from 'node:buffer';
import type { DuplicateFilter } from '../../transports/duplicate-filter.ts';
import type { MqttPayload } from '../../transports/mqtt/mqtt-publish.ts';
import type { UplinkRoute } from '../../inventory/devices/uplink-route-cache.ts';
import type { EpochMs } from '../../model/instant.ts';
import type { Json, JsonObject } from '../../model/json.ts';
import type { DurableEntry, JournalEntry } from '../../model/journal-entry.ts';
import { Problem } from '../../model/problem.ts';
import type { Uplink } from '../../model/uplink.ts';
import { uplinkOf } from './capture.ts';

/** Bytes of an unreadable payload that its note shows. */
const shownBytesMax = 200;

export interface MqttUplinkStages {
  readonly duplicates: DuplicateFilter;
  readonly handleUplink: (uplink: Uplink) => Promise<unknown>;
  /** Resolves when an entry without a decoder run is durable. */
  readonly appendEntry: (entry: JournalEntry) => Promise<DurableEntry>;
  /** Throws Problem `invalidJson`. */
  readonly parseJson: (text: string) => Json | undefined;
  readonly repeated: () => void;
  readonly newId: () => string;
  readonly now: () => EpochMs;
}

/**
 * Resolves when the payload, or the note on it, is durable. Work of one device begins in the order
 * of the calls.
 */
export async function handleMqttPayload(
  route: UplinkRoute,
  payload: MqttPayload,
  on: MqttUplinkStages,
): Promise<void> {
  const { duplicateKey, isRepeated, isLate = false } = payload;
  const work = () => store(route, payload, on);
  if (duplicateKey === undefined) {
    await work();
    return;
  }
  const { organizationId } = route.device;
  const { repeated } = await on.duplicates.once(
    duplicateKey,
    work,
    organizationId,
    !isRepeated,
    isLate,
  );
  if (repeated) on.repeated();
}

function store(
  route: UplinkRoute,
  { topic, payload, duplicateKey, isRepeated }: MqttPayload,
  on: MqttUplinkStages,
) {
  const body = bodyOf(payload, on.parseJson);
  const key = { ...(duplicateKey !== undefined && { duplicateKey }) };
  if (typeof body === 'string') {
    const entry = unreadableEntryOf(route, payload, body, on);
    return on.appendEntry({ ...entry, trace: key });
  }
  const input = { topic, timestamp: null, body, bodyBytes: payload.length, isRepeated, ...key };
  return on.handleUplink(uplinkOf(input, route, on.newId(), on.now()));
}

/** Returns the JSON object or array, or the reason why the payload is invalid. */
function bodyOf(
  payload: Buffer,
  parseJson: MqttUplinkStages['parseJson'],
): JsonObject | readonly Json[] | string {
  if (payload.length === 0) return 'it is empty';
  if (!isUtf8(payload)) return 'it is not valid UTF-8';
  try {
    const body = parseJson(payload.toString());
    if (typeof body === 'object' && body !== null) return body;
    return 'it is neither an object nor an array';
  } catch (error) {
    if (error instanceof Problem) return error.message;
    throw error;
  }
}

/** An entry without samples, whose note shows the start of the payload. */
function unreadableEntryOf(
  { device }: UplinkRoute,
  payload: Buffer,
  wrong: string,
  on: MqttUplinkStages,
): JournalEntry {
  const receivedAt = on.now();
  const note = {
    id: on.newId(),
    deviceId: device.id,
    timestamp: receivedAt,
    correlationId: on.newId(),
    level: 'ERROR',
    source: 'UPLINK',
    message: `The payload is not a JSON object or array and was not stored: ${wrong}`,
    details: {
      bytes: payload.length,
      payloadHex: payload.subarray(0, shownBytesMax).toString('hex'),
    },
  } as const;
  return { deviceId: device.id, receivedAt, samples: [], notes: [note] };
}
