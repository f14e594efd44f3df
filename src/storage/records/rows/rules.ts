// Rules and custom logic blocks in the records store, and what they refer to.
import type { Insertable, Selectable } from 'kysely';
import type { EpochMs } from '../../../model/instant.ts';
import type { PageRequest } from '../../../model/page.ts';
import type { CustomLogicBlock, Rule } from '../../../model/rule.ts';
import { parseTagCombination } from '../../../model/tag.ts';
import {
  contains,
  fromFlag,
  fromJsonText,
  isOneOf,
  searchTextOf,
  toFlag,
  toJsonText,
} from '../columns.ts';
import { pageOfRows, type Rows, sortColumns, type WorkspaceFilter } from '../list.ts';
import type { RecordsDb } from '../records.ts';
import type { RecordTables } from '../schema.ts';

type Table = RecordTables['rules'];

/** Fewer than any engine's limit of parameters. */
const idsPerQuery = 500;

const ruleSortColumns = { ...sortColumns, active: 'active', nextExecution: 'nextExecution' };

/** What rules refer to. */
export type RuleReferenceKind = 'device' | 'tag' | 'outputConnector' | 'customLogic';

function toRow(rule: Rule): Insertable<Table> {
  return {
    ...rule,
    active: toFlag(rule.active),
    inputs: toJsonText(rule.inputs),
    timer: toJsonText(rule.timer),
    logic: toJsonText(rule.logic),
    actions: toJsonText(rule.actions),
    searchText: searchTextOf(rule.name),
  };
}

function fromRow({ searchText: _, ...row }: Selectable<Table>): Rule {
  return {
    ...row,
    active: fromFlag(row.active),
    inputs: fromJsonText(row.inputs),
    timer: fromJsonText(row.timer),
    logic: fromJsonText(row.logic),
    actions: fromJsonText(row.actions),
  };
}

function referencesOf({ inputs, actions, logic }: Rule): (readonly [RuleReferenceKind, string])[] {
  const tags = inputs.flatMap(({ type, id, tagCombination }) =>
    type === 'ASSET_TAG' ? [id] : (parseTagCombination(tagCombination ?? '')?.tagIds ?? []),
  );
  return [
    ...inputs.filter(({ type }) => type === 'DEVICE').map(({ id }) => ['device', id] as const),
    ...tags.map((id) => ['tag', id] as const),
    ...actions.map(({ id }) => ['outputConnector', id] as const),
    ...(logic.customLogic === null
      ? []
      : [['customLogic', logic.customLogic.customLogicId] as const]),
  ];
}

async function insertReferences(step: RecordsDb, rule: Rule): Promise<void> {
  const rows = referencesOf(rule).map(([kind, referenceId]) => ({
    ruleId: rule.id,
    kind,
    referenceId,
  }));
  if (rows.length === 0) return;
  await step
    .insertInto('ruleReferences')
    .values(rows)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Within a transaction, like every change of a rule: its references must never be half there. */
export async function insertRule(step: RecordsDb, rule: Rule): Promise<void> {
  await step.insertInto('rules').values(toRow(rule)).execute();
  await insertReferences(step, rule);
}

export async function saveRule(step: RecordsDb, rule: Rule): Promise<void> {
  await step.updateTable('rules').set(toRow(rule)).where('id', '=', rule.id).execute();
  await step.deleteFrom('ruleReferences').where('ruleId', '=', rule.id).execute();
  await insertReferences(step, rule);
}

export async function removeRule(step: RecordsDb, id: string): Promise<void> {
  await step.deleteFrom('rules').where('id', '=', id).execute();
}

export async function findRule(db: RecordsDb, id: string): Promise<Rule | undefined> {
  const row = await db.selectFrom('rules').selectAll().where('id', '=', id).executeTakeFirst();
  return row && fromRow(row);
}

/** Those of the ids that are rules, active or not. */
export async function existingRules(
  db: RecordsDb,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (let from = 0; from < ids.length; from += idsPerQuery) {
    const some = ids.slice(from, from + idsPerQuery);
    const rows = await db.selectFrom('rules').select('id').where(isOneOf('id', some)).execute();
    for (const { id } of rows) found.add(id);
  }
  return found;
}

/**
 * The active rules of the installation, or those with the ids; `broken` are rows that cannot be
 * read.
 */
export async function findActiveRules(
  db: RecordsDb,
  ids?: readonly string[],
): Promise<{
  readonly rules: readonly Rule[];
  readonly broken: readonly { id: string; error: unknown }[];
}> {
  const rules: Rule[] = [];
  const broken: { id: string; error: unknown }[] = [];
  const take = (rows: readonly Selectable<Table>[]) => {
    for (const row of rows) {
      try {
        rules.push(fromRow(row));
      } catch (error) {
        broken.push({ id: row.id, error });
      }
    }
  };
  const query = db.selectFrom('rules').selectAll().where('active', '=', 1).orderBy('id');
  if (ids === undefined) take(await query.execute());
  for (let from = 0; ids !== undefined && from < ids.length; from += idsPerQuery) {
    take(await query.where(isOneOf('id', ids.slice(from, from + idsPerQuery))).execute());
  }
  return { rules, broken };
}

/**
 * `customLogicIds` or ids of inputs: old clients send those of inputs under the name of custom
 * logic.
 */
export async function listRules(
  db: RecordsDb,
  filter: WorkspaceFilter & { readonly referenceIds?: readonly string[] | undefined },
  page: PageRequest,
): Promise<Rows<Rule>> {
  const { workspaceIds, search, referenceIds } = filter;
  let query = db
    .selectFrom('rules')
    .selectAll()
    .where('organizationId', '=', filter.organizationId);
  if (workspaceIds !== undefined) query = query.where(isOneOf('workspaceId', workspaceIds));
  if (search) query = query.where(contains('searchText', search));
  if (referenceIds !== undefined) {
    query = query.where('id', 'in', (eb) =>
      eb.selectFrom('ruleReferences').select('ruleId').where(isOneOf('referenceId', referenceIds)),
    );
  }
  const { rows, total } = await pageOfRows(query, page, { columns: ruleSortColumns });
  return { rows: rows.map(fromRow), total };
}

/** The rules that use a record, in order of name, at most `max`. */
export async function rulesUsing(
  db: RecordsDb,
  kind: RuleReferenceKind,
  id: string,
  max: number,
): Promise<{ id: string; workspaceId: string; name: string; active: boolean }[]> {
  const rows = await db
    .selectFrom('rules')
    .innerJoin('ruleReferences', 'ruleReferences.ruleId', 'rules.id')
    .select(['rules.id', 'rules.workspaceId', 'rules.name', 'rules.active'])
    .where('ruleReferences.kind', '=', kind)
    .where('ruleReferences.referenceId', '=', id)
    .orderBy('rules.searchText')
    .limit(max)
    .execute();
  return rows.map((row) => ({ ...row, active: fromFlag(row.active) }));
}

/** The same as a refusal to delete names them: `rule Name (id)`. */
export async function namesOfRulesUsing(
  db: RecordsDb,
  kind: RuleReferenceKind,
  id: string,
  max: number,
): Promise<string[]> {
  return (await rulesUsing(db, kind, id, max)).map((rule) => `rule ${rule.name} (${rule.id})`);
}

/** The timer's next due time, as the engine moves it on; no new version of the rule. */
export async function saveNextExecution(
  step: RecordsDb,
  id: string,
  nextExecution: EpochMs | null,
): Promise<void> {
  await step.updateTable('rules').set({ nextExecution }).where('id', '=', id).execute();
}

// Custom logic blocks in the records store.

type BlockTable = RecordTables['customLogicBlocks'];

function blockToRow({
  dataSources,
  properties,
  ...block
}: CustomLogicBlock): Insertable<BlockTable> {
  return {
    ...block,
    dataSources: toJsonText(dataSources),
    logicProperties: toJsonText(properties),
    searchText: searchTextOf(block.name),
  };
}

function blockFromRow({
  searchText: _,
  dataSources,
  logicProperties,
  ...row
}: Selectable<BlockTable>): CustomLogicBlock {
  return {
    ...row,
    dataSources: fromJsonText(dataSources),
    properties: fromJsonText(logicProperties),
  };
}

export async function insertCustomLogic(db: RecordsDb, block: CustomLogicBlock): Promise<void> {
  await db.insertInto('customLogicBlocks').values(blockToRow(block)).execute();
}

export async function saveCustomLogic(db: RecordsDb, block: CustomLogicBlock): Promise<void> {
  await db
    .updateTable('customLogicBlocks')
    .set(blockToRow(block))
    .where('id', '=', block.id)
    .execute();
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
  return (await query.execute()).map(blockFromRow);
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
  return { rows: rows.map(blockFromRow), total };
}
