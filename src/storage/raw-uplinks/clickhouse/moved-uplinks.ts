// Moved uplinks: the raw uplinks of one journal out of ClickHouse, in their order.
import type { ClickHouse } from '../../clickhouse/clickhouse.ts';
import type { RawUplink } from '../../../model/uplink.ts';
import { uplinkOf } from '../raw-uplink-line.ts';

/** Positions of one select; not every position has an uplink. */
const positionsPerSelect = 50_000;

interface UplinkCounts {
  /** Of the journal. */
  readonly own: number;
  /** Of other journals. */
  readonly others: number;
}

export async function countUplinks({ shards }: ClickHouse, journal: number): Promise<UplinkCounts> {
  let [own, others] = [0, 0];
  for (const shard of shards) {
    const [row] = await shard.select<{ own: number; total: number }>(
      `select uniqExactIf(position, journal = ${journal}) as own, uniqExact(journal, position) as total from uplinks`,
    );
    own += row?.own ?? 0;
    others += (row?.total ?? 0) - (row?.own ?? 0);
  }
  return { own, others };
}

/** In batches, by position. */
export async function* movedUplinks(
  { shards }: ClickHouse,
  journal: number,
): AsyncGenerator<readonly RawUplink[]> {
  const ends = await Promise.all(
    shards.map((shard) =>
      shard.select<{ n: number; low: number; high: number }>(
        `select count() as n, min(position) as low, max(position) as high from uplinks where journal = ${journal}`,
      ),
    ),
  );
  const filled = ends.flat().filter(({ n }) => n > 0);
  const last = Math.max(-1, ...filled.map(({ high }) => high));
  let from = Math.min(...filled.map(({ low }) => low));
  for (; from <= last; from += positionsPerSelect) {
    const found = await Promise.all(
      shards.map((shard) =>
        shard.select<{ line: string }>(
          `select line from uplinks where journal = ${journal} and position >= ${from} and position < ${from + positionsPerSelect} limit 1 by position`,
        ),
      ),
    );
    yield found
      .flat()
      .map(({ line }) => uplinkOf(line))
      .toSorted((a, b) => a.position - b.position);
  }
}
