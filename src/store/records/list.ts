// Pages of rows: total, order and the part asked for, the same for every table.
import { type ReferenceExpression, type SelectQueryBuilder, sql } from 'kysely';
import type { PageRequest } from '../../model/page.ts';
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

/**
 * One page. `columns` says which fields may order it and the column each stands for; other fields are passed over,
 * because clients send fields of their own. Without any: name, then id; `id` always settles what is left (contract 35).
 */
export async function pageOfRows<T extends keyof RecordTables, O>(
  query: SelectQueryBuilder<RecordTables, T, O>,
  request: PageRequest,
  columns: Readonly<Record<string, string>> = sortColumns,
  table?: T,
  idColumn = 'id',
): Promise<Rows<O>> {
  const orders = request.sort.flatMap((order) => {
    const column = Object.hasOwn(columns, order.field) ? columns[order.field] : undefined;
    return column === undefined ? [] : [{ column, direction: order.direction }];
  });
  if (orders.length === 0) orders.push({ column: columns['name'] ?? idColumn, direction: 'asc' });
  orders.push({ column: idColumn, direction: 'asc' });
  const prefix = table === undefined ? '' : `${table}.`;
  let ordered = query;
  for (const { column, direction } of orders) {
    const reference = (column.includes('.') ? column : prefix + column) as ReferenceExpression<RecordTables, T>;
    ordered = ordered.orderBy(sql.ref(reference as string), direction);
  }
  const rows = await ordered
    .limit(request.size)
    .offset(request.page * request.size)
    .execute();
  const before = request.page * request.size;
  // A page that is not full is the last one: there is nothing left to count.
  if (rows.length < request.size && (rows.length > 0 || before === 0)) return { rows, total: before + rows.length };
  const { total } = (await query
    .clearSelect()
    .clearOrderBy()
    .select(sql<number>`count(*)`.as('total') as never)
    .executeTakeFirstOrThrow()) as unknown as { total: number };
  return { rows, total: Number(total) };
}

/** What a workspace list is narrowed to; absent parts narrow nothing. */
export interface WorkspaceFilter {
  readonly organizationId: string;
  /** Absent: every workspace of the organization. */
  readonly workspaceIds?: readonly string[] | undefined;
  readonly search?: string | undefined;
}
