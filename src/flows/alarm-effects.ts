// Alarm effects: what rules do to alarms, written in the transaction of the rules' state (contract 37).
import {
  type AlarmEffect,
  type AlarmEvent,
  alarmLimits,
  type AlarmSource,
  type AlarmTrigger,
  endlessSource,
} from '../model/alarm.ts';
import { newId } from '../model/ids.ts';
import type { ProcessingLogEntry } from '../model/processing-note.ts';
import type { RecordsDb } from '../records/records.ts';
import {
  type AlarmSourceRow,
  findAlarmSources,
  insertAlarmSources,
  removeAlarmSources,
  removeSourcesOfAlarms,
} from '../records/rows/alarm-parts.ts';
import { countOpenAlarms, findAlarms, findOpenAlarms, saveAlarms } from '../records/rows/alarms.ts';
import { type AlarmLedger, createAlarmLedger } from './alarm-ledger.ts';
import {
  type AlarmNotificationParts,
  notifyOfAlarms,
  type ShownAlarmEvent,
} from './alarm-notifications.ts';

export interface AppliedAlarms {
  /** Of triggers that opened no alarm, for the processing log. */
  readonly notes: readonly ProcessingLogEntry[];
  /** Call it after the commit. */
  readonly committed: () => void;
}

/** Applies effects in their order, within the transaction of the caller. */
export type ApplyAlarms = (
  step: RecordsDb,
  effects: readonly AlarmEffect[],
) => Promise<AppliedAlarms>;

export interface AlarmEffectParts extends AlarmNotificationParts {
  /** Called with what is durable, in order. */
  readonly changed: (
    events: readonly AlarmEvent[],
    shown: readonly ShownAlarmEvent[],
    refused: number,
  ) => void;
}

const nothing: AppliedAlarms = { notes: [], committed: () => undefined };

export function createApplyAlarms(parts: AlarmEffectParts): ApplyAlarms {
  return async (step, effects) => {
    if (effects.length === 0) return nothing;
    const ledger = await openLedger(step, effects);
    for (const effect of effects) ledger.apply(effect);
    await saveLedger(step, ledger);
    const { events, refused } = ledger;
    const shown = await notifyOfAlarms(parts, step, events);
    return {
      notes: refusalNotes(refused),
      committed: () => parts.changed(events, shown, refused.length),
    };
  };
}

async function openLedger(step: RecordsDb, effects: readonly AlarmEffect[]): Promise<AlarmLedger> {
  const keys = new Map<string, { readonly workspaceId: string; readonly key: string }>();
  const sources = new Map<string, AlarmSource>();
  for (const effect of effects) {
    const { workspaceId } = effect;
    if ('key' in effect)
      keys.set(`${workspaceId}\n${effect.key}`, { workspaceId, key: effect.key });
    if ('source' in effect)
      for (const source of sourcesOf(effect))
        sources.set(`${source.ruleId}\n${source.connectorId}\n${source.deviceId}`, source);
  }
  const open = await findOpenAlarms(step, [...keys.values()]);
  const rows = await findAlarmSources(step, [...sources.values()]);
  const alarms = [...open, ...(await alarmsOfRows(step, rows, new Set(open.map(({ id }) => id))))];
  const known = new Set(alarms.map(({ workspaceId, key }) => `${workspaceId}\n${key}`));
  const opening = new Set<string>();
  for (const [id, { workspaceId }] of keys) if (!known.has(id)) opening.add(workspaceId);
  const room = new Map<string, number>();
  for (const id of opening)
    room.set(id, alarmLimits.openPerWorkspaceMax - (await countOpenAlarms(step, id)));
  return createAlarmLedger({ alarms, rows, room, newId: () => newId('alarm') });
}

function sourcesOf(effect: Extract<AlarmEffect, { source: AlarmSource }>): AlarmSource[] {
  const { source } = effect;
  if (effect.kind === 'SOURCE_ENDED') return [source];
  return [source, { ...source, deviceId: endlessSource }];
}

async function alarmsOfRows(
  step: RecordsDb,
  rows: readonly AlarmSourceRow[],
  known: ReadonlySet<string>,
) {
  const ids = new Set(rows.map(({ alarmId }) => alarmId).filter((id) => !known.has(id)));
  return findAlarms(step, [...ids]);
}

async function saveLedger(step: RecordsDb, ledger: AlarmLedger): Promise<void> {
  const changed = ledger.changed();
  await saveAlarms(step, changed);
  await removeAlarmSources(step, ledger.removedRows);
  const cleared = changed.filter(({ state }) => state === 'CLEARED');
  await removeSourcesOfAlarms(
    step,
    cleared.map(({ id }) => id),
  );
  await insertAlarmSources(step, ledger.addedRows());
}

/** One for each rule of the batch. */
function refusalNotes(refused: readonly AlarmTrigger[]): ProcessingLogEntry[] {
  const notes = new Map<string, ProcessingLogEntry>();
  for (const { source, ruleName, at, correlationId } of refused) {
    const { ruleId, deviceId } = source;
    if (deviceId === '' || notes.has(ruleId)) continue;
    notes.set(ruleId, {
      id: `alarm-refused-${ruleId}-${deviceId}-${at}`,
      deviceId,
      timestamp: at,
      correlationId,
      level: 'ERROR',
      source: 'RULE',
      message: `Rule ${ruleName}: no alarm was opened, because the workspace has ${alarmLimits.openPerWorkspaceMax} alarms that are not cleared`,
      details: { ruleId, outputConnectorId: source.connectorId },
    });
  }
  return [...notes.values()];
}
