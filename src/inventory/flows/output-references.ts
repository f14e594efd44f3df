// References of output connectors: devices and outputs that properties name belong to the workspace (contract 9, 36).
import { findConnectorType, typesNamingConnectors } from '../../connectors/connector-table.ts';
import { namedDevices } from '../../connectors/named-devices.ts';
import type { OutputConnector } from '../../model/output-connector.ts';
import { problem } from '../../model/problem.ts';
import { workspacesOfDevices } from '../../records/rows/devices.ts';
import {
  findOpenOutputConnectors,
  findReadableConnectors,
} from '../../records/rows/output-connectors.ts';
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

/**
 * Throws `unknownReference` for an output connector that the properties name and that is not in the
 * workspace, or that opens alarms itself. Those that `stored` names are not checked again.
 */
export async function checkNamedConnectors(
  step: Step,
  connector: Connector,
  stored?: Connector,
): Promise<void> {
  const known = new Set(namedConnectors(stored).map(({ id }) => id));
  const named = namedConnectors(connector).filter(({ id }) => !known.has(id));
  const found = await findOpenOutputConnectors(step.db, [...new Set(named.map(({ id }) => id))]);
  const usable = new Set(
    found
      .filter(({ workspaceId }) => workspaceId === connector.workspaceId)
      .filter(({ type }) => type !== connector.type)
      .map(({ id }) => id),
  );
  const refused = named.find(({ id }) => !usable.has(id));
  if (refused === undefined) return;
  const { field, id } = refused;
  const what = 'output connector of another type';
  throw problem('unknownReference', { field, what, id, place: 'workspace' });
}

/** The output connectors that the properties name, with their paths in the body. */
function namedConnectors(connector: Connector | undefined) {
  if (connector === undefined || connector.properties === null) return [];
  const rules = findConnectorType(connector.type)?.properties ?? null;
  if (rules === null) return [];
  return rules.connectorIds.named(connector.properties).map(({ member, id }) => ({
    field: `body ${rules.key}.${member}`,
    id,
  }));
}

/** The connectors of the workspace that name this one, `output connector Name (id)`. */
export async function connectorsNaming(
  step: Pick<Step, 'db' | 'sealer'>,
  { id, workspaceId }: Pick<OutputConnector, 'id' | 'workspaceId'>,
  max: number,
): Promise<string[]> {
  if (workspaceId === null) return [];
  const users: string[] = [];
  for (const type of typesNamingConnectors) {
    for (const other of await findReadableConnectors(step, workspaceId, type)) {
      const isUser = namedConnectors(other).some((named) => named.id === id);
      if (isUser) users.push(`output connector ${other.name} (${other.id})`);
      if (users.length === max) return users;
    }
  }
  return users;
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
