// References of output connectors: the devices that the properties name belong to the workspace (contract 9, 36).
import { findConnectorType } from '../../connectors/connector-table.ts';
import { namedDevices } from '../../connectors/named-devices.ts';
import type { OutputConnector } from '../../model/output-connector.ts';
import { problem } from '../../model/problem.ts';
import { workspacesOfDevices } from '../../records/rows/devices.ts';
import type { Step } from '../record-change.ts';

type Connector = Pick<OutputConnector, 'type' | 'properties' | 'workspaceId'>;

/**
 * Throws `unknownReference` for the first device that does not exist or is in another workspace.
 * The two cases have the same message, so that a caller learns nothing about other tenants. Devices
 * that `stored` names are not checked, because one of them may have been deleted since.
 */
export async function checkTargetDevices(
  step: Step,
  connector: Connector,
  stored?: Connector,
): Promise<void> {
  const known = new Set(usedDevices(stored).map(({ deviceId }) => deviceId));
  const devices = usedDevices(connector).filter(({ deviceId }) => !known.has(deviceId));
  const ids = devices.map(({ deviceId }) => deviceId);
  const workspaces = await workspacesOfDevices(step.db, ids);
  for (const { field, deviceId: id } of devices) {
    if (workspaces.get(id) === connector.workspaceId) continue;
    throw problem('unknownReference', { field, what: 'device', id, place: 'workspace' });
  }
}

/** The devices that the target uses, with their paths in the body. */
function usedDevices(connector: Connector | undefined) {
  if (connector === undefined || connector.properties === null) return [];
  const rules = findConnectorType(connector.type)?.properties ?? null;
  if (rules === null || !rules.usesDevices(connector.properties)) return [];
  return namedDevices(rules, connector.properties).map(({ member, deviceId }) => ({
    field: `body ${rules.key}.${member}`,
    deviceId,
  }));
}
