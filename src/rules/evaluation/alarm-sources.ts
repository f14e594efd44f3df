// Alarm sources in memory: which rules keep alarms open for which devices, so that other runs read no records.
import type { AlarmSource } from '../../model/alarm.ts';

/**
 * May contain more than the records, because people and time clear alarms too: an end that finds
 * no alarm changes nothing. Never contains less.
 */
export class AlarmSources {
  readonly #rules = new Map<string, Map<string, Set<string>>>();

  hasAny(ruleId: string, deviceId: string): boolean {
    return this.#rules.get(ruleId)?.has(deviceId) === true;
  }

  has({ ruleId, deviceId, connectorId }: AlarmSource): boolean {
    return this.#rules.get(ruleId)?.get(deviceId)?.has(connectorId) === true;
  }

  add({ ruleId, deviceId, connectorId }: AlarmSource): void {
    const devices = this.#rules.get(ruleId) ?? new Map<string, Set<string>>();
    this.#rules.set(ruleId, devices);
    const connectors = devices.get(deviceId) ?? new Set<string>();
    devices.set(deviceId, connectors);
    connectors.add(connectorId);
  }

  remove({ ruleId, deviceId, connectorId }: AlarmSource): void {
    const devices = this.#rules.get(ruleId);
    const connectors = devices?.get(deviceId);
    if (devices === undefined || connectors === undefined) return;
    connectors.delete(connectorId);
    if (connectors.size === 0) devices.delete(deviceId);
    if (devices.size === 0) this.#rules.delete(ruleId);
  }

  forget(ruleId: string): void {
    this.#rules.delete(ruleId);
  }

  clear(): void {
    this.#rules.clear();
  }
}
