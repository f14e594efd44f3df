// Group calculations in the records store, how far each is, and the periods that late samples have touched.
import { type Insertable, type Selectable, sql } from 'kysely';
import type {
  Calculation,
  CalculationMark,
  CalculationProgress,
} from '../../../model/calculation.ts';
import type { PageRequest } from '../../../model/page.ts';
import {
  fromFlag,
  fromJsonText,
  fromJsonTextOrNull,
  isOneOf,
  searchTextOf,
  toFlag,
  toJsonText,
  toJsonTextOrNull,
} from '../columns.ts';
import { sortColumns, type WorkspaceFilter } from '../list.ts';
import type { RecordsDb } from '../records.ts';
import type { RecordTables } from '../schema.ts';
import { RecordRows } from './record-rows.ts';

type Table = RecordTables['calculations'];

/** Fewer than any engine's limit of parameters. */
const rowsPerStatement = 100;

function toRow({ from, target, ...record }: Calculation): Insertable<Table> {
  return {
    ...record,
    active: toFlag(record.active),
    deviceIds: toJsonTextOrNull(record.deviceIds),
    startAt: from,
    targetId: target.deviceId,
    targetTopic: target.topic,
    outputs: toJsonText(record.outputs),
    searchText: searchTextOf(record.name),
  };
}

function fromRow({
  searchText: _,
  startAt,
  targetId,
  targetTopic,
  ...row
}: Selectable<Table>): Calculation {
  return {
    ...row,
    active: fromFlag(row.active),
    deviceIds: fromJsonTextOrNull(row.deviceIds),
    from: Number(startAt),
    target: { deviceId: targetId, topic: targetTopic },
    outputs: fromJsonText(row.outputs),
  };
}

class CalculationRows extends RecordRows<'calculations', Calculation> {
  override async list(
    db: RecordsDb,
    filter: WorkspaceFilter & {
      readonly tagId?: string | undefined;
    },
    page: PageRequest,
  ) {
    let query = this.filtered(db, filter);
    if (filter.tagId !== undefined) query = query.where('tagId', '=', filter.tagId);
    return this.page(db, query, page);
  }

  /** With its progress. */
  override async remove(db: RecordsDb, id: string) {
    await calculationRows.removeProgress(db, [id]);
    await super.remove(db, id);
  }

  /** Every calculation of the installation, or those with the ids. */
  async all(db: RecordsDb): Promise<Calculation[]> {
    return this.readAll(db, this.select(db).orderBy('id'));
  }

  async ofWorkspace(db: RecordsDb, workspaceId: string): Promise<Calculation[]> {
    const query = this.select(db).where('workspaceId', '=', workspaceId);
    return this.readAll(db, query.orderBy('searchText').orderBy('id'));
  }

  /** The calculations over a tag, `calculation Name (id)`, at most `max`. */
  async ofTag(db: RecordsDb, tagId: string, max: number): Promise<string[]> {
    const query = db.selectFrom('calculations').select(['id', 'name']).where('tagId', '=', tagId);
    const rows = await query.orderBy('searchText').limit(max).execute();
    return rows.map((row) => `calculation ${row.name} (${row.id})`);
  }

  // Progress.
  /** By id of the calculation; those that have not begun are absent. */
  async findProgress(
    db: RecordsDb,
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, CalculationProgress>> {
    const found = new Map<string, CalculationProgress>();
    for (let from = 0; from < ids.length; from += rowsPerStatement) {
      const some = ids.slice(from, from + rowsPerStatement);
      const query = db.selectFrom('calculationProgress').selectAll();
      for (const row of await query.where(isOneOf('calculationId', some)).execute())
        found.set(row.calculationId, {
          ...row,
          computedTo: Number(row.computedTo),
          computedAt: row.computedAt === null ? null : Number(row.computedAt),
          errorAt: row.errorAt === null ? null : Number(row.errorAt),
        });
    }
    return found;
  }

  /** Never back: a node that was paused may save what another one has passed since. */
  async saveProgress(db: RecordsDb, progress: CalculationProgress): Promise<void> {
    const { calculationId: _, ...changed } = progress;
    await db
      .insertInto('calculationProgress')
      .values(progress)
      .onConflict((conflict) =>
        conflict
          .column('calculationId')
          .doUpdateSet(changed)
          .where((is) =>
            is.or([
              is('calculationProgress.activation', '<', progress.activation),
              is.and([
                is('calculationProgress.activation', '=', progress.activation),
                is('calculationProgress.computedTo', '<=', progress.computedTo),
              ]),
            ]),
          ),
      )
      .execute();
  }

  /** With the marks. */
  async removeProgress(db: RecordsDb, ids: readonly string[]): Promise<void> {
    for (const table of ['calculationProgress', 'calculationMarks'] as const)
      await db
        .deleteFrom(table as 'calculationProgress')
        .where('calculationId', 'in', [...ids])
        .execute();
  }

  // Marks.
  /** Widens the range of each slot. Call within a transaction. */
  async addMarks(db: RecordsDb, marks: readonly CalculationMark[]): Promise<void> {
    for (let from = 0; from < marks.length; from += rowsPerStatement) {
      const some = marks.slice(from, from + rowsPerStatement);
      await db
        .insertInto('calculationMarks')
        .values(
          some.map(({ calculationId, slot, from: fromAt, to: toAt }) => ({
            calculationId,
            slot,
            fromAt,
            toAt,
            revision: 0,
          })),
        )
        .onConflict((conflict) =>
          conflict.columns(['calculationId', 'slot']).doUpdateSet({
            fromAt: sql`case when excluded."fromAt" < "calculationMarks"."fromAt"
            then excluded."fromAt" else "calculationMarks"."fromAt" end`,
            toAt: sql`case when excluded."toAt" > "calculationMarks"."toAt"
            then excluded."toAt" else "calculationMarks"."toAt" end`,
            revision: sql`"calculationMarks"."revision" + 1`,
          }),
        )
        .execute();
    }
  }

  /** The oldest marks of a calculation. */
  async findMarks(db: RecordsDb, calculationId: string, max: number): Promise<FoundMark[]> {
    const query = db
      .selectFrom('calculationMarks')
      .selectAll()
      .where('calculationId', '=', calculationId);
    const rows = await query.orderBy('slot').limit(max).execute();
    return rows.map(({ slot, fromAt, toAt, revision }) => ({
      calculationId,
      slot: Number(slot),
      from: Number(fromAt),
      to: Number(toAt),
      revision: Number(revision),
    }));
  }

  /** Those that were not widened since they were read. */
  async removeMarks(db: RecordsDb, marks: readonly FoundMark[]): Promise<void> {
    for (const { calculationId, slot, revision } of marks)
      await db
        .deleteFrom('calculationMarks')
        .where('calculationId', '=', calculationId)
        .where('slot', '=', slot)
        .where('revision', '=', revision)
        .execute();
  }

  /** What is before the moment is done; the rest stays, unless the mark was widened meanwhile. */
  async narrowMark(db: RecordsDb, mark: FoundMark, from: number): Promise<void> {
    const { calculationId, slot, revision } = mark;
    await db
      .updateTable('calculationMarks')
      .set({ fromAt: from })
      .where('calculationId', '=', calculationId)
      .where('slot', '=', slot)
      .where('revision', '=', revision)
      .execute();
  }

  /** How many slots are marked, by calculation; others are absent. Of unknown calculations too. */
  async countMarks(db: RecordsDb): Promise<ReadonlyMap<string, number>> {
    const rows = await db
      .selectFrom('calculationMarks')
      .select((eb) => ['calculationId', eb.fn.countAll<number>().as('marks')])
      .groupBy('calculationId')
      .execute();
    return new Map(rows.map(({ calculationId, marks }) => [calculationId, Number(marks)]));
  }

  /** The same for some calculations. */
  async countMarksOf(db: RecordsDb, ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
    if (ids.length === 0) return new Map();
    const rows = await db
      .selectFrom('calculationMarks')
      .select((eb) => ['calculationId', eb.fn.countAll<number>().as('marks')])
      .where(isOneOf('calculationId', ids))
      .groupBy('calculationId')
      .execute();
    return new Map(rows.map(({ calculationId, marks }) => [calculationId, Number(marks)]));
  }

  /** Marks and progress of calculations that are gone. */
  async dropMarksOfDeleted(db: RecordsDb, max: number): Promise<void> {
    const known = db.selectFrom('calculations').select('id');
    const rows = await db
      .selectFrom('calculationMarks')
      .select('calculationId')
      .distinct()
      .where('calculationId', 'not in', known)
      .limit(max)
      .execute();
    const ids = rows.map(({ calculationId }) => calculationId);
    if (ids.length > 0) await this.removeProgress(db, ids);
  }

  async count(db: RecordsDb, workspaceId: string): Promise<number> {
    const { count } = await db
      .selectFrom('calculations')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('workspaceId', '=', workspaceId)
      .executeTakeFirstOrThrow();
    return Number(count);
  }
}

export const calculationRows = new CalculationRows('calculations', toRow, fromRow, {
  columns: { ...sortColumns, active: 'active', period: 'period' },
});

export interface FoundMark extends CalculationMark {
  readonly revision: number;
}
