// Alarms in the records store: written in batches, found by key, and due by time (contract 37).
import { type Insertable, type Selectable, type SqlBool, sql } from 'kysely';
import {
  type Alarm,
  type AlarmActor,
  type AlarmCounts,
  type AlarmSeverity,
  alarmSeverities,
  type AlarmState,
  severityRank,
} from '../../../model/alarm.ts';
import type { EpochMs } from '../../../model/instant.ts';
import type { JsonObject } from '../../../model/json.ts';
import {
  fromJsonText,
  fromJsonTextOrNull,
  searchTextOf,
  toJsonText,
  toJsonTextOrNull,
  lastOfEach,
} from '../columns.ts';
import type { RecordsDb } from '../records.ts';
import type { RecordTables } from '../schema.ts';
import { removeSourcesOfAlarms } from './alarm-parts.ts';

type Row = RecordTables['alarms'];

// Few enough for every engine's parameter limit: a row has 38 columns.
const rowsPerStatement = 50;
const keysPerStatement = 250;

function toRow(alarm: Alarm): Insertable<Row> {
  const { device, rule, sampleTime, acknowledged, cleared, data, ...columns } = alarm;
  return {
    ...columns,
    severityRank: severityRank(alarm.severity),
    openKey: cleared === null ? alarm.key : null,
    deviceId: device?.id ?? null,
    deviceName: device?.name ?? null,
    devicePhysicalId: device?.deviceId ?? null,
    ruleId: rule.id,
    ruleName: rule.name,
    firstSampleAt: sampleTime?.first ?? null,
    lastSampleAt: sampleTime?.last ?? null,
    acknowledgedAt: acknowledged?.at ?? null,
    acknowledgedBy: toJsonTextOrNull(acknowledged?.by),
    clearedAt: cleared?.at ?? null,
    clearedBy: toJsonTextOrNull(cleared?.by),
    clearReason: cleared?.reason ?? null,
    data: toJsonText(data),
    searchText: searchTextOf(
      ...[alarm.name, alarm.key, device?.name ?? null, device?.deviceId ?? null, rule.name],
    ),
  };
}

export function alarmFromRow(row: Selectable<Row>): Alarm {
  const { acknowledgedAt, clearedAt } = row;
  return {
    id: row.id,
    organizationId: row.organizationId,
    workspaceId: row.workspaceId,
    name: row.name,
    severity: row.severity as AlarmSeverity,
    state: row.state as AlarmState,
    key: row.key,
    connectorId: row.connectorId,
    device: deviceOf(row),
    rule: { id: row.ruleId, name: row.ruleName },
    count: row.count,
    firstTriggered: row.firstTriggered,
    lastTriggered: row.lastTriggered,
    sampleTime: sampleTimeOf(row),
    acknowledged:
      acknowledgedAt === null
        ? null
        : { at: acknowledgedAt, by: fromJsonText<AlarmActor>(row.acknowledgedBy ?? 'null') },
    cleared: clearedAt === null ? null : clearingOf(row, clearedAt),
    escalatedAt: row.escalatedAt,
    data: fromJsonText<JsonObject>(row.data),
    correlationId: row.correlationId,
    clearAt: row.clearAt,
    escalateAt: row.escalateAt,
    sources: row.sources,
    commentCount: row.commentCount,
    orderedBy: row.orderedBy,
    version: row.version,
  };
}

function sampleTimeOf({ firstSampleAt, lastSampleAt }: Selectable<Row>): Alarm['sampleTime'] {
  if (firstSampleAt === null || lastSampleAt === null) return null;
  return { first: firstSampleAt, last: lastSampleAt };
}

function deviceOf({ deviceId, deviceName, devicePhysicalId }: Selectable<Row>): Alarm['device'] {
  if (deviceId === null) return null;
  return { id: deviceId, name: deviceName ?? '', deviceId: devicePhysicalId ?? '' };
}

function clearingOf({ clearedBy, clearReason }: Selectable<Row>, at: EpochMs): Alarm['cleared'] {
  return { at, by: fromJsonTextOrNull<AlarmActor>(clearedBy), reason: clearReason };
}

function* chunks<T>(of: readonly T[], size: number): Generator<readonly T[]> {
  for (let from = 0; from < of.length; from += size) yield of.slice(from, from + size);
}

/**
 * Inserts or replaces them, in their order: an alarm that ends is before a new one of its key.
 * Cleared ones lose their sources.
 */
export async function saveAlarms(step: RecordsDb, alarms: readonly Alarm[]): Promise<void> {
  const last = lastOfEach(alarms, ({ id }) => id);
  for (const some of chunks(last, rowsPerStatement)) {
    const rows = some.map(toRow);
    const columns = Object.keys(rows[0] ?? {}).filter((name) => name !== 'id') as (keyof Row)[];
    await step
      .insertInto('alarms')
      .values(rows)
      .onConflict((conflict) =>
        conflict
          .column('id')
          .doUpdateSet(
            (eb) =>
              Object.fromEntries(
                columns.map((name) => [name, eb.ref(`excluded.${name}`)]),
              ) as never,
          ),
      )
      .execute();
  }
  const cleared = last.filter(({ state }) => state === 'CLEARED');
  await removeSourcesOfAlarms(
    step,
    cleared.map(({ id }) => id),
  );
}

/** Alarms are cleared and escalated after the same time as before, although the clock was set back. */
export async function moveAlarmTimes(
  step: RecordsDb,
  { now, byMs }: { readonly now: EpochMs; readonly byMs: number },
): Promise<void> {
  for (const column of ['clearAt', 'escalateAt'] as const)
    await step
      .updateTable('alarms')
      .set((eb) => ({ [column]: eb(column, '-', byMs) }))
      .where(column, '>', now)
      .execute();
}

export async function findAlarms(db: RecordsDb, ids: readonly string[]): Promise<Alarm[]> {
  const found: Alarm[] = [];
  for (const some of chunks(ids, keysPerStatement)) {
    const query = db
      .selectFrom('alarms')
      .selectAll()
      .where('id', 'in', [...some]);
    for (const row of await query.execute()) found.push(alarmFromRow(row));
  }
  return found;
}

/** Those of the keys that are not cleared, each by its workspace and key. */
export async function findOpenAlarms(
  db: RecordsDb,
  keys: readonly { readonly workspaceId: string; readonly key: string }[],
): Promise<Alarm[]> {
  const found: Alarm[] = [];
  for (const some of chunks(keys, keysPerStatement)) {
    const values = some.map(({ workspaceId, key }) => sql`(${workspaceId}, ${key})`);
    const query = db
      .selectFrom('alarms')
      .selectAll()
      .where('openKey', 'is not', null)
      .where(sql<SqlBool>`("workspaceId", "openKey") in (values ${sql.join(values)})`);
    for (const row of await query.execute()) found.push(alarmFromRow(row));
  }
  return found;
}

/** Those whose time to be cleared or escalated has come, the earliest first. */
export async function findDueAlarms(db: RecordsDb, now: EpochMs, max: number): Promise<Alarm[]> {
  const due = new Map<string, Alarm>();
  for (const column of ['clearAt', 'escalateAt'] as const) {
    const query = db
      .selectFrom('alarms')
      .selectAll()
      .where(column, '<=', now)
      .orderBy(column)
      .limit(max);
    for (const row of await query.execute()) due.set(row.id, alarmFromRow(row));
  }
  return [...due.values()].slice(0, max);
}

/** When the next alarm is due; undefined when none is. */
export async function nextAlarmTime(db: RecordsDb): Promise<EpochMs | undefined> {
  const times: number[] = [];
  for (const column of ['clearAt', 'escalateAt'] as const) {
    const query = db
      .selectFrom('alarms')
      .select((eb) => eb.fn.min(column).as('at'))
      .where(column, 'is not', null);
    const row = await query.executeTakeFirst();
    if (row?.at !== null && row?.at !== undefined) times.push(Number(row.at));
  }
  return times.length === 0 ? undefined : Math.min(...times);
}

/** Alarms of the workspace that are not cleared; reads only their index. */
export async function countAlarms(db: RecordsDb, workspaceId: string): Promise<AlarmCounts> {
  const rows = await db
    .selectFrom('alarms')
    .select((eb) => ['state', 'severity', eb.fn.countAll<number>().as('count')])
    .where('workspaceId', '=', workspaceId)
    // A literal, because a parameter does not select the index.
    .where('state', '<>', sql.lit('CLEARED'))
    .groupBy(['state', 'severity'])
    .execute();
  const countsOf = (state: AlarmState) => {
    const counted = rows.filter((row) => row.state === state);
    const count = (severity: AlarmSeverity) =>
      Number(counted.find((row) => row.severity === severity)?.count ?? 0);
    return Object.fromEntries(alarmSeverities.map((name) => [name, count(name)])) as Record<
      AlarmSeverity,
      number
    >;
  };
  return { open: countsOf('OPEN'), acknowledged: countsOf('ACKNOWLEDGED') };
}

export async function countOpenAlarms(db: RecordsDb, workspaceId: string): Promise<number> {
  const { open, acknowledged } = await countAlarms(db, workspaceId);
  return [...Object.values(open), ...Object.values(acknowledged)].reduce((sum, n) => sum + n, 0);
}

/** Removes at most `max` alarms that were cleared before the moment. Resolves to their number. */
export async function removeAlarmsClearedBefore(
  step: RecordsDb,
  before: EpochMs,
  max: number,
): Promise<number> {
  const old = step
    .selectFrom('alarms')
    .select('id')
    .where('clearedAt', '<', before)
    .orderBy('clearedAt')
    .limit(max);
  const { numDeletedRows } = await step
    .deleteFrom('alarms')
    .where('id', 'in', old)
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}

/** Removes the oldest cleared alarms of the workspace beyond `kept`, at most `max`. */
export async function removeSurplusAlarms(
  step: RecordsDb,
  workspaceId: string,
  { kept, max }: { readonly kept: number; readonly max: number },
): Promise<number> {
  const surplus = step
    .selectFrom('alarms')
    .select('id')
    .where('workspaceId', '=', workspaceId)
    .where('openKey', 'is', null)
    .orderBy('lastTriggered', 'desc')
    .orderBy('id')
    .limit(max)
    .offset(kept);
  const { numDeletedRows } = await step
    .deleteFrom('alarms')
    .where('id', 'in', surplus)
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}
