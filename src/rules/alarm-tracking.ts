// Alarm tracking: which alarms an evaluated rule opens, keeps open or ends for a device (contract 37).
import type { AlarmOutput } from './alarm-outputs.ts';
import type { AlarmSources } from './alarm-sources.ts';
import type { CompiledRule } from './compiled-rule.ts';
import type { Verdict } from './firing.ts';

/**
 * Keeps in memory what the verdict does to alarms. Returns the outputs whose alarms it ends: they
 * keep one open for the device, and the rule is not true any longer. A condition without a value
 * ends nothing.
 */
export function trackAlarms(
  compiled: CompiledRule,
  verdict: Verdict,
  deviceId: string,
  sources: AlarmSources,
): readonly string[] {
  const { rule, alarms } = compiled;
  if (alarms.size === 0) return none;
  let ended: string[] | undefined;
  if (sources.hasAny(rule.id, deviceId)) {
    for (const [connectorId, output] of alarms) {
      const source = { ruleId: rule.id, connectorId, deviceId };
      if (!sources.has(source) || !isOver(compiled, output, connectorId, verdict)) continue;
      sources.remove(source);
      (ended ??= []).push(connectorId);
    }
  }
  for (const { actionId } of verdict.firings)
    if (alarms.has(actionId)) sources.add({ ruleId: rule.id, connectorId: actionId, deviceId });
  return ended ?? none;
}

const none: readonly string[] = [];

function isOver(
  { logic }: CompiledRule,
  output: AlarmOutput,
  connectorId: string,
  verdict: Verdict,
): boolean {
  if (output.properties.clearWhen === 'NEVER') return false;
  if (logic.type === 'GEO_FENCE') return isOutsideFence(logic, connectorId, verdict);
  return areBlocksFalse(output, verdict);
}

function areBlocksFalse({ blocks }: AlarmOutput, { holds, missing }: Verdict): boolean {
  return blocks.every(
    (block) =>
      holds[block] !== '1' && !missing.some((one) => one.startsWith(`logic block ${block + 1},`)),
  );
}

function isOutsideFence(
  logic: Extract<CompiledRule['logic'], { readonly type: 'GEO_FENCE' }>,
  connectorId: string,
  { holds, missing }: Verdict,
): boolean {
  if (missing.length > 0) return false;
  const { insideActionIds, outsideActionIds } = logic;
  const isTrue = holds === '1' ? insideActionIds : outsideActionIds;
  return !isTrue.includes(connectorId);
}
