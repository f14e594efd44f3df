// Moved rows: the samples of all devices out of ClickHouse, and what the tables add up to.
import type { ClickHouse } from '../../clickhouse/clickhouse.ts';
import type { Shard } from '../../clickhouse/replica.ts';
import { listOf, quoted } from '../../clickhouse/statement-values.ts';
import { missing } from '../../../structures/missing.ts';
import { digestText, type MovedSample, type PartSum, type PartSums } from '../moved-samples.ts';
import {
  oldestFirst,
  partitionMs,
  sampleOfSealed,
  sealedColumns,
  type SealedRow,
} from './sample-tables.ts';
import { removedText, type ShippingState } from './flusher.ts';

/** Rows of one select, which ClickHouse sorts. */
const rowsPerSelect = 400_000;
const devicesPerSelect = 2_000;
/** Reading a large table takes minutes. */
const answerMsMax = 3_600_000;

/** What is deleted or hidden with its device, as a condition that begins with `and`. */
export function keptCondition({ dropped, journal, removed = [] }: ShippingState) {
  const ranges = removed.map(
    ([deviceId, removals]) => ` and not ${removedText(deviceId, removals)}`,
  );
  const devices = dropped
    .map(
      ([deviceId, before]) =>
        ` and not (device = ${quoted(deviceId)} and (journal != ${journal} or position < ${before}))`,
    )
    .join('');
  return `${devices}${ranges.join('')}`;
}

/**
 * Samples device by device, in the order of device ids, time and storing, in batches of one device.
 * The same tables give the same order. `kept` is a condition, see `keptCondition`.
 */
export async function* movedSamples(
  { shards }: ClickHouse,
  kept: string,
): AsyncGenerator<readonly MovedSample[]> {
  for (const shard of shards)
    for (const condition of await selections(shard, kept))
      yield* batchesOf(shard, `${condition}${kept}`);
}

/** Conditions that together select all rows, each in the order of devices and times. */
async function selections(shard: Shard, kept: string): Promise<readonly string[]> {
  const conditions: string[] = [];
  let some: string[] = [];
  let rows = 0;
  const end = (): void => {
    if (some.length > 0) conditions.push(`device in ${listOf(some)}`);
    [some, rows] = [[], 0];
  };
  const counts = shard.stream<{
    readonly device: string;
    readonly n: number;
  }>(`select device, count() as n from samples where 1${kept} group by device order by device`);
  for await (const batch of counts)
    for (const { device, n } of batch) {
      if (rows + n > rowsPerSelect || some.length >= devicesPerSelect) end();
      if (n > rowsPerSelect) conditions.push(...(await selectionsOfDevice(shard, device)));
      else {
        some.push(device);
        rows += n;
      }
    }
  end();
  return conditions;
}

/** A device with many rows is read month by month. */
async function selectionsOfDevice(shard: Shard, device: string): Promise<readonly string[]> {
  const of = `device = ${quoted(device)}`;
  const month = `toInt64(floor(ts / ${partitionMs}))`;
  const months = await shard.select<{ number: number }>(
    `select distinct ${month} as number from samples where ${of} order by number`,
  );
  return months.map(({ number }) => {
    const [from, to] = [number * partitionMs, (number + 1) * partitionMs];
    return `${of} and ts >= ${from} and ts < ${to}`;
  });
}

const batchRows = 500;

async function* batchesOf(shard: Shard, condition: string): AsyncGenerator<readonly MovedSample[]> {
  const sql = `select ${sealedColumns}, workspace, flow from samples where ${condition} order by device, ${oldestFirst}`;
  let batch: MovedSample[] = [];
  for await (const rows of shard.stream<
    SealedRow & {
      readonly workspace: string;
      readonly flow: string;
    }
  >(sql))
    for (const row of rows) {
      if (batch.length >= batchRows || (batch.length > 0 && batch[0]?.deviceId !== row.device)) {
        yield batch;
        batch = [];
      }
      const { workspace: workspaceId, flow } = row;
      batch.push({ ...sampleOfSealed(row), workspaceId, dataFlowId: flow === '' ? null : flow });
    }
  if (batch.length > 0) yield batch;
}

/** Counts and checksums of the table of samples. */
export async function storedSums({ shards }: ClickHouse, kept: string): Promise<PartSums> {
  const all = new Map<number, PartSum>();
  for (const shard of shards) {
    const rows = await rowsOf<{ part: number; n: number; checksum: string }>(
      shard,
      `select part, count() as n, toString(sum(${digestText})) as checksum from samples where 1${kept} group by part`,
    );
    for (const { part, n: samples, checksum } of rows) all.set(part, { samples, checksum });
  }
  return all;
}

/** Partitions of devices whose hours do not count as many values as there are points. */
export async function partsWithoutHours({ shards }: ClickHouse): Promise<readonly number[]> {
  const differing: number[] = [];
  for (const shard of shards) {
    const [points, hours] = await Promise.all(
      ['select part, count() as n from points', 'select part, sum(valueCount) as n from hours'].map(
        async (select) => {
          const rows = await rowsOf<{ part: number; n: number }>(shard, `${select} group by part`);
          return new Map(rows.map(({ part, n }) => [part, n]));
        },
      ),
    );
    for (const part of new Set([...(points?.keys() ?? []), ...(hours?.keys() ?? [])]))
      if (points?.get(part) !== hours?.get(part)) differing.push(part);
  }
  return differing;
}

/** Whether the tables have samples or raw uplinks. */
export async function hasRows({ shards }: ClickHouse): Promise<boolean> {
  for (const shard of shards)
    for (const table of ['samples', 'uplinks']) {
      const rows = await shard.select(`select 1 from ${table} limit 1`);
      if (rows.length > 0) return true;
    }
  return false;
}

export async function countStored({ shards }: ClickHouse, kept: string): Promise<number> {
  let sum = 0;
  for (const shard of shards) {
    const [row] = await shard.select<{ n: number }>(
      `select count() as n from samples where 1${kept}`,
    );
    sum += row?.n ?? 0;
  }
  return sum;
}

async function rowsOf<Row>({ replicas }: Shard, sql: string): Promise<readonly Row[]> {
  const [first = missing('replica')] = replicas;
  const text = await first.text({ sql: `${sql} format JSONEachRow`, timeoutMs: answerMsMax });
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Row);
}
