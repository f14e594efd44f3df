// Bucket plan: devices by statement, aggregates, samples and open rows on a grid of cells, for all queries of buckets.
import { dataValue } from '../../../model/sample.ts';
import type { EpochMs } from '../../../model/instant.ts';
import type { Json, JsonObject } from '../../../model/json.ts';
import { accumulatorOf, addValue } from '../../../query/summaries/accumulators.ts';
import type { Facet, Tally } from '../../../query/summaries/facet.ts';
import { missing } from '../../../structures/missing.ts';
import { int64, listOf, quoted } from '../../clickhouse/statement-values.ts';
import type { Shard } from '../../clickhouse/replica.ts';
import type { DataShape } from '../../log/data-shape.ts';
import type { OpenRange } from '../remote-pending-samples.ts';
import type { BucketRequest } from '../sample-store.ts';
import { shardOf } from './flusher.ts';
import { dataOfRow, type OpenPlace, type OpenRow } from './open-rows.ts';
import { afterSealed, type Aggregate, type AggregateRow, beforeOpenRows } from './hour-partials.ts';
import { openPlacesIn, type ReadParts } from './store-parts.ts';
import {
  oldestFirst,
  pointKinds,
  pointsOfShape,
  type SealedRow,
  type ShapePoint,
} from './sample-tables.ts';

const devicesPerQuery = 500;

export type Tallies = (Tally | undefined)[];

/** What a query of buckets asks for, of the rows that one read sees. */
export class BucketPlan {
  readonly topic: string;
  readonly dataKey: string;
  readonly edges: readonly EpochMs[];
  readonly deviceIds: readonly string[];
  readonly facet: Facet<Tally>;
  readonly grid: Grid;
  readonly from: EpochMs;
  readonly to: EpochMs;
  readonly parts: ReadParts;

  constructor({ deviceIds, topic, dataKey, edges, accumulator }: BucketRequest, parts: ReadParts) {
    this.topic = topic;
    this.dataKey = dataKey;
    this.edges = edges;
    this.parts = parts;
    this.deviceIds = [...new Set(deviceIds)];
    this.facet = accumulatorOf(accumulator).facet;
    this.grid = new Grid(edges);
    this.from = edges[0] ?? missing('first edge');
    this.to = edges.at(-1) ?? missing('last edge');
  }

  groups(): readonly DeviceGroup[] {
    const { deviceIds: ids, topic, dataKey, from, to, parts } = this;
    const { shards, visible, others } = parts;
    const key = JSON.stringify(dataKey);
    return shards.flatMap((shard) => {
      const ofShard = ids.filter((deviceId) => shardOf(deviceId, shards) === shard);
      return Array.from({ length: Math.ceil(ofShard.length / devicesPerQuery) }, (_, i) => {
        const deviceIds = ofShard.slice(i * devicesPerQuery, (i + 1) * devicesPerQuery);
        const where = `${deviceCondition(deviceIds)} and topic = ${quoted(topic)} and ts >= ${int64(from)} and ts < ${int64(to)}${visible.condition(deviceIds, from, others.shipped)}`;
        return { shard, deviceIds, where, ofKey: `key in ('', ${quoted(key)})` };
      });
    });
  }

  talliesOf(found: Map<string, Tallies>, deviceId: string): Tallies {
    const known = found.get(deviceId);
    if (known !== undefined) return known;
    const tallies: Tallies = new Array(this.edges.length - 1).fill(undefined);
    found.set(deviceId, tallies);
    return tallies;
  }

  tallyAt(tallies: Tallies, bucket: number): Tally {
    const known = tallies[bucket];
    if (known !== undefined) return known;
    const tally = this.facet.start();
    tallies[bucket] = tally;
    return tally;
  }

  /** The bucket of a time within the edges. */
  bucketOf(at: EpochMs): number {
    const { edges } = this;
    let low = 0;
    let high = edges.length - 1;
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if ((edges[middle] ?? Infinity) <= at) low = middle;
      else high = middle;
    }
    return low;
  }

  /** Adds stored samples in the order of storing within an instant, so that orders are not needed. */
  async addSamples(
    { shard, where }: DeviceGroup,
    deviceIds: readonly string[],
    found: Map<string, Tallies>,
  ): Promise<void> {
    const { facet, dataKey } = this;
    const rows = shard.stream<SealedRow>(
      `select device, ts, data from samples where ${where} and device in ${listOf(deviceIds)} order by device, ${oldestFirst}`,
    );
    for await (const some of rows)
      for (const { device, ts, data } of some) {
        const value = dataValue(JSON.parse(data) as JsonObject, dataKey);
        if (value === undefined || value === null) continue;
        const tallies = this.talliesOf(found, device);
        addValue(facet, this.tallyAt(tallies, this.bucketOf(ts)), value, {
          timestamp: ts,
          order: beforeOpenRows,
        });
      }
  }

  /** Open rows of the device, of this node and of others. */
  openRowsOf(deviceId: string): readonly OpenPlace[] {
    const { topic, from, to } = this;
    return openPlacesIn(deviceId, { topics: [topic], from, to }, this.parts);
  }

  addOpenRows(tallies: Tallies, places: readonly OpenPlace[]): void {
    const valueOf = valuesOfKey(this.dataKey);
    for (const { row } of places) {
      const value = valueOf(row);
      if (value === undefined || value === null) continue;
      const { timestamp } = row;
      const tally = this.tallyAt(tallies, this.bucketOf(timestamp));
      addValue(this.facet, tally, value, { timestamp, order: row.storedAt + afterSealed });
    }
  }
}

/** The open rows that the buckets need. */
export function openRangeOf({ deviceIds, topic, edges }: BucketRequest): OpenRange {
  return { deviceIds, topics: [topic], from: edges[0], to: edges.at(-1) };
}

export interface DeviceGroup {
  readonly shard: Shard;
  readonly deviceIds: readonly string[];
  /** Conditions that every row of the group meets. */
  readonly where: string;
  /** Those of points of the key, and of samples whose keys are not stored. */
  readonly ofKey: string;
}

/** 18.16 does not use the range of times behind a list. */
export function deviceCondition(deviceIds: readonly string[]): string {
  const [only] = deviceIds;
  if (deviceIds.length === 1 && only !== undefined) return `device = ${quoted(only)}`;
  return `device in ${listOf(deviceIds)}`;
}

/** Elements of arrays have no points. */
export function mayNameElement(dataKey: string): boolean {
  return /\.\d{1,9}(?:\.|$)/.test(dataKey);
}

export interface AggregatedRead {
  readonly aggregate: Aggregate<Tally>;
  readonly plan: BucketPlan;
  readonly found: Map<string, Tallies>;
  /** Gets the devices whose aggregates are not exact, and whose tallies are of no use. */
  readonly inexact: Set<string>;
}

export async function addAggregates(
  { shard, where, ofKey }: DeviceGroup,
  read: AggregatedRead,
  more = '',
): Promise<void> {
  const { aggregate, plan } = read;
  const cell = plan.grid.cellOf('ts');
  const sql = `select device, ${cell} as cell, count() as n, max(kind = 4) as opaque, ${aggregate.columns} from points where ${where} and ${ofKey}${more} group by device, cell${aggregate.groupBy}`;
  for await (const rows of shard.stream<AggregateRow>(sql)) addRows(rows, read);
}

export function addRows(
  rows: readonly AggregateRow[],
  { aggregate, plan, found, inexact }: AggregatedRead,
): void {
  for (const row of rows) {
    if (row.opaque === 1 || !aggregate.isExact(row)) inexact.add(row.device);
    if (inexact.has(row.device)) continue;
    const bucket = plan.bucketOf(plan.grid.timeOf(row.cell));
    const tally = plan.tallyAt(plan.talliesOf(found, row.device), bucket);
    tally.count += row.n;
    aggregate.add(tally, row);
  }
}

// Row values: the value that a data key names in open rows, without the object around it.

/** As `dataValue` of the object of the row. */
type ValueOfRow = (row: OpenRow) => Json | undefined;

function valuesOfKey(dataKey: string): ValueOfRow {
  const key = JSON.stringify(dataKey);
  const points = new Map<DataShape, ShapePoint | undefined>();
  function pointOf(shape: DataShape): ShapePoint | undefined {
    if (!points.has(shape))
      points.set(
        shape,
        pointsOfShape(shape).find((point) => point.key === key),
      );
    return points.get(shape);
  }
  return (row) => {
    const { shape, values, valuesAt } = row;
    const { kind, leaf } = pointOf(shape) ?? unlisted;
    if (leaf < 0) return dataValue(dataOfRow(row), dataKey);
    if (kind === pointKinds.text) return values.textAt(valuesAt + leaf);
    const value = values.numberAt(valuesAt + leaf);
    return kind === pointKinds.boolean ? value !== 0 : value;
  };
}

/** Elements of arrays, nulls, objects and what only the object shows. */
const unlisted: { readonly kind: number; readonly leaf: number } = {
  kind: pointKinds.other,
  leaf: -1,
};

// Bucket grid: equal cells of time, so fine that every edge of the buckets is an edge of a cell.

/** `edges` are ascending, at least two. */
class Grid {
  readonly #first: number;
  readonly #width: number;

  constructor(edges: readonly EpochMs[]) {
    this.#first = edges[0] ?? missing('first edge');
    let widthMs = 0;
    for (const edge of edges) widthMs = divisorOf(widthMs, edge - this.#first);
    this.#width = Math.max(1, widthMs);
  }

  /** The number of the cell of a time, as an expression. */
  cellOf(time: string): string {
    return `intDiv(${time} - ${int64(this.#first)}, ${this.#width})`;
  }

  /** A time within the cell. */
  timeOf(cell: number): EpochMs {
    return this.#first + cell * this.#width;
  }
}

/** The greatest common divisor. */
function divisorOf(a: number, b: number): number {
  let [left, right] = [a, b];
  while (right !== 0) [left, right] = [right, left % right];
  return left;
}
