// Alarm memory: who clears an alarm by hand makes its rules forget that they were true, so that it can open again (contract 42).
import type { Step } from '../inventory/record-change.ts';
import { type AlarmEvent, endlessSource } from '../model/alarm.ts';
import type { Rule } from '../model/rule.ts';
import { sourcesOfAlarms } from '../records/rows/alarm-parts.ts';
import { findConditionStates, saveConditionStates } from '../records/rows/rule-state.ts';
import { findActiveRules } from '../records/rows/rules.ts';

/** Call it before the alarms lose their sources, in the transaction of the change. */
export async function forgetThatRulesWereTrue(
  step: Step,
  events: readonly AlarmEvent[],
): Promise<void> {
  const { db } = step;
  const cleared = events.filter(({ change }) => change === 'CLEARED').map(({ alarm }) => alarm);
  if (cleared.length === 0) return;
  const deviceOf = new Map(cleared.map(({ id, device }) => [id, device?.id ?? '']));
  const sources = await sourcesOfAlarms(db, [...deviceOf.keys()]);
  const wanted = sources.map(({ alarmId, ruleId, connectorId, deviceId }) => ({
    ...{ ruleId, connectorId },
    deviceId: deviceId === endlessSource ? (deviceOf.get(alarmId) ?? '') : deviceId,
  }));
  const { rules } = await findActiveRules(db, [...new Set(wanted.map(({ ruleId }) => ruleId))]);
  const ruleOf = new Map(rules.map((rule) => [rule.id, rule]));
  const states = new Map(
    (await findConditionStates(db, wanted)).map((state) => [
      `${state.ruleId} ${state.deviceId}`,
      state,
    ]),
  );
  for (const { ruleId, connectorId, deviceId } of wanted) {
    const name = `${ruleId} ${deviceId}`;
    const rule = ruleOf.get(ruleId);
    if (rule === undefined) continue;
    const { activation } = rule;
    const state = states.get(name) ?? { ruleId, deviceId, activation, holds: '' };
    states.set(name, { ...state, holds: withoutOutput(state.holds, rule, connectorId) });
  }
  await saveConditionStates(db, [...states.values()]);
  for (const { ruleId, deviceId } of states.values())
    step.announce({ kind: 'conditionState', id: deviceId || ruleId, action: 'updated' });
}

/** Comparisons have a state of each logic block, scripts one, geofences whether it was inside. */
function withoutOutput(holds: string, { logic }: Rule, connectorId: string): string {
  if (logic.type === 'GEO_FENCE')
    return String(
      Number(logic.geoFenceLogicBlock?.outsideActionIds.includes(connectorId) === true),
    );
  if (logic.type === 'CUSTOM_LOGIC') return '0';
  const blocks = logic.logicBlocks ?? [];
  return holds
    .split('')
    .map((holdsThen, i) => (blocks[i]?.actionIds.includes(connectorId) ? '0' : holdsThen))
    .join('');
}
