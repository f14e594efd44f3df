// Custom logic blocks in the records store.
import type { Insertable, Selectable } from 'kysely';
import type { PageRequest } from '../../../model/page.ts';
import type { CustomLogicBlock } from '../../../model/rule.ts';
import { contains, fromJsonText, searchTextOf, toJsonText } from '../columns.ts';
import type { RecordsDb } from '../records.ts';
import { pageOfRows, type Rows } from '../list.ts';
import type { RecordTables } from '../schema.ts';

type Table = RecordTables['customLogicBlocks'];

function toRow({ dataSources, properties, ...block }: CustomLogicBlock): Insertable<Table> {
  return {
    ...block,
    dataSources: toJsonText(dataSources),
    logicProperties: toJsonText(properties),
    searchText: searchTextOf(block.name),
  };
}

function fromRow({
  searchText: _,
  dataSources,
  logicProperties,
  ...row
}: Selectable<Table>): CustomLogicBlock {
  return {
    ...row,
    dataSources: fromJsonText(dataSources),
    properties: fromJsonText(logicProperties),
  };
}

export async function insertCustomLogic(db: RecordsDb, block: CustomLogicBlock): Promise<void> {
  await db.insertInto('customLogicBlocks').values(toRow(block)).execute();
}

export async function saveCustomLogic(db: RecordsDb, block: CustomLogicBlock): Promise<void> {
  await db.updateTable('customLogicBlocks').set(toRow(block)).where('id', '=', block.id).execute();
}

export async function removeCustomLogic(db: RecordsDb, id: string): Promise<void> {
  await db.deleteFrom('customLogicBlocks').where('id', '=', id).execute();
}

export async function findCustomLogics(
  db: RecordsDb,
  ids: readonly string[],
): Promise<CustomLogicBlock[]> {
  if (ids.length === 0) return [];
  const query = db
    .selectFrom('customLogicBlocks')
    .selectAll()
    .where('id', 'in', [...ids]);
  return (await query.execute()).map(fromRow);
}

export async function findCustomLogic(
  db: RecordsDb,
  id: string,
): Promise<CustomLogicBlock | undefined> {
  return (await findCustomLogics(db, [id]))[0];
}

export async function listCustomLogics(
  db: RecordsDb,
  filter: { readonly organizationId: string; readonly search?: string | undefined },
  page: PageRequest,
): Promise<Rows<CustomLogicBlock>> {
  let query = db
    .selectFrom('customLogicBlocks')
    .selectAll()
    .where('organizationId', '=', filter.organizationId);
  if (filter.search) query = query.where(contains('searchText', filter.search));
  const { rows, total } = await pageOfRows(query, page);
  return { rows: rows.map(fromRow), total };
}
