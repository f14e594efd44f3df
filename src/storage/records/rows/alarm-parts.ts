// Parts of alarms in the records store: who keeps them open, and their comments (contract 37).
import { sql } from 'kysely';
import type { AlarmActor, AlarmComment, AlarmSource } from '../../../model/alarm.ts';
import { fromJsonText, toJsonText } from '../columns.ts';
import type { RecordsDb } from '../records.ts';

const rowsPerStatement = 100;

export interface AlarmSourceRow extends AlarmSource {
  readonly alarmId: string;
}

function* chunks<T>(of: readonly T[]): Generator<readonly T[]> {
  for (let from = 0; from < of.length; from += rowsPerStatement)
    yield of.slice(from, from + rowsPerStatement);
}

/** The rows of the sources: which alarms they keep open. */
export async function findAlarmSources(
  db: RecordsDb,
  sources: readonly AlarmSource[],
): Promise<AlarmSourceRow[]> {
  const found: AlarmSourceRow[] = [];
  for (const some of chunks(sources)) {
    const values = some.map(
      ({ ruleId, deviceId, connectorId }) => sql`(${ruleId}, ${deviceId}, ${connectorId})`,
    );
    const query = sql<AlarmSourceRow>`
      select * from "alarmSources"
      where ("ruleId", "deviceId", "connectorId") in (values ${sql.join(values)})`;
    found.push(...(await query.execute(db)).rows);
  }
  return found;
}

/** Those of the rows that exist. */
export async function findAlarmSourceRows(
  db: RecordsDb,
  rows: readonly AlarmSourceRow[],
): Promise<AlarmSourceRow[]> {
  const found: AlarmSourceRow[] = [];
  for (const some of chunks(rows)) {
    const query = sql<AlarmSourceRow>`
      select * from "alarmSources"
      where ("ruleId", "deviceId", "connectorId", "alarmId") in (values ${rowValues(some)})`;
    found.push(...(await query.execute(db)).rows);
  }
  return found;
}

function rowValues(rows: readonly AlarmSourceRow[]) {
  return sql.join(
    rows.map(
      ({ ruleId, deviceId, connectorId, alarmId }) =>
        sql`(${ruleId}, ${deviceId}, ${connectorId}, ${alarmId})`,
    ),
  );
}

export async function sourcesOfAlarms(
  db: RecordsDb,
  alarmIds: readonly string[],
): Promise<AlarmSourceRow[]> {
  const found: AlarmSourceRow[] = [];
  for (const some of chunks(alarmIds)) {
    const query = db
      .selectFrom('alarmSources')
      .selectAll()
      .where('alarmId', 'in', [...some]);
    found.push(...(await query.execute()));
  }
  return found;
}

/** Those of the rules, which the rules read when they start. */
export async function findAlarmSourcesOfRules(
  db: RecordsDb,
  ruleIds: readonly string[],
): Promise<AlarmSourceRow[]> {
  const found: AlarmSourceRow[] = [];
  for (const some of chunks(ruleIds)) {
    const query = db
      .selectFrom('alarmSources')
      .selectAll()
      .where('ruleId', 'in', [...some]);
    found.push(...(await query.execute()));
  }
  return found;
}

export async function insertAlarmSources(
  step: RecordsDb,
  rows: readonly AlarmSourceRow[],
): Promise<void> {
  for (const some of chunks(rows)) {
    await step
      .insertInto('alarmSources')
      .values([...some])
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }
}

export async function removeAlarmSources(
  step: RecordsDb,
  rows: readonly AlarmSourceRow[],
): Promise<void> {
  for (const some of chunks(rows)) {
    await sql`
      delete from "alarmSources"
      where ("ruleId", "deviceId", "connectorId", "alarmId") in (values ${rowValues(some)})`.execute(
      step,
    );
  }
}

/** Every source of the alarms. */
export async function removeSourcesOfAlarms(
  step: RecordsDb,
  alarmIds: readonly string[],
): Promise<void> {
  for (const some of chunks(alarmIds))
    await step
      .deleteFrom('alarmSources')
      .where('alarmId', 'in', [...some])
      .execute();
}

export async function insertAlarmComment(
  step: RecordsDb,
  alarmId: string,
  comment: AlarmComment,
): Promise<void> {
  const row = { ...comment, alarmId, by: toJsonText(comment.by) };
  await step.insertInto('alarmComments').values(row).execute();
}

/** The comments of each alarm, oldest first. */
export async function commentsOfAlarms(
  db: RecordsDb,
  alarmIds: readonly string[],
): Promise<ReadonlyMap<string, readonly AlarmComment[]>> {
  const found = new Map<string, AlarmComment[]>();
  for (const some of chunks(alarmIds)) {
    const query = db
      .selectFrom('alarmComments')
      .selectAll()
      .where('alarmId', 'in', [...some])
      .orderBy('at')
      .orderBy('id');
    for (const { alarmId, by, ...comment } of await query.execute()) {
      const comments = found.get(alarmId) ?? [];
      found.set(alarmId, comments);
      comments.push({ ...comment, by: fromJsonText<AlarmActor>(by) });
    }
  }
  return found;
}
