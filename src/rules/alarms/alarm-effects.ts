// Alarm effects: what rules do to alarms, written in the transaction of the rules' state (contract 37).
import {
  type Alarm,
  type AlarmClearing,
  type AlarmEffect,
  type AlarmEvent,
  type AlarmKeyEnd,
  alarmLimits,
  type AlarmSource,
  type AlarmSourceEnd,
  type AlarmTrigger,
  clearedAlarm,
  endlessSource,
  openedAlarm,
  triggeredAlarm,
} from '../../model/alarm.ts';
import { newId } from '../../model/ids.ts';
import type { ProcessingLogEntry } from '../../model/entry-trace.ts';
import { standardQuotas } from '../../model/quota.ts';
import type { RecordsDb, TransactionStep } from '../../storage/records/records.ts';
import {
  type AlarmSourceRow,
  alarmRows,
  alarmSourceRows,
} from '../../storage/records/rows/alarms.ts';
import { organizationRows } from '../../storage/records/rows/workspaces.ts';
import { type AlarmEffectParts, notifyOfAlarms } from './alarm-notifications.ts';

/**
 * Applies effects in their order, within the transaction of the caller. Resolves to notes of the
 * triggers that opened no alarm, for the processing log.
 */
export type ApplyAlarms = (
  step: TransactionStep,
  effects: readonly AlarmEffect[],
) => Promise<readonly ProcessingLogEntry[]>;

/** Effects that are applied before others have their turn. */
const effectsPerTurn = 500;

/** `openAlarmsMax`: alarms of an organization that are not cleared. */
export function createApplyAlarms(
  parts: AlarmEffectParts,
  openAlarmsMax: number = standardQuotas.openAlarms,
): ApplyAlarms {
  return async (step, effects) => {
    if (effects.length === 0) return [];
    const ledger = await openLedger(step.db, effects, openAlarmsMax);
    for (const [place, effect] of effects.entries()) {
      ledger.apply(effect);
      if (place % effectsPerTurn === effectsPerTurn - 1) await parts.pause();
    }
    await saveLedger(step.db, ledger);
    const { events, refused } = ledger;
    const shown = await notifyOfAlarms(parts, step, events);
    step.afterCommit(() => parts.changed(events, shown, refused.length));
    return refusalNotes(refused, openAlarmsMax);
  };
}

async function openLedger(
  step: RecordsDb,
  effects: readonly AlarmEffect[],
  openAlarmsMax: number,
): Promise<AlarmLedger> {
  const keys = new Map<
    string,
    { readonly workspaceId: string; readonly organizationId: string; readonly key: string }
  >();
  const ending = new Map<string, AlarmSource>();
  for (const effect of effects) {
    const { workspaceId, organizationId } = effect;
    if ('key' in effect) keys.set(keyOf(effect), { workspaceId, organizationId, key: effect.key });
    else ending.set(Object.values(effect.source).join('\n'), effect.source);
  }
  const open = await alarmRows.findOpen(step, [...keys.values()]);
  const ended = await alarmSourceRows.find(step, [...ending.values()]);
  const rows = [...ended, ...(await rowsOfTriggers(step, effects, open))];
  const alarms = [...open, ...(await alarmsOfRows(step, ended, new Set(open.map(({ id }) => id))))];
  const known = new Set(alarms.map(keyOf));
  const opening = [...keys].filter(([id]) => !known.has(id)).map(([, place]) => place);
  const room = new Map<string, number>();
  for (const id of new Set(opening.map(({ workspaceId }) => workspaceId)))
    room.set(id, alarmLimits.openPerWorkspaceMax - (await alarmRows.countOpen(step, id)));
  for (const id of new Set(opening.map(({ organizationId }) => organizationId)))
    room.set(id, openAlarmsMax - (await organizationRows.countOf(step, id, 'openAlarms')));
  return new AlarmLedger(alarms, rows, room);
}

function keyOf({ workspaceId, key }: { readonly workspaceId: string; readonly key: string }) {
  return `${workspaceId}\n${key}`;
}

/** Which sources of the triggers keep the open alarm of their key open already. */
async function rowsOfTriggers(
  step: RecordsDb,
  effects: readonly AlarmEffect[],
  open: readonly Alarm[],
): Promise<readonly AlarmSourceRow[]> {
  const ids = new Map(open.map((alarm) => [keyOf(alarm), alarm.id]));
  const wanted = new Map<string, AlarmSourceRow>();
  for (const effect of effects) {
    if (effect.kind !== 'TRIGGER') continue;
    const alarmId = ids.get(keyOf(effect));
    if (alarmId === undefined) continue;
    for (const deviceId of [effect.source.deviceId, endlessSource]) {
      const row = { ...effect.source, deviceId, alarmId };
      wanted.set(Object.values(row).join('\n'), row);
    }
  }
  return alarmSourceRows.existing(step, [...wanted.values()]);
}

async function alarmsOfRows(
  step: RecordsDb,
  rows: readonly AlarmSourceRow[],
  known: ReadonlySet<string>,
) {
  const ids = new Set(rows.map(({ alarmId }) => alarmId).filter((id) => !known.has(id)));
  return alarmRows.find(step, [...ids]);
}

async function saveLedger(step: RecordsDb, ledger: AlarmLedger): Promise<void> {
  await alarmRows.save(step, ledger.changed());
  await alarmSourceRows.remove(step, ledger.removedRows);
  await alarmSourceRows.insert(step, ledger.addedRows());
}

/** One for each rule of the batch. */
function refusalNotes(
  refused: readonly RefusedTrigger[],
  openAlarmsMax: number,
): ProcessingLogEntry[] {
  const notes = new Map<string, ProcessingLogEntry>();
  for (const { source, ruleName, at, correlationId, per } of refused) {
    const { ruleId, deviceId } = source;
    if (deviceId === '' || notes.has(ruleId)) continue;
    notes.set(ruleId, {
      id: `alarm-refused-${ruleId}-${deviceId}-${at}`,
      deviceId,
      timestamp: at,
      correlationId,
      level: 'ERROR',
      source: 'RULE',
      message: `Rule ${ruleName}: no alarm was opened, because the ${per} has ${per === 'workspace' ? alarmLimits.openPerWorkspaceMax : openAlarmsMax} alarms that are not cleared`,
      details: { ruleId, outputConnectorId: source.connectorId },
    });
  }
  return [...notes.values()];
}

// Alarm ledger: applies the effects of many runs in their order, so that each alarm is written once (contract 37).

/** A trigger that opened no alarm, because its workspace or organization has too many. */
interface RefusedTrigger extends AlarmTrigger {
  readonly per: 'workspace' | 'organization';
}

class AlarmLedger {
  /** In their order. Further triggers of one alarm are one event. */
  readonly events: AlarmEvent[] = [];
  readonly refused: RefusedTrigger[] = [];
  readonly removedRows: AlarmSourceRow[] = [];
  readonly #byId: Map<string, Alarm>;
  readonly #changed = new Set<string>();
  /** Ids of open alarms. */
  readonly #byKey: Map<string, string>;
  /** By source, the alarms that it keeps open. */
  readonly #keeping = new Map<string, Map<string, AlarmSourceRow>>();
  readonly #room: Map<string, number>;
  /** Place of the last UPDATED event of each alarm. */
  readonly #updates = new Map<string, number>();
  readonly #added = new Set<AlarmSourceRow>();

  /**
   * `alarms` are the open ones of the keys and sources of the effects, and `rows` those of their
   * sources. `room` is how many alarms each workspace and organization may still open; unlimited
   * without a number.
   */
  constructor(
    alarms: readonly Alarm[],
    rows: readonly AlarmSourceRow[],
    room: ReadonlyMap<string, number>,
  ) {
    this.#byId = new Map(alarms.map((alarm) => [alarm.id, alarm]));
    this.#byKey = new Map(alarms.map((alarm) => [keyOf(alarm), alarm.id]));
    this.#room = new Map(room);
    for (const row of rows) this.#keepingOf(row).set(row.alarmId, row);
  }

  apply(effect: AlarmEffect): void {
    if (effect.kind === 'TRIGGER') this.#applyTrigger(effect);
    else if (effect.kind === 'SOURCE_ENDED') this.#endSource(effect);
    else this.#endKey(effect);
  }

  /** Changed alarms; one that ends is before a new one of its key. */
  changed(): readonly Alarm[] {
    return [...this.#changed].flatMap((id) => this.#byId.get(id) ?? []);
  }

  addedRows(): readonly AlarmSourceRow[] {
    return [...this.#added].filter(({ alarmId }) => this.#byId.get(alarmId)?.state !== 'CLEARED');
  }

  #keepingOf({ ruleId, connectorId, deviceId }: AlarmSource): Map<string, AlarmSourceRow> {
    const id = `${ruleId}\n${connectorId}\n${deviceId}`;
    const alarms = this.#keeping.get(id) ?? new Map<string, AlarmSourceRow>();
    this.#keeping.set(id, alarms);
    return alarms;
  }

  #keep(alarm: Alarm): void {
    this.#byId.set(alarm.id, alarm);
    this.#changed.add(alarm.id);
  }

  #openOf(key: string): Alarm | undefined {
    return this.#byId.get(this.#byKey.get(key) ?? '');
  }

  #applyTrigger(trigger: AlarmTrigger): void {
    const key = keyOf(trigger);
    const known = this.#openOf(key);
    const alarm = known === undefined ? this.#open(trigger, key) : triggeredAlarm(known, trigger);
    if (alarm === undefined) return;
    this.#keep(this.#withSource(alarm, trigger));
    if (known !== undefined) this.#update(alarm.id, trigger);
  }

  /** Undefined when the workspace or the organization has no room. */
  #open(trigger: AlarmTrigger, key: string): Alarm | undefined {
    const { workspaceId, organizationId, at, hops } = trigger;
    const hasRoom = (id: string) => (this.#room.get(id) ?? Infinity) > 0;
    if (!hasRoom(workspaceId) || !hasRoom(organizationId)) {
      const per = hasRoom(workspaceId) ? 'organization' : 'workspace';
      this.refused.push({ ...trigger, per });
      return undefined;
    }
    this.#changeRoom(trigger, -1);
    const alarm = openedAlarm(newId('alarm'), trigger);
    this.#byKey.set(key, alarm.id);
    this.events.push({ change: 'OPENED', alarm, at, hops, sampleTime: trigger.sampleTime });
    return alarm;
  }

  #changeRoom(
    {
      workspaceId,
      organizationId,
    }: { readonly workspaceId: string; readonly organizationId: string },
    by: number,
  ): void {
    for (const id of [workspaceId, organizationId]) {
      const left = this.#room.get(id);
      if (left !== undefined) this.#room.set(id, left + by);
    }
  }

  #update(id: string, { at, hops, sampleTime }: AlarmTrigger): void {
    const alarm = this.#byId.get(id);
    if (alarm === undefined) return;
    const place = this.#updates.get(id) ?? this.events.length;
    this.#updates.set(id, place);
    this.events[place] = { change: 'UPDATED', alarm, at, hops, sampleTime };
  }

  #withSource(alarm: Alarm, { source, isEndless }: AlarmTrigger): Alarm {
    const isFull = alarm.sources >= alarmLimits.sourcesMax;
    const deviceId = isEndless || isFull ? endlessSource : source.deviceId;
    const row = { ...source, deviceId, alarmId: alarm.id };
    const keeping = this.#keepingOf(row);
    if (keeping.has(alarm.id)) return alarm;
    keeping.set(alarm.id, row);
    this.#added.add(row);
    return { ...alarm, sources: alarm.sources + 1 };
  }

  #endSource(effect: AlarmSourceEnd): void {
    const keeping = this.#keepingOf(effect.source);
    for (const [alarmId, row] of keeping) {
      keeping.delete(alarmId);
      if (!this.#added.delete(row)) this.removedRows.push(row);
      const alarm = this.#byId.get(alarmId);
      if (alarm === undefined || alarm.state === 'CLEARED') continue;
      const left = { ...alarm, sources: alarm.sources - 1 };
      this.#keep(left);
      if (left.sources <= 0) this.#end(left, effect, effect.reason);
    }
  }

  #endKey(effect: AlarmKeyEnd): void {
    const alarm = this.#openOf(keyOf(effect));
    if (alarm !== undefined) this.#end(alarm, effect, effect.reason);
  }

  /** Its other sources are removed with it. */
  #end(
    alarm: Alarm,
    { at, hops, sampleTime }: AlarmEffect,
    reason: NonNullable<AlarmClearing['reason']>,
  ): void {
    const cleared = clearedAlarm(alarm, { at, by: null, reason });
    this.#keep(cleared);
    this.#byKey.delete(keyOf(alarm));
    this.#updates.delete(alarm.id);
    this.#changeRoom(alarm, 1);
    const time = sampleTime ?? alarm.sampleTime?.last ?? null;
    this.events.push({ change: 'CLEARED', alarm: cleared, at, hops, sampleTime: time });
  }
}
