// Table retention: rows of the tables that expired, and those of deleted devices, are dropped.
import type { EpochMs } from '../../../../model/instant.ts';
import { visibleFrom } from '../rows/rows.ts';
import type { Memtable } from './memtable.ts';
import type { ShapeTables } from './shape-tables.ts';
import type { TableMerger, TableOfRun } from './table-merger.ts';
import type { TableRun } from './table-run.ts';
import type { TableSealer } from './table-sealer.ts';

/** A run is rewritten without the rows that count no more when they are more than this share of it. */
const rewriteShare = 0.1;

export interface TableRetentionParts {
  readonly tables: ShapeTables;
  readonly sealer: TableSealer;
  readonly merger: TableMerger;
}

/** Removes runs whose every row has expired; returns how many rows those were. */
export async function removeExpiredRuns({ tables, merger }: TableRetentionParts): Promise<number> {
  const dropped = await merger.exclusive(async () => {
    const gone = allRuns(tables).filter(({ run }) => isExpired(run));
    if (gone.length > 0) await merger.remove(gone);
    return gone.reduce((sum, { run }) => sum + run.rowCount, 0);
  });
  if (dropped > 0) tables.marks.forgetTimes();
  return dropped;
}

/** Whether a run should be rewritten without what counts no more. */
export function isAnyWorthRewriting(tables: ShapeTables): boolean {
  return allRuns(tables).some(({ run }) => shareGone(run) > rewriteShare);
}

/** Drops the other rows that expired by the times of their origins, when they are many; returns how many. */
export async function dropExpiredRows(parts: TableRetentionParts): Promise<number> {
  const { tables, sealer } = parts;
  for (const table of tables.all())
    if (table.active !== undefined && isWorthSealing(table.active)) tables.close(table);
  const unsealed = await sealer.sealClosed();
  const dropped = unsealed + (await rewriteDeleted(parts));
  if (dropped > 0) tables.marks.forgetTimes();
  return dropped;
}

/** Drops the rows of the device. Call `rewriteDeleted` when that is durable. */
export function dropDeviceRows(tables: ShapeTables, deviceId: string): number {
  const device = tables.numbers.retire(deviceId);
  if (device === undefined) return 0;
  let dropped = 0;
  for (const table of tables.all()) {
    for (const memtable of table.memtables()) dropped += memtable.forget(device);
    table.runs = table.runs.map((run) => {
      const left = run.without([device]);
      dropped += run.rowCount - left.rowCount;
      return left.rowCount === run.rowCount ? run : left;
    });
  }
  return dropped;
}

/** Removes and rewrites the runs of which much counts no more; returns how many rows had expired. */
export function rewriteDeleted(parts: TableRetentionParts): Promise<number> {
  return parts.merger.exclusive(() => rewriteWorthwhile(parts));
}

/** Returns how many rows had expired. */
async function rewriteWorthwhile({ tables, merger }: TableRetentionParts): Promise<number> {
  let dropped = 0;
  const worthwhile = allRuns(tables).filter(({ run }) => shareGone(run) > rewriteShare);
  // On a full disk the smallest may still fit, and gives back room for the next.
  worthwhile.sort((one, other) => one.run.bytes - other.run.bytes);
  for (const { table, run } of worthwhile) {
    const before = rowsOf(table.runs);
    await merger.rewrite(table, [run]);
    dropped += before - rowsOf(table.runs);
  }
  return dropped;
}

function allRuns(tables: ShapeTables): TableOfRun[] {
  return [...tables.all()].flatMap((table) => table.runs.map((run) => ({ table, run })));
}

function rowsOf(runs: readonly TableRun[]): number {
  return runs.reduce((sum, { rowCount }) => sum + rowCount, 0);
}

/** Whether no row still counts. */
function isExpired({ reader, rows }: TableRun): boolean {
  const left = reader.origins.filter((_, origin) => (rows[origin] ?? 0) > 0);
  return reader.run.index.head.newest < visibleFrom(left);
}

/** The share of the rows of the file that count no more, as if they were spread evenly over its time. */
function shareGone({ reader, rows }: TableRun): number {
  const { head } = reader.run.index;
  let left = 0;
  for (const [origin, { keepFrom }] of reader.origins.entries()) {
    const from = Math.max(head.oldest, head.keptFrom[origin] ?? Number.NEGATIVE_INFINITY);
    left += (rows[origin] ?? 0) * (1 - shareBefore(keepFrom, from, head.newest));
  }
  return 1 - left / head.rows;
}

function shareBefore(at: EpochMs, oldest: EpochMs, newest: EpochMs): number {
  if (at <= oldest) return 0;
  return at > newest ? 1 : (at - oldest) / (newest - oldest + 1);
}

function isWorthSealing(memtable: Memtable): boolean {
  return memtable.expiredRows() > memtable.length * rewriteShare;
}
