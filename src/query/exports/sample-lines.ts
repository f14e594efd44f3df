// Sample lines: samples as NDJSON with the fields of the samples query and the name of the device.
import { formatInstant } from '../../model/instant.ts';
import type { JsonObject } from '../../model/json.ts';
import type { Sample } from '../../model/sample.ts';

/** What of a sample is exported; null: everything. */
export interface ExportedFields {
  readonly topics: readonly string[] | null;
  /** Members of `data`. A sample without any of them is not exported. */
  readonly keys: readonly string[] | null;
}

/** A line, parsed. */
export interface SampleLine {
  readonly timestamp: string;
  readonly deviceId: string;
  readonly deviceName: string;
  readonly topic: string;
  readonly data: JsonObject;
}

/** One line with its line feed; undefined for a sample that is not exported. */
export function sampleLine(
  { timestamp, deviceId, topic, data, meta }: Sample,
  deviceName: string,
  { topics, keys }: ExportedFields,
): string | undefined {
  if (topics !== null && !topics.includes(topic)) return undefined;
  const exported = keys === null ? data : membersOf(data, keys);
  if (exported === undefined) return undefined;
  const line = {
    timestamp: formatInstant(timestamp),
    deviceId,
    deviceName,
    topic,
    data: exported,
    ...(meta !== undefined && { meta }),
  };
  return `${JSON.stringify(line)}\n`;
}

function membersOf(data: JsonObject, keys: readonly string[]): JsonObject | undefined {
  const members = keys.flatMap((key) => {
    const value = Object.hasOwn(data, key) ? data[key] : undefined;
    return value === undefined ? [] : [[key, value] as const];
  });
  return members.length === 0 ? undefined : Object.fromEntries(members);
}
