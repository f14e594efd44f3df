// Alarm effects: what rules do to alarms, written in the transaction of the rules' state (contract 37).
import {
  type Alarm,
  type AlarmEffect,
  type AlarmEvent,
  alarmLimits,
  type AlarmSource,
  type AlarmTrigger,
  endlessSource,
} from '../model/alarm.ts';
import { newId } from '../model/ids.ts';
import type { ProcessingLogEntry } from '../model/entry-trace.ts';
import { standardQuotas } from '../model/quota.ts';
import type { RecordsDb } from '../storage/records/records.ts';
import {
  type AlarmSourceRow,
  countOpenAlarms,
  findAlarms,
  findAlarmSourceRows,
  findAlarmSources,
  findOpenAlarms,
  insertAlarmSources,
  removeAlarmSources,
  saveAlarms,
} from '../storage/records/rows/alarms.ts';
import { recordCount } from '../storage/records/rows/organizations.ts';
import type { TransactionStep } from '../storage/records/transaction.ts';
import { AlarmLedger, type RefusedTrigger } from './alarm-batch.ts';
import {
  type AlarmNotificationParts,
  notifyOfAlarms,
  type ShownAlarmEvent,
} from './alarm-notifications.ts';

/**
 * Applies effects in their order, within the transaction of the caller. Resolves to notes of the
 * triggers that opened no alarm, for the processing log.
 */
export type ApplyAlarms = (
  step: TransactionStep,
  effects: readonly AlarmEffect[],
) => Promise<readonly ProcessingLogEntry[]>;

export interface AlarmEffectParts extends AlarmNotificationParts {
  /** Called with what is durable, in order. */
  readonly changed: (
    events: readonly AlarmEvent[],
    shown: readonly ShownAlarmEvent[],
    refused: number,
  ) => void;
}

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
  const keys = new Map<string, Pick<AlarmTrigger, 'workspaceId' | 'organizationId' | 'key'>>();
  const ending = new Map<string, AlarmSource>();
  for (const effect of effects) {
    const { workspaceId, organizationId } = effect;
    if ('key' in effect) keys.set(keyOf(effect), { workspaceId, organizationId, key: effect.key });
    else ending.set(Object.values(effect.source).join('\n'), effect.source);
  }
  const open = await findOpenAlarms(step, [...keys.values()]);
  const ended = await findAlarmSources(step, [...ending.values()]);
  const rows = [...ended, ...(await rowsOfTriggers(step, effects, open))];
  const alarms = [...open, ...(await alarmsOfRows(step, ended, new Set(open.map(({ id }) => id))))];
  const known = new Set(alarms.map(keyOf));
  const opening = [...keys].filter(([id]) => !known.has(id)).map(([, place]) => place);
  const room = new Map<string, number>();
  for (const id of new Set(opening.map(({ workspaceId }) => workspaceId)))
    room.set(id, alarmLimits.openPerWorkspaceMax - (await countOpenAlarms(step, id)));
  for (const id of new Set(opening.map(({ organizationId }) => organizationId)))
    room.set(id, openAlarmsMax - (await recordCount(step, id, 'openAlarms')));
  return new AlarmLedger({ alarms, rows, room, newId: () => newId('alarm') });
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
  return findAlarmSourceRows(step, [...wanted.values()]);
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
  await saveAlarms(step, ledger.changed());
  await removeAlarmSources(step, ledger.removedRows);
  await insertAlarmSources(step, ledger.addedRows());
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
