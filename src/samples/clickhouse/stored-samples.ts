// Stored samples: which samples of a device are stored already, among open rows and in ClickHouse.
import { int64, quoted } from '../../clickhouse/sql-literals.ts';
import type { EpochMs } from '../../model/instant.ts';
import type { JsonObject } from '../../model/json.ts';
import { createDataSet, type DataSet } from '../same-data.ts';
import type { ComparedSample } from '../sample-store.ts';
import { dataOfRow } from './open-row.ts';
import { shardOf } from './shipper.ts';
import type { StoreParts } from './store-parts.ts';

/** Instants in one select. */
const instantsPerQuery = 2_000;

/**
 * Indexes of those of the samples that are stored; samples after `newest` are not looked for. Rows
 * that rules hide count, unless they were deleted.
 */
export async function identicalSamples(
  deviceId: string,
  samples: readonly ComparedSample[],
  newest: EpochMs,
  { shards, openRows, visible }: StoreParts,
): Promise<ReadonlySet<number>> {
  const wanted = samples.filter(({ timestamp }) => timestamp <= newest);
  const known = new Map<string, DataSet>();
  const note = (topic: string, at: EpochMs, data: () => JsonObject): void => {
    const set = known.get(nameOf(topic, at));
    set?.add(data());
  };
  for (const { topic, timestamp } of wanted) {
    const name = nameOf(topic, timestamp);
    if (!known.has(name)) known.set(name, createDataSet());
  }
  for (const row of openRows.rowsOf(deviceId)) note(row.topic, row.timestamp, () => dataOfRow(row));
  const condition = visible.storedCondition([deviceId]);
  const topics = [...new Set(wanted.map(({ topic }) => topic))];
  const instants = [...new Set(wanted.map(({ timestamp }) => timestamp))];
  const shard = shardOf(deviceId, shards);
  for (let at = 0; at < instants.length; at += instantsPerQuery) {
    const some = instants.slice(at, at + instantsPerQuery).map(int64);
    const rows = await shard.select<{ topic: string; ts: number; data: string }>(
      `select topic, ts, data from samples where device = ${quoted(deviceId)} and topic in (${topics.map(quoted).join(',')}) and ts in (${some.join(',')})${condition}`,
    );
    for (const { topic, ts, data } of rows) note(topic, ts, () => JSON.parse(data) as JsonObject);
  }
  const identical = new Set<number>();
  for (const [i, { topic, timestamp, data }] of samples.entries())
    if (known.get(nameOf(topic, timestamp))?.has(data) === true) identical.add(i);
  return identical;
}

function nameOf(topic: string, at: EpochMs): string {
  return `${at} ${topic}`;
}
