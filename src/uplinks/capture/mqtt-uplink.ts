// MQTT uplinks: repetitions are stored once, and what cannot be read is kept with a note for the device's owner (contract 18, 38).
import type { DuplicateFilter } from '../../transports/duplicate-filter.ts';
import type { MqttPayload } from '../../transports/mqtt/mqtt-publish.ts';
import { readPayload } from '../../transports/payload-reader.ts';
import type { WorkTurns } from '../../transports/work-turns.ts';
import type { UplinkRoute } from '../../inventory/devices/uplink-route-cache.ts';
import type { EpochMs } from '../../model/instant.ts';
import type { Note } from '../../model/entry-trace.ts';
import { declaredEncoding, keptPayload, type PayloadHints } from '../../model/payload.ts';
import { Problem } from '../../model/problem.ts';
import type { Uplink } from '../../model/uplink.ts';
import { uplinkOf } from './capture.ts';

/** Bytes of an unreadable payload that its note shows. */
const shownBytesMax = 200;

/** Takes what devices publish. */
export class MqttUplinks {
  readonly #handleUplink: (uplink: Uplink) => Promise<unknown>;
  readonly #duplicates: DuplicateFilter;
  readonly #turns: WorkTurns;
  readonly #repeated: () => void;
  readonly #newId: () => string;
  readonly #now: () => EpochMs;

  constructor(
    handleUplink: (uplink: Uplink) => Promise<unknown>,
    duplicates: DuplicateFilter,
    /** Organizations take turns. */
    turns: WorkTurns,
    /** Called for each repetition that is not stored again. */
    repeated: () => void,
    newId: () => string,
    now: () => EpochMs,
  ) {
    this.#handleUplink = handleUplink;
    this.#duplicates = duplicates;
    this.#turns = turns;
    this.#repeated = repeated;
    this.#newId = newId;
    this.#now = now;
  }

  /**
   * Resolves when the payload, or the note on it, is durable. Work of one device begins in the order
   * of the calls.
   */
  readonly take = async (route: UplinkRoute, payload: MqttPayload): Promise<void> => {
    const { duplicateKey, isRepeated, isLate = false } = payload;
    const work = () => this.#store(route, payload);
    if (duplicateKey === undefined) {
      await work();
      return;
    }
    const { organizationId } = route.device;
    const { repeated } = await this.#duplicates.once(
      duplicateKey,
      work,
      organizationId,
      !isRepeated,
      isLate,
    );
    if (repeated) this.#repeated();
  };

  #store(
    route: UplinkRoute,
    { topic, payload, properties, duplicateKey, isRepeated }: MqttPayload,
  ) {
    const { contentType, userProperties } = properties ?? {};
    const port = [userProperties?.['port']].flat()[0];
    const hints = { encoding: declaredEncoding(route), contentType, port };
    const head = {
      topic,
      timestamp: null,
      isRepeated,
      ...(duplicateKey !== undefined && { duplicateKey }),
    };
    const receivedAt = this.#now();
    const take = (kept: Kept) =>
      this.#handleUplink(uplinkOf({ ...head, ...kept }, route, this.#newId(), receivedAt));
    // A kilobyte may inflate to a megabyte of JSON.
    const { organizationId } = route.device;
    const read = this.#turns.run(organizationId, () => readOrNoted(payload, hints));
    return read instanceof Promise ? read.then(take) : take(read);
  }
}

type Kept = ReturnType<typeof keptPayload> & { readonly onlyNote?: Note };

/** What cannot be read is kept as bytes, with a note on the reason. */
function readOrNoted(bytes: Buffer, hints: PayloadHints): Kept {
  try {
    return keptPayload(readPayload(bytes, hints), bytes.length);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const payloadHex = bytes.toString('hex');
    const body = { payloadHex };
    return {
      body,
      bodyBytes: bytes.length,
      encoding: 'BYTES',
      onlyNote: {
        level: 'ERROR',
        source: 'UPLINK',
        message: `The payload could not be read and was not decoded: ${error.message}`,
        details: { bytes: bytes.length, payloadHex: payloadHex.slice(0, 2 * shownBytesMax) },
      },
    };
  }
}
