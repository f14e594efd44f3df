// Pages of rows: total, order and the part asked for, the same for every table.
import { type ReferenceExpression, type SelectQueryBuilder, sql } from 'kysely';
import type { PageRequest } from '../model/page.ts';
import { refuseUnknownFields } from '../model/sort-order.ts';
import type { KeptLists } from './list-cache.ts';
import type { RecordTables } from './schema.ts';

export interface Rows<O> {
  readonly rows: readonly O[];
  /** Rows of all pages. */
  readonly total: number;
}

/** Every list can be ordered by these; `name` means the search text, which begins with the name in lower case. */
export const sortColumns: Readonly<Record<string, string>> = {
  id: 'id',
  name: 'searchText',
  description: 'description',
  created: 'created',
  updated: 'updated',
  version: 'version',
};

/** So much of a list that is not known yet is read at once: most filters find less, and need no count then. */
const readAtOnceMax = 2_500;

/**
 * One page. `columns` says which fields may order it and the column of each; another field is a 400 (contract 36). Without any: name,
 * then id; `id` always settles what is left (contract 35).
 */
export async function pageOfRows<T extends keyof RecordTables, O>(
  query: SelectQueryBuilder<RecordTables, T, O>,
  request: PageRequest,
  columns: Readonly<Record<string, string>> = sortColumns,
  table?: T,
  idColumn = 'id',
): Promise<Rows<O>> {
  const ordered = inOrder(query, request, columns, table, idColumn);
  const before = request.page * request.size;
  const rows = await ordered.limit(request.size).offset(before).execute();
  // A page that is not full is the last one: there is nothing left to count.
  if (rows.length < request.size && (rows.length > 0 || before === 0))
    return { rows, total: before + rows.length };
  return { rows, total: await countOf(query) };
}

/** One page of a list that may be long: it is read or counted once for as long as nothing of it was written. */
export async function pageOfLongList<T extends keyof RecordTables, O>(
  lists: KeptLists,
  query: SelectQueryBuilder<RecordTables, T, O>,
  request: PageRequest,
  columns: Readonly<Record<string, string>>,
  table: T,
): Promise<Rows<O>> {
  const ordered = inOrder(query, request, columns, table, 'id');
  const before = request.page * request.size;
  const after = before + request.size;
  const whole = ordered.compile();
  const stamp = lists.stamp();
  const known = lists.find(whole);
  if (known?.rows !== undefined)
    return { rows: known.rows.slice(before, after) as O[], total: known.total };
  // A page of the second half is nearer to the end.
  if (known !== undefined && before > known.total / 2) {
    const reversed = inOrder(query, request, columns, table, 'id', true);
    const size = Math.max(0, Math.min(after, known.total) - before);
    const read =
      size === 0
        ? []
        : await reversed
            .limit(size)
            .offset(known.total - before - size)
            .execute();
    return { rows: read.reverse(), total: known.total };
  }
  const isReadAtOnce = known === undefined && after <= readAtOnceMax;
  const read = await (isReadAtOnce
    ? ordered.limit(readAtOnceMax)
    : ordered.limit(request.size).offset(before)
  ).execute();
  const rows = isReadAtOnce ? read.slice(before, after) : read;
  if (known !== undefined) return { rows, total: known.total };
  const isWhole = isReadAtOnce && read.length < readAtOnceMax;
  const total = isWhole ? read.length : await countOf(query);
  lists.keep(whole, { total, rows: isWhole ? read : undefined }, stamp);
  return { rows, total };
}

async function countOf<T extends keyof RecordTables, O>(
  query: SelectQueryBuilder<RecordTables, T, O>,
): Promise<number> {
  const counting = query.clearSelect().clearOrderBy();
  const { total } = (await counting
    .select(sql<number>`count(*)`.as('total') as never)
    .executeTakeFirstOrThrow()) as unknown as { total: number };
  return Number(total);
}

function inOrder<T extends keyof RecordTables, O>(
  query: SelectQueryBuilder<RecordTables, T, O>,
  request: PageRequest,
  columns: Readonly<Record<string, string>>,
  table: T | undefined,
  idColumn: string,
  isReversed = false,
): SelectQueryBuilder<RecordTables, T, O> {
  refuseUnknownFields(request.sort, Object.keys(columns));
  const orders = request.sort.map(({ field, direction }) => ({
    column: columns[field]!,
    direction,
  }));
  if (orders.length === 0) orders.push({ column: columns['name'] ?? idColumn, direction: 'asc' });
  orders.push({ column: idColumn, direction: 'asc' });
  const prefix = table === undefined ? '' : `${table}.`;
  let ordered = query;
  for (const { column, direction } of orders) {
    const reference = (column.includes('.') ? column : prefix + column) as ReferenceExpression<
      RecordTables,
      T
    >;
    const isDescending = (direction === 'desc') !== isReversed;
    ordered = ordered.orderBy(sql.ref(reference as string), isDescending ? 'desc' : 'asc');
  }
  return ordered;
}

/** What a workspace list is narrowed to; absent parts narrow nothing. */
export interface WorkspaceFilter {
  readonly organizationId: string;
  /** Absent: every workspace of the organization. */
  readonly workspaceIds?: readonly string[] | undefined;
  readonly search?: string | undefined;
}
