// What keeps alarms open in the records store, by the record that changed (contract 42).
import { sql } from 'kysely';
import type { AlarmSource } from '../../model/alarm.ts';
import { isOneOf } from '../columns.ts';
import type { RecordsDb } from '../records.ts';

/** Whose sources are wanted: those of the records, or all. */
export type AlarmSourcesAbout =
  | 'all'
  | {
      readonly rules: readonly string[];
      readonly devices: readonly string[];
      readonly connectors: readonly string[];
    };

/** A source of an alarm that is not cleared. */
export interface OpenAlarmSource extends AlarmSource {
  readonly alarmId: string;
  readonly organizationId: string;
  readonly workspaceId: string;
  readonly key: string;
  /** The device that the alarm is about; null for none or several. */
  readonly alarmDeviceId: string | null;
}

/** Each part has an index. */
function alarmsAbout(db: RecordsDb, about: Exclude<AlarmSourcesAbout, 'all'>) {
  const sourcesOf = (column: 'ruleId' | 'connectorId' | 'deviceId', ids: readonly string[]) =>
    db.selectFrom('alarmSources').select('alarmId').where(isOneOf(column, ids));
  return sourcesOf('ruleId', about.rules)
    .union(sourcesOf('connectorId', about.connectors))
    .union(sourcesOf('deviceId', about.devices))
    .union(
      db
        .selectFrom('alarms')
        .select('id as alarmId')
        .where('state', '<>', 'CLEARED')
        .where(isOneOf('deviceId', about.devices)),
    );
}

/** In a fixed order, those behind `after`. */
export async function findOpenSources(
  db: RecordsDb,
  about: AlarmSourcesAbout,
  after: OpenAlarmSource | undefined,
  max: number,
): Promise<OpenAlarmSource[]> {
  let query = db
    .selectFrom('alarmSources')
    .innerJoin('alarms', 'alarms.id', 'alarmSources.alarmId')
    .select([
      'alarmSources.ruleId',
      'alarmSources.connectorId',
      'alarmSources.deviceId',
      'alarmSources.alarmId',
      'alarms.organizationId',
      'alarms.workspaceId',
      'alarms.key',
      'alarms.deviceId as alarmDeviceId',
    ])
    .where('alarms.state', '<>', 'CLEARED');
  if (about !== 'all') query = query.where('alarmSources.alarmId', 'in', alarmsAbout(db, about));
  if (after !== undefined)
    query = query.where(
      sql<boolean>`("alarmSources"."alarmId", "alarmSources"."ruleId", "alarmSources"."connectorId", "alarmSources"."deviceId") > (${after.alarmId}, ${after.ruleId}, ${after.connectorId}, ${after.deviceId})`,
    );
  return query
    .orderBy('alarmSources.alarmId')
    .orderBy('alarmSources.ruleId')
    .orderBy('alarmSources.connectorId')
    .orderBy('alarmSources.deviceId')
    .limit(max)
    .execute();
}
