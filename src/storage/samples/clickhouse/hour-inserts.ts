// Hour inserts: rows of the table of hours, from partials in memory or computed by ClickHouse from points.
import { randomUUID } from 'node:crypto';
import { type EpochMs, hourMs } from '../../../model/instant.ts';
import { partitionOf } from '../../../model/node-messages.ts';
import {
  type BlockInsert,
  insertEnded,
  insertOfRows,
  type ShippedBlock,
} from '../../clickhouse/block-shipper.ts';
import { int64, RowBinary } from '../../clickhouse/statement-values.ts';
import type { Shard } from '../../clickhouse/replica.ts';
import { columnNames } from '../../clickhouse/clickhouse.ts';
import {
  field,
  hourAtText,
  type HourGroup,
  hourOf,
  type HourPartial,
  HourPartials,
  inStoringOrder,
  isLate,
  isPunctualText,
  mergePartials,
  slotsText,
} from './hour-partials.ts';
import { type Block, blockLimits, type OpenRow } from './open-rows.ts';
import { partitionMs, sampleTables } from './sample-tables.ts';

/** A body of about ten megabytes. */
const rowsPerInsert = 50_000;
/** ClickHouse may have to read a month of points. */
const selectMsMax = 1_800_000;

/** Of a block of hours, for each shard. */
export function hourInserts(
  block: HourBlock,
  {
    journal,
    shards,
    hidden,
  }: {
    readonly journal: number;
    readonly shards: readonly Shard[];
    /** A condition for points of the journal that are not to be in hours, beginning with `and`. */
    readonly hidden: string;
  },
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
          table: sampleTables.hours,
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
  const partials = new HourPartials({ perEntry: true });
  for (const row of late) partials.add(row);
  const { from, to } = block;
  return insertOfRows<HourRow>({
    id: `heliograph-${journal}-${from}-late`,
    table: sampleTables.hours,
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
        const columns = columnNames(sampleTables.hours);
        const timeoutMs = selectMsMax;
        await shard.insert({ table: 'hours', columns, select: rows, queryId: id, timeoutMs });
      }
    },
  };
}

/** Computes hours of one device again, as rows of a block that begins at position 0 of their journal. */
export async function computeHours(
  shard: Shard,
  { where, ...hour }: { readonly where: string; readonly from: EpochMs; readonly to: EpochMs },
): Promise<void> {
  const origin = `part, device, topic, key, ${hourAtText('ts')} as hour, journal, 0 as start, 0 as isLate, workspace, flow`;
  for (const partition of await partitionsFrom(shard, hour.from)) {
    const from = Math.max(hour.from, partition * partitionMs);
    const to = Math.min(hour.to, (partition + 1) * partitionMs);
    if (from >= to) continue;
    await shard.insert({
      table: 'hours',
      columns: columnNames(sampleTables.hours),
      select: `select ${origin}, ${computed} from points where ${where} and ts >= ${int64(from)} and ts < ${int64(to)} group by part, device, topic, key, hour, journal, workspace, flow`,
      queryId: `heliograph-hours-${randomUUID()}`,
      timeoutMs: selectMsMax,
    });
  }
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
    table: sampleTables.hourEnds,
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

// Hour encoding: partials as rows of the table of hours, one for each key, hour and origin of a device.

interface HourRow {
  readonly deviceId: string;
  readonly topic: string;
  /** As in the table of points. */
  readonly key: string;
  readonly hourAt: EpochMs;
  /** Of the first entry that it contains. */
  readonly position: number;
  readonly workspaceId: string;
  readonly dataFlowId: string | null;
  readonly partial: HourPartial;
}

/** `perEntry` as for the partials. */
function hourRowsOf(
  partials: HourPartials,
  deviceId: string,
  perEntry: boolean,
): readonly HourRow[] {
  const groups = partials.groupsOf(deviceId);
  const rows = groups.flatMap((group) => rowsOfGroup(partials, deviceId, group));
  if (groups.length < 2) return rows;
  // Shapes may have keys in common.
  const merged = new Map<string, HourRow>();
  for (const row of rows) {
    const name = perEntry ? `${row.position} ${hourRowName(row)}` : hourRowName(row);
    const known = merged.get(name);
    if (known === undefined) merged.set(name, { ...row, partial: row.partial.slice() });
    else mergePartials(known.partial, row.partial);
  }
  return [...merged.values()];
}

function rowsOfGroup(partials: HourPartials, deviceId: string, group: HourGroup): HourRow[] {
  const { topic, hourAt, position, workspaceId, dataFlowId, points } = group;
  return points.map(({ key }, i) => ({
    deviceId,
    topic,
    key,
    hourAt,
    position,
    workspaceId,
    dataFlowId,
    partial: partials.partialOf(group, i),
  }));
}

/** What a row is known by within its block or entry. */
function hourRowName(row: HourRow): string {
  const { deviceId, topic, key, hourAt, workspaceId, dataFlowId } = row;
  return JSON.stringify([deviceId, topic, key, hourAt, workspaceId, dataFlowId ?? '']);
}

function encodeHours(
  rows: readonly HourRow[],
  {
    journal,
    late,
  }: {
    readonly journal: number;
    /** Whether the rows are of entries that were late, instead of a whole block. */
    readonly late: boolean;
  },
): RowBinary {
  const to = new RowBinary();
  for (const row of rows) {
    to.uint16(partitionOf(row.deviceId));
    to.string(row.deviceId);
    to.string(row.topic);
    to.string(row.key);
    to.int64(row.hourAt);
    to.uint32(journal);
    to.int64(row.position);
    to.uint8(late ? 1 : 0);
    to.string(row.workspaceId);
    to.string(row.dataFlowId ?? '');
    addPartial(to, row.partial);
    to.endRow();
  }
  return to;
}

function addPartial(to: RowBinary, partial: HourPartial): void {
  const at = (index: number): number => partial[index] ?? 0;
  const hasNumbers = at(field.numeric) > 0;
  to.int64(at(field.values));
  to.int64(at(field.numeric));
  to.float64(at(field.sum) + at(field.sumError));
  to.float64(at(field.amounts));
  // Zeros pack better than infinities.
  to.float64(hasNumbers ? at(field.min) : 0);
  to.float64(hasNumbers ? at(field.max) : 0);
  for (const end of [field.firstAt, field.lastAt]) {
    to.int64(at(end));
    to.float64(at(end + 1));
    to.int64(at(end + 2));
    to.int64(at(end + 3));
    to.uint32(at(end + 4));
  }
  to.int64(at(field.trues));
  to.int64(at(field.falses));
  to.uint16(at(field.slots));
}

// Hour blocks: what was stored within one hour, as partials in memory until they are inserted.

const hourBlockLimits = {
  /** Partials of 160 bytes in memory; beyond, a block ends before its hour. */
  partialsMax: 400_000,
  /** Blocks of which the partials are kept; ClickHouse computes those of others. */
  waitingMax: 2,
} as const;

/** Entries of which the partials are inserted together. */
export interface HourBlock extends ShippedBlock {
  readonly from: number;
  /** The position behind the last entry. */
  to: number;
  /** All entries from `from` on were stored at or after this. */
  readonly storedFrom: EpochMs;
  /** All entries behind the block were stored at or after this. */
  storedTo: EpochMs;
  /** Undefined when ClickHouse must compute them. */
  partials: HourPartials | undefined;
}

interface HourBlocksStart {
  readonly from: number;
  readonly storedFrom: EpochMs;
  /** The end of the first block, when an earlier run may have inserted it. */
  readonly to: number | null;
  /** Where rows begin that will be added. */
  readonly addedFrom: number;
}

/** The block that takes rows. */
interface OpenHourBlock extends HourBlock {
  readonly partials: HourPartials;
  readonly slot: number;
}

export class HourBlocks {
  readonly #start: HourBlocksStart;
  readonly #closed: HourBlock[];
  #end: number;
  #storedTo: number;
  #current: OpenHourBlock | undefined;

  constructor(start: HourBlocksStart) {
    this.#start = start;
    this.#closed = earlierBlocks(start);
    this.#end = start.addedFrom;
    this.#storedTo = start.storedFrom;
  }

  /** Ends the block that takes rows. */
  cut(): void {
    if (this.#current === undefined) return;
    const { slot: _slot, ...block } = this.#current;
    this.#closed.push(block);
    this.#current = undefined;
    if (this.#closed.length > hourBlockLimits.waitingMax)
      for (const each of this.#closed.slice(1)) each.partials = undefined;
  }

  #begin(slot: number): OpenHourBlock {
    return {
      from: this.#end,
      to: this.#end,
      slot,
      storedFrom: this.#storedTo,
      storedTo: this.#storedTo,
      partials: new HourPartials(),
      doubt: 'none',
    };
  }

  /** Adds the rows of a block that is in ClickHouse and in no hour. */
  add(block: Block): void {
    // An earlier run has shipped it: it is of an earlier block.
    if (block.to <= this.#start.addedFrom) return;
    const storedAt = block.slot * blockLimits.slotMs;
    const slot = Math.floor(storedAt / hourMs);
    const open = this.#current;
    if (
      open !== undefined &&
      (open.slot !== slot || open.partials.count >= hourBlockLimits.partialsMax)
    )
      this.cut();
    this.#storedTo = storedAt;
    const current = (this.#current ??= this.#begin(slot));
    for (const row of block.rows) if (!isLate(row)) current.partials.add(row);
    current.to = block.to;
    current.storedTo = storedAt;
    this.#end = block.to;
  }

  /** The hour of storing of the block that takes rows. */
  slotAt(): EpochMs | undefined {
    return this.#current === undefined ? undefined : this.#current.slot * hourMs;
  }

  first(): HourBlock | undefined {
    return this.#closed[0];
  }

  /** Discards the oldest block. */
  shipped(): void {
    this.#closed.shift();
  }

  drop(deviceId: string): void {
    for (const { partials } of this.#closed) partials?.drop(deviceId);
    this.#current?.partials.drop(deviceId);
  }

  /** What hours do not contain; undefined while some of it is not in memory. */
  partials(): readonly HourPartials[] | undefined {
    const all: HourPartials[] = [];
    for (const { partials } of this.#closed) {
      if (partials === undefined) return undefined;
      all.push(partials);
    }
    return this.#current === undefined ? all : [...all, this.#current.partials];
  }

  /** Everything before this position is in hours. */
  from(): number {
    return this.#closed[0]?.from ?? this.#current?.from ?? this.#end;
  }
}

/** What an earlier run had in memory, with the block that it may have inserted. */
function earlierBlocks({ from, to, addedFrom, storedFrom }: HourBlocksStart): HourBlock[] {
  const common = { storedFrom, storedTo: storedFrom, partials: undefined };
  const blocks: HourBlock[] = [];
  let at = from;
  if (to !== null && to > from) {
    blocks.push({ ...common, from, to, doubt: 'running' });
    at = to;
  }
  if (addedFrom > at) blocks.push({ ...common, from: at, to: addedFrom, doubt: 'none' });
  return blocks;
}
