// Rules and custom logic blocks in the records store, and what they refer to.
import type { Insertable, Selectable } from 'kysely';
import type { EpochMs } from '../../../model/instant.ts';
import type { PageRequest } from '../../../model/page.ts';
import type { CustomLogicBlock, Rule } from '../../../model/rule.ts';
import { parseTagCombination } from '../../../model/device.ts';
import { fromFlag, fromJsonText, isOneOf, searchTextOf, toFlag, toJsonText } from '../columns.ts';
import { sortColumns, type WorkspaceFilter } from '../list.ts';
import type { RecordsDb } from '../records.ts';
import type { RecordTables } from '../schema.ts';
import { RecordRows } from './record-rows.ts';

type Table = RecordTables['rules'];

/** Fewer than any engine's limit of parameters. */
const idsPerQuery = 500;

/** What rules refer to. */
type RuleReferenceKind = 'device' | 'tag' | 'place' | 'outputConnector' | 'customLogic';

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
    ...inputs.filter(({ type }) => type === 'PLACE').map(({ id }) => ['place', id] as const),
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

/** Changes are to be made within a transaction: the references of a rule must never be half there. */
class RuleRows extends RecordRows<'rules', Rule> {
  override async insert(step: RecordsDb, rule: Rule) {
    await super.insert(step, rule);
    await insertReferences(step, rule);
  }

  override async save(step: RecordsDb, rule: Rule) {
    await super.save(step, rule);
    await step.deleteFrom('ruleReferences').where('ruleId', '=', rule.id).execute();
    await insertReferences(step, rule);
  }

  override async list(
    db: RecordsDb,
    filter: WorkspaceFilter & {
      /**
       * `customLogicIds` or ids of inputs: old clients send those of inputs under the name of custom
       * logic.
       */
      readonly referenceIds?: readonly string[] | undefined;
      /** Leaves rules of silence out, which older clients cannot read. */
      readonly withoutSilence?: boolean;
    },
    page: PageRequest,
  ) {
    const { referenceIds, withoutSilence } = filter;
    let query = this.filtered(db, filter);
    if (withoutSilence === true) query = query.where('logic', 'not like', '%"type":"SILENCE"%');
    if (referenceIds !== undefined) {
      query = query.where('id', 'in', (eb) =>
        eb
          .selectFrom('ruleReferences')
          .select('ruleId')
          .where(isOneOf('referenceId', referenceIds)),
      );
    }
    return this.page(db, query, page);
  }

  /** Those of the ids that are rules, active or not. */
  async existing(db: RecordsDb, ids: readonly string[]): Promise<ReadonlySet<string>> {
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
  async activeOf(
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

  /** The active rules of the workspace whose formulas ask what is unusual. */
  async ofUsual(db: RecordsDb, workspaceId: string): Promise<Rule[]> {
    const rows = await db
      .selectFrom('rules')
      .selectAll()
      .where('workspaceId', '=', workspaceId)
      .where('active', '=', 1)
      .where('logic', 'like', '%unusual(%')
      .execute();
    return rows.map(fromRow);
  }

  /** The rules that use a record, in order of name, at most `max`. */
  async using(
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
  async namesOfUsing(
    db: RecordsDb,
    kind: RuleReferenceKind,
    id: string,
    max: number,
  ): Promise<string[]> {
    return (await this.using(db, kind, id, max)).map((rule) => `rule ${rule.name} (${rule.id})`);
  }

  /** The timer's next due time, as the engine moves it on; no new version of the rule. */
  async saveNextExecution(
    step: RecordsDb,
    id: string,
    nextExecution: EpochMs | null,
  ): Promise<void> {
    await step.updateTable('rules').set({ nextExecution }).where('id', '=', id).execute();
  }
}

export const ruleRows = new RuleRows('rules', toRow, fromRow, {
  columns: { ...sortColumns, active: 'active', nextExecution: 'nextExecution' },
});

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

export const customLogicRows = new RecordRows('customLogicBlocks', blockToRow, blockFromRow);
