// Pages of rows: total, order and the requested part, the same for every table.
import { type SelectQueryBuilder, sql } from 'kysely';
import { type PageRequest, refuseUnknownFields } from '../../model/page.ts';
import type { ListCache } from './list-cache.ts';
import type { RecordTables } from './schema.ts';

export interface Rows<O> {
  readonly rows: readonly O[];
  /** Rows of all pages. */
  readonly total: number;
}

/**
 * Every list can be ordered by these; `name` means the search text, which begins with the name in
 * lower case.
 */
export const sortColumns: Readonly<Record<string, string>> = {
  id: 'id',
  name: 'searchText',
  description: 'description',
  created: 'created',
  updated: 'updated',
  version: 'version',
};

/**
 * Rows of an unknown list that are read at once: most filters find fewer, and then need no count.
 */
const readAtOnceMax = 2_500;

export interface ListOrder<T extends keyof RecordTables> {
  /** The column of each field that can sort the list; another field is a 400 (contract 36). */
  readonly columns?: Readonly<Record<string, string>>;
  /** The order of a request without one; by default the name. */
  readonly defaultSort?: PageRequest['sort'];
  /** Qualifies the columns where the query joins another table. */
  readonly table?: T;
  /** The unique column that orders equal rows (contract 35). */
  readonly idColumn?: string;
}

type Query<T extends keyof RecordTables, O> = SelectQueryBuilder<RecordTables, T, O>;

/** One page, sorted as requested; without a sort by name, then id. */
export async function pageOfRows<T extends keyof RecordTables, O>(
  query: Query<T, O>,
  request: PageRequest,
  order: ListOrder<T> = {},
): Promise<Rows<O>> {
  const ordered = inOrder(query, request, order);
  const before = request.page * request.size;
  const rows = await ordered.limit(request.size).offset(before).execute();
  // A page that is not full is the last one, so nothing is left to count.
  if (rows.length < request.size && (rows.length > 0 || before === 0))
    return { rows, total: before + rows.length };
  return { rows, total: await countOf(query) };
}

interface LongList<T extends keyof RecordTables, O> {
  readonly query: Query<T, O>;
  readonly order: ListOrder<T>;
  /** The number of all rows, when it is known without counting. */
  readonly total?: number | undefined;
}

/**
 * One page of a list that may be long. The list is read or counted once, until one of its tables is
 * written, and so are its pages.
 */
export async function pageOfLongList<T extends keyof RecordTables, O>(
  lists: ListCache,
  list: LongList<T, O>,
  request: PageRequest,
): Promise<Rows<O>> {
  const { query, order } = list;
  const ordered = inOrder(query, request, order);
  const before = request.page * request.size;
  const after = before + request.size;
  const whole = ordered.compile();
  const stamp = lists.stamp();
  const known = lists.find(whole);
  if (known?.rows !== undefined)
    return { rows: known.rows.slice(before, after) as O[], total: known.total };
  const total = known?.total ?? list.total;
  if (total !== undefined) return pageOfCounted(lists, { query, order, total }, request);
  if (after > readAtOnceMax) {
    const counted = await countOf(query);
    lists.keep(whole, { total: counted, rows: undefined }, stamp);
    return pageOfCounted(lists, { query, order, total: counted }, request);
  }
  const read = await ordered.limit(readAtOnceMax).execute();
  const isWhole = read.length < readAtOnceMax;
  const kept = isWhole
    ? { total: read.length, rows: read }
    : { total: await countOf(query), rows: undefined };
  lists.keep(whole, kept, stamp);
  return { rows: read.slice(before, after), total: kept.total };
}

async function pageOfCounted<T extends keyof RecordTables, O>(
  lists: ListCache,
  { query, order, total }: LongList<T, O> & { readonly total: number },
  request: PageRequest,
): Promise<Rows<O>> {
  const before = request.page * request.size;
  const paged = inOrder(query, request, order).limit(request.size).offset(before);
  const compiled = paged.compile();
  const stamp = lists.stamp();
  const known = lists.find(compiled)?.rows;
  if (known !== undefined) return { rows: known as O[], total };
  // A page of the second half is nearer to the end.
  const rows =
    before > total / 2
      ? await readFromEnd(inOrder(query, request, order, true), request, total)
      : await paged.execute();
  lists.keep(compiled, { total, rows }, stamp);
  return { rows, total };
}

/** The page out of the list in reversed order, turned back. */
async function readFromEnd<T extends keyof RecordTables, O>(
  reversed: Query<T, O>,
  { page, size }: PageRequest,
  total: number,
): Promise<O[]> {
  const before = page * size;
  const count = Math.max(0, Math.min(before + size, total) - before);
  if (count === 0) return [];
  const rows = await reversed
    .limit(count)
    .offset(total - before - count)
    .execute();
  return rows.reverse();
}

async function countOf<T extends keyof RecordTables, O>(query: Query<T, O>): Promise<number> {
  const counting = query.clearSelect().clearOrderBy();
  const { total } = (await counting
    .select(sql<number>`count(*)`.as('total') as never)
    .executeTakeFirstOrThrow()) as unknown as { total: number };
  return Number(total);
}

function inOrder<T extends keyof RecordTables, O>(
  query: Query<T, O>,
  { sort }: PageRequest,
  { columns = sortColumns, defaultSort = [], table, idColumn = 'id' }: ListOrder<T>,
  isReversed = false,
): Query<T, O> {
  refuseUnknownFields(sort, Object.keys(columns));
  const first = columns['name'] ?? idColumn;
  const requested = sort.length > 0 ? sort : defaultSort;
  const orders = requested.map(({ field, direction }) => ({
    column: columns[field] ?? first,
    isDescending: direction === 'desc',
  }));
  if (orders.length === 0) orders.push({ column: first, isDescending: false });
  orders.push({ column: idColumn, isDescending: false });
  let ordered = query;
  for (const { column, isDescending } of orders) {
    const isQualified = table === undefined || column.includes('.');
    const reference = sql.ref(isQualified ? column : `${table}.${column}`);
    ordered = ordered.orderBy(reference, isDescending === isReversed ? 'asc' : 'desc');
  }
  return ordered;
}

/** Filters that workspace lists share; an absent one filters nothing. */
export interface WorkspaceFilter {
  readonly organizationId: string;
  /** Absent: every workspace of the organization. */
  readonly workspaceIds?: readonly string[] | undefined;
  readonly search?: string | undefined;
}
