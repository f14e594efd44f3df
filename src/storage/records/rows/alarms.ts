// Alarms in the records store: written in batches, found by key, listed by many filters, with their sources and comments (contract 37).
import type { Author } from '../../../model/principal.ts';
import { type Insertable, type Selectable, sql, type SqlBool } from 'kysely';
import {
  type Alarm,
  type AlarmComment,
  type AlarmMute,
  type AlarmCounts,
  alarmSeverities,
  type AlarmSeverity,
  type AlarmSource,
  type AlarmState,
  severityRank,
} from '../../../model/alarm.ts';
import type { EpochMs } from '../../../model/instant.ts';
import type { JsonObject } from '../../../model/json.ts';
import type { PageRequest } from '../../../model/page.ts';
import {
  contains,
  fromJsonText,
  fromJsonTextOrNull,
  isOneOf,
  lastOfEach,
  searchTextOf,
  toJsonText,
  toJsonTextOrNull,
} from '../columns.ts';
import { pageOfRows, type Rows, type WorkspaceFilter } from '../list.ts';
import type { RecordsDb } from '../records.ts';
import { isAtPlaces } from './places.ts';
import type { RecordTables } from '../schema.ts';

type Row = RecordTables['alarms'];

// Few enough for every engine's parameter limit: a row has 41 columns.
const alarmsPerStatement = 50;
const keysPerStatement = 250;

function toRow(alarm: Alarm): Insertable<Row> {
  const { device, rule, sampleTime, acknowledged, cleared, data, muted, ...columns } = alarm;
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
    muteId: muted?.muteId ?? null,
    mutedUntil: muted?.until ?? null,
    data: toJsonText(data),
    searchText: searchTextOf(
      ...[alarm.name, alarm.key, device?.name ?? null, device?.deviceId ?? null, rule.name],
    ),
  };
}

function alarmFromRow(row: Selectable<Row>): Alarm {
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
        : { at: acknowledgedAt, by: fromJsonText<Author>(row.acknowledgedBy ?? 'null') },
    cleared: clearedAt === null ? null : clearingOf(row, clearedAt),
    escalatedAt: row.escalatedAt,
    data: fromJsonText<JsonObject>(row.data),
    correlationId: row.correlationId,
    clearAt: row.clearAt,
    escalateAt: row.escalateAt,
    remindAt: row.remindAt,
    remindEveryMs: row.remindEveryMs,
    escalateAfterMs: row.escalateAfterMs,
    muted: mutedOf(row),
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

function mutedOf({ muteId, mutedUntil }: Selectable<Row>): Alarm['muted'] {
  return muteId === null || mutedUntil === null ? null : { muteId, until: mutedUntil };
}

function clearingOf({ clearedBy, clearReason }: Selectable<Row>, at: EpochMs): Alarm['cleared'] {
  return { at, by: fromJsonTextOrNull<Author>(clearedBy), reason: clearReason };
}

function* chunks<T>(of: readonly T[], size: number): Generator<readonly T[]> {
  for (let from = 0; from < of.length; from += size) yield of.slice(from, from + size);
}

/** Times that are counted from what happened to an alarm. */
const countedColumns = ['clearAt', 'escalateAt', 'remindAt'] as const;
/** Columns with the times at which something happens to an alarm by itself. */
const timeColumns = [...countedColumns, 'mutedUntil'] as const;

/** Alarms of the workspace that are not cleared; reads only their index. */

function isOfDevicesAt(placeId: string) {
  const devices = sql`select ${sql.ref('devices.id')} from ${sql.table('devices')} where ${isAtPlaces([placeId])}`;
  return sql<boolean>`${sql.ref('alarms.deviceId')} in (${devices})`;
}

/** An absent filter filters nothing. */
export interface AlarmFilter extends WorkspaceFilter {
  readonly states?: readonly string[] | undefined;
  readonly severities?: readonly string[] | undefined;
  readonly deviceIds?: readonly string[] | undefined;
  readonly ruleIds?: readonly string[] | undefined;
  /** Of devices at the place or below it. */
  readonly placeId?: string | undefined;
  /** Triggered last from this instant on. */
  readonly from?: EpochMs | undefined;
  /** Triggered last before this instant. */
  readonly to?: EpochMs | undefined;
  /** Triggered first at this instant or before, and not cleared then. */
  readonly openAt?: EpochMs | undefined;
}

const columns = {
  lastTriggered: 'lastTriggered',
  firstTriggered: 'firstTriggered',
  severity: 'severityRank',
  state: 'state',
  count: 'count',
  name: 'searchText',
} as const;

function filtered(db: RecordsDb, filter: AlarmFilter) {
  const { workspaceIds, states, severities, deviceIds, ruleIds, from, to, search } = filter;
  const { placeId, openAt } = filter;
  let query = db
    .selectFrom('alarms')
    .selectAll()
    .where('organizationId', '=', filter.organizationId);
  if (workspaceIds !== undefined) query = query.where(isOneOf('workspaceId', workspaceIds));
  if (states !== undefined) {
    query = query.where(isOneOf('state', states));
    // Few alarms are not cleared, and they have their own index.
    if (!states.includes('CLEARED')) query = query.where('openKey', 'is not', null);
  }
  if (severities !== undefined) query = query.where(isOneOf('severity', severities));
  if (deviceIds !== undefined) query = query.where(isOneOf('deviceId', deviceIds));
  if (ruleIds !== undefined) query = query.where(isOneOf('ruleId', ruleIds));
  if (placeId !== undefined) query = query.where(isOfDevicesAt(placeId));
  if (from !== undefined) query = query.where('lastTriggered', '>=', from);
  if (to !== undefined) query = query.where('lastTriggered', '<', to);
  if (openAt !== undefined)
    query = query
      .where('firstTriggered', '<=', openAt)
      .where((eb) => eb.or([eb('clearedAt', 'is', null), eb('clearedAt', '>', openAt)]));
  if (search) query = query.where(contains('searchText', search));
  return query;
}

class AlarmRows {
  /**
   * Inserts or replaces them, in their order: an alarm that ends is before a new one of its key.
   * Cleared ones lose their sources.
   */
  async save(step: RecordsDb, alarms: readonly Alarm[]): Promise<void> {
    const last = lastOfEach(alarms, ({ id }) => id);
    for (const some of chunks(last, alarmsPerStatement)) {
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
    await alarmSourceRows.removeOfAlarms(
      step,
      cleared.map(({ id }) => id),
    );
  }

  /** Alarms are cleared, escalated and reminded of after the same time as before, although the clock was set back. */
  async moveTimes(
    step: RecordsDb,
    { now, byMs }: { readonly now: EpochMs; readonly byMs: number },
  ): Promise<void> {
    for (const column of countedColumns)
      await step
        .updateTable('alarms')
        .set((eb) => ({ [column]: eb(column, '-', byMs) }))
        .where(column, '>', now)
        .execute();
  }

  async find(db: RecordsDb, ids: readonly string[]): Promise<Alarm[]> {
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
  async findOpen(
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

  /** The next alarms of the workspace that are not cleared, in the order of their ids. */
  async openAfter(
    db: RecordsDb,
    workspaceId: string,
    after: string,
    max: number,
  ): Promise<Alarm[]> {
    const query = db
      .selectFrom('alarms')
      .selectAll()
      .where('workspaceId', '=', workspaceId)
      .where('openKey', 'is not', null)
      .where('id', '>', after)
      .orderBy('id')
      .limit(max);
    return (await query.execute()).map(alarmFromRow);
  }

  /** Marks open alarms with what keeps them quiet. */
  async markMuted(step: RecordsDb, marked: ReadonlyMap<string, AlarmMute>): Promise<void> {
    const byMute = new Map<string, { readonly mute: AlarmMute; readonly ids: string[] }>();
    for (const [id, mute] of marked) {
      const name = `${mute.muteId} ${mute.until}`;
      const known = byMute.get(name) ?? { mute, ids: [] };
      known.ids.push(id);
      byMute.set(name, known);
    }
    for (const { mute, ids } of byMute.values())
      for (const some of chunks(ids, keysPerStatement))
        await step
          .updateTable('alarms')
          .set({ muteId: mute.muteId, mutedUntil: mute.until })
          .where('id', 'in', [...some])
          .where('openKey', 'is not', null)
          .execute();
  }

  /** The alarms of a mute that ends early are due at the moment. */
  async endMute(step: RecordsDb, muteId: string, at: EpochMs): Promise<void> {
    await step.updateTable('alarms').set({ mutedUntil: at }).where('muteId', '=', muteId).execute();
  }

  /** Those whose time to be cleared, escalated or reminded of has come, the earliest first. */
  async findDue(db: RecordsDb, now: EpochMs, max: number): Promise<Alarm[]> {
    const due = new Map<string, Alarm>();
    for (const column of timeColumns) {
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
  async nextTime(db: RecordsDb): Promise<EpochMs | undefined> {
    const times: number[] = [];
    for (const column of timeColumns) {
      const query = db
        .selectFrom('alarms')
        .select((eb) => eb.fn.min(column).as('at'))
        .where(column, 'is not', null);
      const row = await query.executeTakeFirst();
      if (row?.at !== null && row?.at !== undefined) times.push(Number(row.at));
    }
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /** `placeId`: of devices at the place or below it. */
  async count(db: RecordsDb, workspaceId: string, placeId?: string): Promise<AlarmCounts> {
    let query = db
      .selectFrom('alarms')
      .select((eb) => ['state', 'severity', eb.fn.countAll<number>().as('count')])
      .where('workspaceId', '=', workspaceId)
      // A literal, because a parameter does not select the index.
      .where('state', '<>', sql.lit('CLEARED'))
      .groupBy(['state', 'severity']);
    if (placeId !== undefined) query = query.where(isOfDevicesAt(placeId));
    const rows = await query.execute();
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

  async countOpen(db: RecordsDb, workspaceId: string): Promise<number> {
    const { open, acknowledged } = await this.count(db, workspaceId);
    return [...Object.values(open), ...Object.values(acknowledged)].reduce((sum, n) => sum + n, 0);
  }

  /** Removes at most `max` alarms that were cleared before the moment. Resolves to their number. */
  async removeClearedBefore(step: RecordsDb, before: EpochMs, max: number): Promise<number> {
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
  async removeSurplus(
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

  async list(db: RecordsDb, filter: AlarmFilter, page: PageRequest): Promise<Rows<Alarm>> {
    const { rows, total } = await pageOfRows(filtered(db, filter), page, {
      columns,
      defaultSort: [{ field: 'lastTriggered', direction: 'desc' }],
    });
    return { rows: rows.map(alarmFromRow), total };
  }

  /** The next ids of a filter, in the order of the ids. */
  async idsAfter(
    db: RecordsDb,
    filter: AlarmFilter,
    after: string,
    max: number,
  ): Promise<readonly string[]> {
    const query = filtered(db, filter).where('id', '>', after).orderBy('id').limit(max);
    return (await query.clearSelect().select('id').execute()).map(({ id }) => id);
  }
}

export const alarmRows = new AlarmRows();

// Parts of alarms in the records store: who keeps them open, and their comments (contract 37).

const partsPerStatement = 100;

export interface AlarmSourceRow extends AlarmSource {
  readonly alarmId: string;
}

function rowValues(rows: readonly AlarmSourceRow[]) {
  return sql.join(
    rows.map(
      ({ ruleId, deviceId, connectorId, alarmId }) =>
        sql`(${ruleId}, ${deviceId}, ${connectorId}, ${alarmId})`,
    ),
  );
}

/** Who keeps alarms open. */
class AlarmSourceRows {
  /** The rows of the sources: which alarms they keep open. */
  async find(db: RecordsDb, sources: readonly AlarmSource[]): Promise<AlarmSourceRow[]> {
    const found: AlarmSourceRow[] = [];
    for (const some of chunks(sources, partsPerStatement)) {
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
  async existing(db: RecordsDb, rows: readonly AlarmSourceRow[]): Promise<AlarmSourceRow[]> {
    const found: AlarmSourceRow[] = [];
    for (const some of chunks(rows, partsPerStatement)) {
      const query = sql<AlarmSourceRow>`
        select * from "alarmSources"
        where ("ruleId", "deviceId", "connectorId", "alarmId") in (values ${rowValues(some)})`;
      found.push(...(await query.execute(db)).rows);
    }
    return found;
  }

  async ofAlarms(db: RecordsDb, alarmIds: readonly string[]): Promise<AlarmSourceRow[]> {
    const found: AlarmSourceRow[] = [];
    for (const some of chunks(alarmIds, partsPerStatement)) {
      const query = db
        .selectFrom('alarmSources')
        .selectAll()
        .where('alarmId', 'in', [...some]);
      found.push(...(await query.execute()));
    }
    return found;
  }

  /** Those of the rules, which the rules read when they start. */
  async ofRules(db: RecordsDb, ruleIds: readonly string[]): Promise<AlarmSourceRow[]> {
    const found: AlarmSourceRow[] = [];
    for (const some of chunks(ruleIds, partsPerStatement)) {
      const query = db
        .selectFrom('alarmSources')
        .selectAll()
        .where('ruleId', 'in', [...some]);
      found.push(...(await query.execute()));
    }
    return found;
  }

  async insert(step: RecordsDb, rows: readonly AlarmSourceRow[]): Promise<void> {
    for (const some of chunks(rows, partsPerStatement)) {
      await step
        .insertInto('alarmSources')
        .values([...some])
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    }
  }

  async remove(step: RecordsDb, rows: readonly AlarmSourceRow[]): Promise<void> {
    for (const some of chunks(rows, partsPerStatement)) {
      await sql`
        delete from "alarmSources"
        where ("ruleId", "deviceId", "connectorId", "alarmId") in (values ${rowValues(some)})`.execute(
        step,
      );
    }
  }

  /** Every source of the alarms. */
  async removeOfAlarms(step: RecordsDb, alarmIds: readonly string[]): Promise<void> {
    for (const some of chunks(alarmIds, partsPerStatement))
      await step
        .deleteFrom('alarmSources')
        .where('alarmId', 'in', [...some])
        .execute();
  }
}

export const alarmSourceRows = new AlarmSourceRows();

class AlarmCommentRows {
  async insert(step: RecordsDb, alarmId: string, comment: AlarmComment): Promise<void> {
    const row = { ...comment, alarmId, by: toJsonText(comment.by) };
    await step.insertInto('alarmComments').values(row).execute();
  }

  /** The comments of each alarm, oldest first. */
  async ofAlarms(
    db: RecordsDb,
    alarmIds: readonly string[],
  ): Promise<ReadonlyMap<string, readonly AlarmComment[]>> {
    const found = new Map<string, AlarmComment[]>();
    for (const some of chunks(alarmIds, partsPerStatement)) {
      const query = db
        .selectFrom('alarmComments')
        .selectAll()
        .where('alarmId', 'in', [...some])
        .orderBy('at')
        .orderBy('id');
      for (const { alarmId, by, ...comment } of await query.execute()) {
        const comments = found.get(alarmId) ?? [];
        found.set(alarmId, comments);
        comments.push({ ...comment, by: fromJsonText<Author>(by) });
      }
    }
    return found;
  }
}

export const alarmCommentRows = new AlarmCommentRows();
