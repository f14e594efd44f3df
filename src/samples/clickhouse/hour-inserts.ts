// Hour inserts: rows of the table of hours, from partials in memory or computed by ClickHouse from points.
import { type BlockInsert, insertEnded, insertOfRows } from '../../clickhouse/block-insert.ts';
import { RowBinary } from '../../clickhouse/row-binary.ts';
import type { Shard } from '../../clickhouse/shard.ts';
import { columnNames } from '../../clickhouse/table.ts';
import { partitionOf } from '../../model/device-partition.ts';
import { hourMs } from '../../model/instant.ts';
import type { HourBlock } from './hour-blocks.ts';
import { encodeHours, type HourRow, hourRowsOf } from './hour-encoding.ts';
import { createHourPartials, type HourPartials, hourOf, isLate } from './hour-partials.ts';
import { hourAtText, isPunctualText } from './hour-times.ts';
import type { OpenRow } from './open-row.ts';
import { inStoringOrder, slotsText } from './point-expressions.ts';
import { hourEndsTable, hoursTable, partitionMs } from './sample-tables.ts';

/** A body of about ten megabytes. */
const rowsPerInsert = 50_000;
/** ClickHouse may have to read a month of points. */
const selectMsMax = 1_800_000;

export interface HoursToInsert {
  readonly journal: number;
  readonly shards: readonly Shard[];
  /** A condition for points of the journal that are not to be in hours, beginning with `and`. */
  readonly hidden: string;
}

/** Of a block of hours, for each shard. */
export function hourInserts(
  block: HourBlock,
  { journal, shards, hidden }: HoursToInsert,
): ReadonlyMap<Shard, readonly BlockInsert[]> {
  const { partials } = block;
  return new Map(
    shards.map((shard, i) => {
      const isOfShard = (deviceId: string) => partitionOf(deviceId) % shards.length === i;
      const inserts =
        partials === undefined
          ? [computedHours(block, journal, hidden)]
          : partialInserts(block, partials, journal, isOfShard);
      return [shard, [...inserts, endOf(block, journal)]];
    }),
  );
}

function partialInserts(
  { from, to }: HourBlock,
  partials: HourPartials,
  journal: number,
  isOfShard: (deviceId: string) => boolean,
): readonly BlockInsert[] {
  const groups: string[][] = [];
  let rows = rowsPerInsert;
  for (const deviceId of partials.deviceIds()) {
    if (!isOfShard(deviceId)) continue;
    if (rows >= rowsPerInsert) {
      groups.push([]);
      rows = 0;
    }
    groups.at(-1)?.push(deviceId);
    for (const { points } of partials.groupsOf(deviceId)) rows += points.length;
  }
  return groups.map((deviceIds, i): BlockInsert => {
    const id = `heliograph-${journal}-${from}-hours-${i}`;
    return {
      id,
      // The rows of one insert are built when it is sent.
      run: (shard, isDoubtful) =>
        insertOfRows<HourRow>({
          id,
          table: hoursTable,
          rows: deviceIds.flatMap((deviceId) => hourRowsOf(partials, deviceId, false)),
          encode: (some) => encodeHours(some, { journal, late: false }),
          stored: {
            columns: rowName,
            where: `journal = ${journal} and late = 0 and position >= ${from} and position < ${to}`,
            nameOf: nameOfRow,
          },
        }).run(shard, isDoubtful),
    };
  });
}

/** What a row is known by within its block. */
const rowName = 'device, topic, key, hourAt, workspace, flow';

function nameOfRow(row: HourRow): readonly (string | number)[] {
  const { deviceId, topic, key, hourAt, workspaceId, dataFlowId } = row;
  return [deviceId, topic, key, hourAt, workspaceId, dataFlowId ?? ''];
}

/** Partials of late rows, for each entry. */
export function lateInsert(
  rows: readonly OpenRow[],
  journal: number,
  block: { readonly from: number; readonly to: number },
): BlockInsert | undefined {
  const late = rows.filter(isLate);
  if (late.length === 0) return undefined;
  const partials = createHourPartials({ perEntry: true });
  for (const row of late) partials.add(row);
  const { from, to } = block;
  return insertOfRows<HourRow>({
    id: `heliograph-${journal}-${from}-late`,
    table: hoursTable,
    rows: [...partials.deviceIds()].flatMap((deviceId) => hourRowsOf(partials, deviceId, true)),
    encode: (some) => encodeHours(some, { journal, late: true }),
    stored: {
      columns: `position, ${rowName}`,
      where: `journal = ${journal} and late = 1 and position >= ${from} and position < ${to}`,
      nameOf: (row) => [row.position, ...nameOfRow(row)],
    },
  });
}

/** As `HourPartials` makes them, in the order of the columns behind the origin. */
const computed = [
  'count()',
  'countIf(kind < 2)',
  'sumKahan(num)',
  'sum(abs(num))',
  'minIf(num, kind < 2)',
  'maxIf(num, kind < 2)',
  ...outermost('argMin', 'min(ts)'),
  ...outermost('argMax', 'max(ts)'),
  'countIf(kind = 1 and num = 1)',
  'countIf(kind = 1 and num = 0)',
  slotsText,
].join(', ');

function outermost(choice: 'argMin' | 'argMax', ts: string): readonly string[] {
  const columns = ['if(kind < 2, num, nan)', 'storedAt', 'position', 'idx'];
  return [ts, ...columns.map((column) => `${choice}(${column}, ${inStoringOrder})`)];
}

/** For a block of an earlier run, or one for which the memory did not suffice. */
function computedHours(block: HourBlock, journal: number, hidden: string): BlockInsert {
  const { from, to, storedFrom } = block;
  const id = `heliograph-${journal}-${from}-computed`;
  const earliest = hourOf(storedFrom) - hourMs;
  return {
    id,
    async run(shard, isDoubtful) {
      if (isDoubtful) await insertEnded(shard, id);
      for (const partition of await partitionsFrom(shard, earliest)) {
        const where = [
          `journal = ${journal} and position >= ${from} and position < ${to}`,
          `ts >= ${partition * partitionMs} and ts < ${(partition + 1) * partitionMs}`,
          `ts >= ${earliest}`,
          isPunctualText,
        ].join(' and ');
        const hourAt = hourAtText('ts');
        const origin = `part, device, topic, key, ${hourAt} as hour, journal, min(position) as start, 0 as isLate, workspace, flow`;
        const select = `select ${origin}, ${computed} from points where ${where}${hidden} group by part, device, topic, key, hour, journal, workspace, flow`;
        const stored = `select ${rowName} from hours where journal = ${journal} and late = 0 and position >= ${from} and position < ${to}`;
        const rows = isDoubtful
          ? `select * from (${select}) where (device, topic, key, hour, workspace, flow) not in (${stored})`
          : select;
        const columns = columnNames(hoursTable);
        const timeoutMs = selectMsMax;
        await shard.insert({ table: 'hours', columns, select: rows, queryId: id, timeoutMs });
      }
    },
  };
}

/** Stretches of the length of a partition that may have points from this time on. */
async function partitionsFrom(shard: Shard, at: number): Promise<readonly number[]> {
  const rows = await shard.select<{ number: string }>(
    `select distinct partition as number from system.parts where active and database = currentDatabase() and table = 'points'`,
  );
  const first = Math.floor(at / partitionMs);
  // Partitions are numbered towards zero: those before 1970 begin earlier.
  const numbers = rows.flatMap(({ number }) =>
    Number(number) > 0 ? [Number(number)] : [Number(number) - 1, Number(number)],
  );
  return [...new Set(numbers)].filter((number) => number >= first);
}

/** For those who read the hours of this journal. Merges keep the highest position. */
function endOf({ from, to, storedTo }: HourBlock, journal: number): BlockInsert {
  return insertOfRows({
    id: `heliograph-${journal}-${from}-hour-end`,
    table: hourEndsTable,
    rows: [{ to, storedTo }],
    stored: undefined,
    encode: (rows) => {
      const binary = new RowBinary();
      for (const row of rows) {
        binary.uint32(journal);
        binary.int64(row.to);
        binary.int64(row.storedTo);
        binary.endRow();
      }
      return binary;
    },
  });
}
