// A block of raw uplinks: a line of JSON each, compressed together; the payload of one frame of a segment.
import { zstdCompressSync, zstdDecompressSync, constants } from 'node:zlib';
import type { RawUplink } from '../model/raw-uplink.ts';
import type { Json, JsonObject } from '../model/json.ts';
import type { Sample } from '../model/sample.ts';
import type { RadioMetrics } from '../model/uplink-metrics.ts';

/**
 * One uplink as it stands in a block: device id first, so that those of others are passed over
 * unread.
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
  state?: JsonObject | null,
  metrics?: RadioMetrics,
];
type SampleItem = readonly [topic: string, timestamp: number, data: JsonObject, meta?: JsonObject];

/**
 * The line of an uplink. What its decoder made of it is left out when it takes more than
 * `outcomeBytesMax`.
 */
export function lineOf(uplink: RawUplink, outcomeBytesMax: number): string {
  const { deviceId, id, position, receivedAt, payload, samples, duplicates, state } = uplink;
  const { topic, timestamp, body, bodyBytes, metrics } = payload;
  const head = JSON.stringify([
    deviceId,
    id,
    position,
    receivedAt,
    topic,
    timestamp,
    bodyBytes,
    body,
    duplicates,
  ]);
  const items = JSON.stringify(samples === null ? null : samples.map(sampleItem));
  const left = JSON.stringify(state ?? null);
  const kept = items.length <= outcomeBytesMax ? items : 'null';
  const keptState = left.length <= outcomeBytesMax ? left : 'null';
  return `${head.slice(0, -1)},${kept},${keptState}${metrics === undefined ? '' : `,${JSON.stringify(metrics)}`}]`;
}

function sampleItem({ topic, timestamp, data, meta }: Sample): SampleItem {
  return meta === undefined ? [topic, timestamp, data] : [topic, timestamp, data, meta];
}

export function compressLines(lines: readonly string[]): Buffer {
  return zstdCompressSync(Buffer.from(lines.join('\n')), {
    params: { [constants.ZSTD_c_compressionLevel]: 1 },
  });
}

/**
 * The lines of a block. Throws when the bytes are no block, which a checksum has ruled out before.
 */
export function linesOf(block: Buffer): string[] {
  return zstdDecompressSync(block).toString('utf8').split('\n');
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
    payload: { topic, timestamp, body, bodyBytes, ...(metrics === undefined ? {} : { metrics }) },
    samples: samples ?? null,
    duplicates,
    ...(state === undefined || state === null ? {} : { state }),
  };
}
