// Alarm ends: alarms end with what made them: their rule, output, device or input is gone (contract 42).
// What is stored decides, not the change: so an end that a crash prevented happens after the start.
import { sql } from 'kysely';
import {
  type AlarmEffect,
  type AlarmSource,
  type AlarmSourceEnd,
  endlessSource,
} from '../../model/alarm.ts';
import type { EpochMs } from '../../model/instant.ts';
import type { ChangeFollower, RecordChange } from '../../model/record.ts';
import { isOneOf } from '../../storage/records/columns.ts';
import { type Records, type RecordsDb, transaction } from '../../storage/records/records.ts';
import { deviceRows } from '../../storage/records/rows/devices.ts';
import { ruleRows } from '../../storage/records/rows/rules.ts';
import { placeRows } from '../../storage/records/rows/places.ts';
import { type CompiledRule, compileRules, inputsOf } from '../evaluation/compiled-rule.ts';
import { RetryingWorker } from '../../structures/retrying-worker.ts';
import type { SetTimer } from '../../structures/timers.ts';
import type { ApplyAlarms } from './alarm-effects.ts';

const endLimits = {
  /** Sources that are looked at in one transaction. */
  sourcesPerStep: 200,
  /** Changed records that are looked at by their ids; beyond, all sources are. */
  changesMax: 1_000,
  retryDelaysMs: [1_000, 5_000, 30_000],
} as const;

/** What changed since the last look. */
interface Changed {
  isAll: boolean;
  rules: Set<string>;
  devices: Set<string>;
  connectors: Set<string>;
}

export class AlarmEnds implements ChangeFollower {
  readonly #parts;
  readonly #worker: RetryingWorker;
  #changed: Changed;

  /** Begins with a look at all alarms. */
  constructor(
    parts: Pick<Records, 'db' | 'sealer'> & {
      readonly applyAlarms: ApplyAlarms;
      readonly now: () => EpochMs;
      readonly pause: () => Promise<unknown>;
      readonly setTimer: SetTimer;
      readonly failed: (error: unknown) => void;
      /** Whether this node looks after alarms for all. */
      readonly holds: () => boolean;
    },
  ) {
    this.#parts = parts;
    this.#changed = { ...nothingChanged(), isAll: true };
    this.#worker = new RetryingWorker({
      hasWork: () => parts.holds() && sizeOf(this.#changed) > 0,
      work: () => this.#look(),
      failed: parts.failed,
      retryDelaysMs: endLimits.retryDelaysMs,
      setTimer: parts.setTimer,
    });
  }

  readonly recordChanged = ({ kind, id, action }: RecordChange): void => {
    if (action === 'created') return;
    const { rules, devices, connectors } = this.#changed;
    if (kind === 'rule') rules.add(id);
    else if (kind === 'device') devices.add(id);
    else if (kind === 'outputConnector') connectors.add(id);
    else if (kind === 'tag' && action === 'deleted') this.#changed.isAll = true;
    // A place that moves takes along the devices below it.
    else if (kind === 'place') this.#changed.isAll = true;
    else return;
    if (sizeOf(this.#changed) > endLimits.changesMax) this.changesMissed();
    this.#worker.wake();
  };

  readonly changesMissed = (): void => {
    this.#changed = { ...nothingChanged(), isAll: true };
    this.#worker.wake();
  };

  /** Call it when this node may look after alarms from now on. */
  readonly wake = (): void => this.#worker.wake();

  /** Looks at all alarms, as after a start. */
  readonly lookAtAll = (): Promise<void> => {
    this.changesMissed();
    return this.#worker.idle();
  };

  /** Resolves when the changes so far have ended what they end, or the attempt failed. */
  readonly settled = (): Promise<void> => this.#worker.idle();

  readonly close = (): Promise<void> => this.#worker.close();

  async #look(): Promise<void> {
    while (sizeOf(this.#changed) > 0) {
      const changed = this.#changed;
      this.#changed = nothingChanged();
      try {
        await this.#endSourcesAbout(aboutOf(changed));
      } catch (error) {
        this.#changed.isAll = true;
        throw error;
      }
    }
  }

  async #endSourcesAbout(about: AlarmSourcesAbout): Promise<void> {
    const { db, applyAlarms, pause } = this.#parts;
    let after: OpenAlarmSource | undefined;
    for (;;) {
      const sources = await findOpenSources(db, about, after, endLimits.sourcesPerStep);
      after = sources.at(-1);
      if (sources.length > 0)
        await transaction(db, async (step) => {
          const effects = await this.#endsOf(step.db, sources);
          if (effects.length > 0) await applyAlarms(step, effects);
        });
      if (sources.length < endLimits.sourcesPerStep) return;
      await pause();
    }
  }

  async #endsOf(db: RecordsDb, sources: readonly OpenAlarmSource[]): Promise<AlarmEffect[]> {
    const { sealer, now, failed } = this.#parts;
    const ruleIds = [...new Set(sources.map(({ ruleId }) => ruleId))];
    const deviceIds = [...new Set(sources.flatMap((source) => deviceOf(source) ?? []))];
    const { rules, broken } = await ruleRows.activeOf(db, ruleIds);
    const compiled = await compileRules({ db, sealer }, rules, (_, error) => failed(error));
    const known: Known = {
      compiled: new Map(compiled.map((one) => [one.rule.id, one])),
      active: new Set([...rules, ...broken].map(({ id }) => id)),
      existing: await ruleRows.existing(db, ruleIds),
      workspaces: await deviceRows.workspacesOf(db, deviceIds),
      groups: await placeRows.groupsOfDevices(db, deviceIds),
    };
    const at = now();
    return sources.flatMap((source): AlarmEffect[] => {
      const reason = reasonOf(source, known);
      if (reason === undefined) return [];
      const { organizationId, workspaceId, key, ruleId, connectorId, deviceId } = source;
      const place = { organizationId, workspaceId, at, hops: 0, sampleTime: null };
      // Such a source is not of one device; its alarm is.
      const isOfDevice = deviceId !== endlessSource && deviceId !== '';
      if (!isOfDevice && deviceReasons.has(reason))
        return [{ kind: 'KEY_ENDED', ...place, key, reason }];
      const ended = { ruleId, connectorId, deviceId };
      return [{ kind: 'SOURCE_ENDED', ...place, source: ended, reason }];
    });
  }
}

function nothingChanged(): Changed {
  return { isAll: false, rules: new Set(), devices: new Set(), connectors: new Set() };
}

function sizeOf({ isAll, rules, devices, connectors }: Changed): number {
  return Number(isAll) + rules.size + devices.size + connectors.size;
}

function aboutOf({ isAll, rules, devices, connectors }: Changed): AlarmSourcesAbout {
  if (isAll) return 'all';
  return { rules: [...rules], devices: [...devices], connectors: [...connectors] };
}

interface Known {
  readonly compiled: ReadonlyMap<string, CompiledRule>;
  /** Active rules, also those that cannot be read or compiled. */
  readonly active: ReadonlySet<string>;
  readonly existing: ReadonlySet<string>;
  /** Device to workspace. */
  readonly workspaces: ReadonlyMap<string, string>;
  /** Tags of devices, and the places above them. */
  readonly groups: ReadonlyMap<string, ReadonlySet<string>>;
}

/** The device that the source is about; that of its alarm when it names none. */
function deviceOf({ deviceId, alarmDeviceId }: OpenAlarmSource): string | undefined {
  if (deviceId !== '' && deviceId !== endlessSource) return deviceId;
  return alarmDeviceId ?? undefined;
}

const deviceReasons: ReadonlySet<string> = new Set([
  'DEVICE_DELETED',
  'DEVICE_MOVED',
  'INPUT_REMOVED',
]);

/** Why nothing can end the source any longer; undefined while something can. */
function reasonOf(source: OpenAlarmSource, known: Known): AlarmSourceEnd['reason'] | undefined {
  const { ruleId, connectorId, workspaceId } = source;
  if (!known.existing.has(ruleId)) return 'RULE_DELETED';
  if (!known.active.has(ruleId)) return 'RULE_DEACTIVATED';
  const compiled = known.compiled.get(ruleId);
  if (compiled?.consecutive.has(connectorId) === false) return 'OUTPUT_DELETED';
  const deviceId = deviceOf(source);
  if (deviceId === undefined) return undefined;
  const workspace = known.workspaces.get(deviceId);
  if (workspace === undefined) return 'DEVICE_DELETED';
  if (workspace !== workspaceId) return 'DEVICE_MOVED';
  if (compiled === undefined) return undefined;
  const groups = known.groups.get(deviceId) ?? new Set();
  const isInput = inputsOf(compiled).some(
    ({ deviceIds, hasTagged }) => deviceIds.includes(deviceId) || hasTagged(groups),
  );
  return isInput ? undefined : 'INPUT_REMOVED';
}

// What keeps alarms open in the records store, by the record that changed (contract 42).

/** Whose sources are wanted: those of the records, or all. */
type AlarmSourcesAbout =
  | 'all'
  | {
      readonly rules: readonly string[];
      readonly devices: readonly string[];
      readonly connectors: readonly string[];
    };

/** A source of an alarm that is not cleared. */
interface OpenAlarmSource extends AlarmSource {
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
async function findOpenSources(
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
