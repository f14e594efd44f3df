// Rule queue: waiting script runs of rules, and the list of recent runs.
import { sql } from 'kysely';
import type { Json, JsonObject } from '../../../model/json.ts';
import { fromJsonText, isOneOf, toJsonText } from '../columns.ts';
import { type CommitPlace, commitOrder } from '../commit-order.ts';
import { engineSql } from '../engine-sql.ts';
import type { RecordsDb } from '../records.ts';
import type { ActivationRef } from './rule-state.ts';

const rowsPerStatement = 100;

/** A run of a custom logic script that waits for its turn. */
export interface WaitingTrigger extends ActivationRef {
  /** Its place in the queue. */
  readonly place: CommitPlace;
  readonly trigger: JsonObject;
}

export async function insertTriggers(
  step: RecordsDb,
  triggers: readonly Omit<WaitingTrigger, 'place'>[],
): Promise<void> {
  for (let from = 0; from < triggers.length; from += rowsPerStatement) {
    const rows = triggers.slice(from, from + rowsPerStatement);
    const values = rows.map((row) => ({ ...row, trigger: toJsonText(row.trigger) }));
    await step.insertInto('ruleTriggers').values(values).execute();
  }
}

/** The first waiting runs of the rule, in order of commit. */
export async function findTriggers(
  db: RecordsDb,
  ruleId: string,
  max: number,
): Promise<WaitingTrigger[]> {
  const query = db.selectFrom('ruleTriggers').selectAll().where('ruleId', '=', ruleId);
  const rows = await commitOrder(db).rowsBehind(query, undefined, max);
  return rows.map(({ sequence: _, ...row }) => ({
    ...row,
    trigger: fromJsonText<JsonObject>(row.trigger),
  }));
}

/** Number of waiting runs, by rule. */
export async function countTriggers(db: RecordsDb): Promise<Map<string, number>> {
  const query = db
    .selectFrom('ruleTriggers')
    .select((eb) => ['ruleId', eb.fn.countAll<number>().as('count')]);
  const rows = await query.groupBy('ruleId').execute();
  return new Map(rows.map(({ ruleId, count }) => [ruleId, Number(count)]));
}

/** Those of the rule up to a place in the queue. */
export async function removeTriggers(
  step: RecordsDb,
  ruleId: string,
  upTo: CommitPlace,
): Promise<number> {
  const query = step
    .deleteFrom('ruleTriggers')
    .where('ruleId', '=', ruleId)
    .where(commitOrder(step).isUpTo(upTo));
  return Number((await query.executeTakeFirst()).numDeletedRows);
}

/** The last runs of a rule as they were saved; empty when none were. */
export async function findRuns(db: RecordsDb, ruleId: string): Promise<Json[]> {
  const row = await db
    .selectFrom('ruleRuns')
    .select('runs')
    .where('ruleId', '=', ruleId)
    .executeTakeFirst();
  return row === undefined ? [] : fromJsonText<Json[]>(row.runs);
}

/** Time and outcome of the newest saved run of each rule that has one. */
export async function findLastRuns(
  db: RecordsDb,
  ruleIds: readonly string[],
): Promise<{ ruleId: string; timestamp: string; outcome: string }[]> {
  const { textOfFirst } = engineSql(db);
  const runs = sql.ref('runs');
  const rows = await db
    .selectFrom('ruleRuns')
    .select([
      'ruleId',
      textOfFirst(runs, 'timestamp').as('timestamp'),
      textOfFirst(runs, 'outcome').as('outcome'),
    ])
    .where(isOneOf('ruleId', ruleIds))
    .execute();
  return rows.flatMap(({ ruleId, timestamp, outcome }) =>
    timestamp === null || outcome === null ? [] : [{ ruleId, timestamp, outcome }],
  );
}

export async function saveRuns(
  step: RecordsDb,
  ruleId: string,
  runs: readonly Json[],
): Promise<void> {
  const row = { runs: toJsonText(runs) };
  await step
    .insertInto('ruleRuns')
    .values({ ruleId, ...row })
    .onConflict((conflict) => conflict.column('ruleId').doUpdateSet(row))
    .execute();
}

export async function removeRuns(step: RecordsDb, ruleId: string): Promise<void> {
  await step.deleteFrom('ruleRuns').where('ruleId', '=', ruleId).execute();
}
