// Bucket query: tallies by device and bucket, from aggregates of ClickHouse where those are exact, else from the samples.
import { int64, listOf, quoted } from '../../clickhouse/sql-literals.ts';
import type { Shard } from '../../clickhouse/shard.ts';
import { dataValue } from '../../model/data-value.ts';
import type { EpochMs } from '../../model/instant.ts';
import type { JsonObject } from '../../model/json.ts';
import { missing } from '../../structures/missing.ts';
import { accumulators } from '../../summaries/accumulators.ts';
import type { Facet, Tally } from '../../summaries/facet.ts';
import { addValue } from '../../summaries/tally.ts';
import type { BucketRequest, SampleStore } from '../sample-store.ts';
import { bucketOf, createGrid, type Grid } from './bucket-grid.ts';
import { dataOfRow, type OpenRow } from './open-row.ts';
import {
  aggregateOf,
  type Aggregate,
  type AggregateRow,
  beforeOpenRows,
} from './point-aggregates.ts';
import { oldestFirst, type SealedRow } from './sealed-rows.ts';
import { shardOf } from './shipper.ts';
import type { StoreParts } from './store-parts.ts';

const devicesPerQuery = 500;

type Tallies = (Tally | undefined)[];

interface Plan extends Pick<BucketRequest, 'topic' | 'dataKey' | 'edges'> {
  readonly facet: Facet<Tally>;
  readonly grid: Grid;
  readonly from: EpochMs;
  readonly to: EpochMs;
  readonly parts: StoreParts;
}

/** See the port. */
export async function queryBuckets(
  request: BucketRequest,
  parts: StoreParts,
): ReturnType<SampleStore['buckets']> {
  const { deviceIds, topic, dataKey, edges } = request;
  const plan: Plan = {
    topic,
    dataKey,
    edges,
    facet: accumulators[request.accumulator].facet,
    grid: createGrid(edges),
    from: edges[0] ?? missing('first edge'),
    to: edges.at(-1) ?? missing('last edge'),
    parts,
  };
  const ids = [...new Set(deviceIds)];
  const found = new Map<string, Tallies>();
  // The open rows and the border of the others, of one moment.
  const open = ids.map((deviceId) => [deviceId, openRowsOf(deviceId, plan)] as const);
  const statements = groupsOf(ids, plan);
  for (const group of statements) await addGroup(group, plan, found);
  for (const [deviceId, rows] of open) addOpenRows(talliesOf(found, deviceId, plan), rows, plan);
  return deviceIds.map((deviceId) => talliesOf(found, deviceId, plan));
}

function talliesOf(found: Map<string, Tallies>, deviceId: string, { edges }: Plan): Tallies {
  const known = found.get(deviceId);
  if (known !== undefined) return known;
  const tallies: Tallies = new Array(edges.length - 1).fill(undefined);
  found.set(deviceId, tallies);
  return tallies;
}

function tallyAt(tallies: Tallies, bucket: number, facet: Facet<Tally>): Tally {
  const known = tallies[bucket];
  if (known !== undefined) return known;
  const tally = facet.start();
  tallies[bucket] = tally;
  return tally;
}

interface Group {
  readonly shard: Shard;
  readonly deviceIds: readonly string[];
  /** Conditions that every row of the group meets. */
  readonly where: string;
  /** Those of points of the key, and of samples whose keys are not stored. */
  readonly ofKey: string;
}

function groupsOf(ids: readonly string[], plan: Plan): readonly Group[] {
  const { topic, dataKey, from, to, parts } = plan;
  const { shards, visible } = parts;
  const key = JSON.stringify(dataKey);
  return shards.flatMap((shard) => {
    const ofShard = ids.filter((deviceId) => shardOf(deviceId, shards) === shard);
    return Array.from({ length: Math.ceil(ofShard.length / devicesPerQuery) }, (_, i) => {
      const deviceIds = ofShard.slice(i * devicesPerQuery, (i + 1) * devicesPerQuery);
      const where = `${deviceCondition(deviceIds)} and topic = ${quoted(topic)} and ts >= ${int64(from)} and ts < ${int64(to)}${visible.condition(deviceIds, from)}`;
      return { shard, deviceIds, where, ofKey: `key in ('', ${quoted(key)})` };
    });
  });
}

/** 18.16 does not use the range of times behind a list. */
function deviceCondition(deviceIds: readonly string[]): string {
  const [only] = deviceIds;
  if (deviceIds.length === 1 && only !== undefined) return `device = ${quoted(only)}`;
  return `device in ${listOf(deviceIds)}`;
}

/** Devices whose aggregates are not exact are read sample by sample. */
async function addGroup(group: Group, plan: Plan, found: Map<string, Tallies>): Promise<void> {
  const { facet, dataKey } = plan;
  const aggregate = aggregateOf(facet);
  if (aggregate === undefined || mayNameElement(dataKey)) {
    await addSamples(group, group.deviceIds, plan, found);
    return;
  }
  const inexact = await addAggregates(group, aggregate, plan, found);
  for (const deviceId of inexact) found.delete(deviceId);
  if (inexact.size > 0) await addSamples(group, [...inexact], plan, found);
}

/** Elements of arrays have no points. */
function mayNameElement(dataKey: string): boolean {
  return /\.\d{1,9}(?:\.|$)/.test(dataKey);
}

async function addAggregates(
  { shard, where, ofKey }: Group,
  aggregate: Aggregate<Tally>,
  plan: Plan,
  found: Map<string, Tallies>,
): Promise<ReadonlySet<string>> {
  const { edges, facet, grid } = plan;
  const inexact = new Set<string>();
  const rows = shard.stream<AggregateRow>(
    `select device, ${grid.expression} as cell, count() as n, max(kind = 4) as opaque, ${aggregate.columns} from points where ${where} and ${ofKey} group by device, cell${aggregate.groupBy}`,
  );
  for await (const some of rows)
    for (const row of some) {
      if (row.opaque === 1 || !aggregate.isExact(row)) inexact.add(row.device);
      if (inexact.has(row.device)) continue;
      const bucket = bucketOf(edges, grid.timeOf(row.cell));
      const tally = tallyAt(talliesOf(found, row.device, plan), bucket, facet);
      tally.count += row.n;
      aggregate.add(tally, row);
    }
  return inexact;
}

/** In the order of storing within an instant, so that orders are not needed. */
async function addSamples(
  { shard, where }: Group,
  deviceIds: readonly string[],
  plan: Plan,
  found: Map<string, Tallies>,
): Promise<void> {
  const { edges, facet, dataKey } = plan;
  const rows = shard.stream<Pick<SealedRow, 'device' | 'ts' | 'data'>>(
    `select device, ts, data from samples where ${where} and device in ${listOf(deviceIds)} order by device, ${oldestFirst}`,
  );
  for await (const some of rows)
    for (const { device, ts, data } of some) {
      const value = dataValue(JSON.parse(data) as JsonObject, dataKey);
      if (value === undefined || value === null) continue;
      const tallies = talliesOf(found, device, plan);
      addValue(facet, tallyAt(tallies, bucketOf(edges, ts), facet), value, {
        timestamp: ts,
        order: beforeOpenRows,
      });
    }
}

function openRowsOf(deviceId: string, { topic, from, to, parts }: Plan): readonly OpenRow[] {
  const { openRows, visible } = parts;
  return openRows
    .rowsOf(deviceId)
    .filter(
      (row) =>
        row.topic === topic &&
        row.timestamp >= from &&
        row.timestamp < to &&
        visible.isVisible(row),
    );
}

function addOpenRows(
  tallies: Tallies,
  rows: readonly OpenRow[],
  { edges, facet, dataKey }: Plan,
): void {
  for (const [order, row] of rows.entries()) {
    const value = dataValue(dataOfRow(row), dataKey);
    if (value === undefined || value === null) continue;
    const { timestamp } = row;
    const tally = tallyAt(tallies, bucketOf(edges, timestamp), facet);
    addValue(facet, tally, value, { timestamp, order });
  }
}
