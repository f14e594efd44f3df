// Alarm sources in memory: which rules keep alarms open for which devices, so that other runs read no records.
import type { AlarmSource } from '../../model/alarm.ts';

/**
 * May contain more than the records, because people and time clear alarms too: an end that finds no
 * alarm changes nothing. Never contains less.
 */
export interface AlarmSources {
  hasAny(ruleId: string, deviceId: string): boolean;
  has(source: AlarmSource): boolean;
  add(source: AlarmSource): void;
  remove(source: AlarmSource): void;
  forget(ruleId: string): void;
  clear(): void;
}

export function createAlarmSources(): AlarmSources {
  const rules = new Map<string, Map<string, Set<string>>>();

  function remove({ ruleId, deviceId, connectorId }: AlarmSource): void {
    const devices = rules.get(ruleId);
    const connectors = devices?.get(deviceId);
    if (devices === undefined || connectors === undefined) return;
    connectors.delete(connectorId);
    if (connectors.size === 0) devices.delete(deviceId);
    if (devices.size === 0) rules.delete(ruleId);
  }

  return {
    hasAny: (ruleId, deviceId) => rules.get(ruleId)?.has(deviceId) === true,
    has: ({ ruleId, deviceId, connectorId }) =>
      rules.get(ruleId)?.get(deviceId)?.has(connectorId) === true,
    add({ ruleId, deviceId, connectorId }) {
      const devices = rules.get(ruleId) ?? new Map<string, Set<string>>();
      rules.set(ruleId, devices);
      const connectors = devices.get(deviceId) ?? new Set<string>();
      devices.set(deviceId, connectors);
      connectors.add(connectorId);
    },
    remove,
    forget: (ruleId) => void rules.delete(ruleId),
    clear: () => rules.clear(),
  };
}
