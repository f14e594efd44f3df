// On-call orders in the records store: who takes turns in getting the messages of alarms.
import type { Insertable, Selectable } from 'kysely';
import type { OnCall, TurnLength } from '../../../model/on-call.ts';
import { fromJsonText, searchTextOf, toJsonText } from '../columns.ts';
import { sortColumns } from '../list.ts';
import type { RecordsDb } from '../records.ts';
import type { RecordTables } from '../schema.ts';
import { RecordRows } from './record-rows.ts';

type Table = RecordTables['onCallOrders'];

function toRow({ order, overrides, memberEmails, ...record }: OnCall): Insertable<Table> {
  return {
    ...record,
    order: toJsonText(order),
    overrides: toJsonText(overrides),
    memberEmails: toJsonText(memberEmails),
    searchText: searchTextOf(record.name),
  };
}

function fromRow({ searchText: _, ...row }: Selectable<Table>): OnCall {
  return {
    ...row,
    order: fromJsonText(row.order),
    turn: row.turn as TurnLength,
    overrides: fromJsonText(row.overrides),
    memberEmails: fromJsonText(row.memberEmails),
  };
}

export const onCallRows = new RecordRows<'onCallOrders', OnCall>('onCallOrders', toRow, fromRow, {
  columns: sortColumns,
});

/** On-call orders of the workspace. */
export async function countOnCalls(db: RecordsDb, workspaceId: string): Promise<number> {
  const { count } = await db
    .selectFrom('onCallOrders')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('workspaceId', '=', workspaceId)
    .executeTakeFirstOrThrow();
  return Number(count);
}
