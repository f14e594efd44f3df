// Raw uplink store: the port behind which raw uplinks are kept, listed newest first, and the line of JSON in which each store keeps one.
import { hash } from 'node:crypto';
import type { EpochMs } from '../../model/instant.ts';
import type { RawUplink } from '../../model/uplink.ts';
import type { RawPayload } from '../../model/entry-trace.ts';
import type { Json, JsonObject } from '../../model/json.ts';
import { jsonPiecesOf, keysOfKnown } from '../../model/json-keys.ts';
import type { ReadEncoding } from '../../model/payload.ts';
import type { Sample } from '../../model/sample.ts';
import type { RadioMetrics } from '../../model/uplink-metrics.ts';

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

// A raw uplink as one line of JSON: the form in which every store keeps it, and by which two stores are compared.

/** Samples and states that take more are not kept with their uplink. */
export const outcomeBytesMax = 64 * 1024;

/**
 * Device id first, so that lines of other devices are recognized without parsing.
 */
type Line = readonly [
  deviceId: string,
  id: string,
  position: number,
  receivedAt: number,
  topic: string | null,
  timestamp: number | null,
  bodyBytes: number,
  body: JsonObject | readonly Json[],
  duplicates: number,
  samples: readonly SampleItem[] | null,
  state: JsonObject | null,
  metrics?: RadioMetrics | null,
  encoding?: ReadEncoding,
  payloadHex?: string,
];
type SampleItem = readonly [topic: string, timestamp: number, data: JsonObject, meta?: JsonObject];

/** The line of an uplink. It omits the decoder's result when that takes more than `bytesMax`. */
export function lineOf(uplink: RawUplink, bytesMax: number): string {
  return linePartsOf(uplink, bytesMax).join('');
}

/**
 * The same in parts, for who writes them one after the other: a long body would be copied to be part
 * of a longer string.
 */
export function linePartsOf(uplink: RawUplink, bytesMax: number): readonly string[] {
  const { deviceId, id, position, receivedAt, payload, samples, duplicates, state } = uplink;
  const { topic, timestamp, body, bodyBytes } = payload;
  const bodyJson = jsonPiecesOf(body);
  const ids = `${JSON.stringify(deviceId)},${JSON.stringify(id)},${position},${receivedAt}`;
  const head = `[${ids},${JSON.stringify(topic)},${timestamp},${bodyBytes},`;
  const outcome = samples === null ? undefined : itemsOf(samples, body, bodyJson, bytesMax);
  const items = outcome === undefined || outcome.length > bytesMax ? 'null' : outcome;
  const left = state === undefined ? 'null' : JSON.stringify(state);
  const keptState = left.length <= bytesMax ? left : 'null';
  return [head, ...bodyJson, `,${duplicates},${items},${keptState}${lastItems(payload)}]`];
}

/** What few uplinks have, from the first that is absent on without the rest. */
function lastItems({ metrics, encoding, payloadHex }: RawPayload): string {
  const items: unknown[] = [metrics ?? null, encoding, payloadHex];
  while (items.length > 0 && (items.at(-1) ?? null) === null) items.pop();
  return items.map((item) => `,${JSON.stringify(item)}`).join('');
}

/**
 * The samples as JSON; undefined for more than `bytesMax`. A payload that passed through is the data
 * of its sample.
 */
function itemsOf(
  samples: readonly Sample[],
  body: Line[7],
  bodyJson: readonly string[],
  bytesMax: number,
): string | undefined {
  const [sample] = samples;
  if (samples.length === 1 && sample?.data === body && sample.meta === undefined)
    return isLonger(bodyJson, bytesMax)
      ? undefined
      : `[[${JSON.stringify(sample.topic)},${sample.timestamp},${bodyJson.join('')}]]`;
  const items: string[] = [];
  let bytes = 0;
  for (const one of samples) {
    if (keysOfKnown(one.data) && isLonger(jsonPiecesOf(one.data), bytesMax)) return undefined;
    const item = JSON.stringify(sampleItem(one));
    bytes += item.length;
    if (bytes > bytesMax) return undefined;
    items.push(item);
  }
  return `[${items.join(',')}]`;
}

function isLonger(pieces: readonly string[], charsMax: number): boolean {
  return pieces.reduce((sum, { length }) => sum + length, 0) > charsMax;
}

function sampleItem({ topic, timestamp, data, meta }: Sample): SampleItem {
  return meta === undefined ? [topic, timestamp, data] : [topic, timestamp, data, meta];
}

export function deviceOfLine(line: string): string {
  return line.slice(2, line.indexOf('"', 2));
}

export function isLineOf(line: string, deviceId: string): boolean {
  return line.startsWith(`["${deviceId}",`);
}

export function uplinkOf(line: string): RawUplink {
  const [
    deviceId,
    id,
    position,
    receivedAt,
    topic,
    timestamp,
    bodyBytes,
    body,
    duplicates,
    items,
    state,
    metrics,
    encoding,
    payloadHex,
  ] = JSON.parse(line) as Line;
  const samples = items?.map(([of, at, data, meta]) => ({
    deviceId,
    topic: of,
    timestamp: at,
    data,
    ...(meta === undefined ? {} : { meta }),
  }));
  return {
    id,
    deviceId,
    position,
    receivedAt,
    payload: {
      topic,
      timestamp,
      body,
      bodyBytes,
      ...(metrics === undefined || metrics === null ? {} : { metrics }),
      ...(encoding === undefined ? {} : { encoding }),
      ...(payloadHex === undefined ? {} : { payloadHex }),
    },
    samples: samples ?? null,
    duplicates,
    ...(state === null ? {} : { state }),
  };
}

// Uplink sum: shows whether two stores have the same raw uplinks.
export class UplinkSum {
  readonly #sum = new BigUint64Array(1);
  #count = 0;

  add(uplink: RawUplink): void {
    this.#sum[0]! += hash('md5', lineOf(uplink, outcomeBytesMax), 'buffer').readBigUInt64LE(0);
    this.#count += 1;
  }

  count(): number {
    return this.#count;
  }

  /** The same for the same uplinks in any order. */
  text(): string {
    return `${this.#count} ${this.#sum[0]}`;
  }
}
