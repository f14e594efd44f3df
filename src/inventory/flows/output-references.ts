// What an output connector refers to: the devices it writes to or commands are of its workspace (contract 9, 36).
import { type OutputConnector, propertiesKeys } from '../../model/connector.ts';
import type { Json } from '../../model/json.ts';
import { problem } from '../../model/problem.ts';
import { workspacesOfDevices } from '../../records/rows/devices.ts';
import type { Step } from '../record-change.ts';

type Connector = Pick<OutputConnector, 'type' | 'properties' | 'workspaceId'>;

/**
 * Throws 400 for the first device that is in another workspace or nowhere; both are told in the same words, so that nothing is learned
 * of other tenants. What is stored already is not asked again: a device may be gone since.
 */
export async function checkTargetDevices(
  step: Step,
  connector: Connector,
  stored?: Connector,
): Promise<void> {
  const known = new Set(stored === undefined ? [] : targetsOf(stored).map(([, id]) => id));
  const targets = targetsOf(connector).filter(([, id]) => !known.has(id));
  const ids = targets.map(([, id]) => id);
  const workspaces = await workspacesOfDevices(step.db, ids);
  for (const [field, id] of targets) {
    if (workspaces.get(id) === connector.workspaceId) continue;
    throw problem('unknownReference', {
      field: `body ${field}`,
      what: 'device',
      id,
      place: 'workspace',
    });
  }
}

function targetsOf({ type, properties }: Connector): (readonly [field: string, id: string])[] {
  if (type === 'CUSTOM_DATABASE' && properties?.['useCurrentDevice'] !== true) {
    return textsOf([properties?.['targetDeviceId']]).map((id) => [
      `${propertiesKeys[type]}.targetDeviceId`,
      id,
    ]);
  }
  if (type !== 'DOWNLINK') return [];
  const ids = properties?.['targetDeviceIds'];
  return textsOf(Array.isArray(ids) ? ids : []).map((id, i) => [
    `${propertiesKeys[type]}.targetDeviceIds.${i}`,
    id,
  ]);
}

function textsOf(values: readonly (Json | undefined)[]): string[] {
  return values.filter((value) => typeof value === 'string');
}

/** Throws 400 for a downlink that no rule can send. What is stored without a payload may stay so. */
export function checkDownlink(connector: DownlinkConnector, stored?: DownlinkConnector): void {
  if (connector.type !== 'DOWNLINK') return;
  if (connector.scope !== 'RULE_ACTION') {
    throw problem('invalidRequest', {
      reason: 'body scope: an output connector of type DOWNLINK is a RULE_ACTION',
    });
  }
  if (hasPayload(connector) || (stored !== undefined && !hasPayload(stored))) return;
  const reason =
    'body downlinkProperties.downlinkPayload: is needed, or raw and rawDownlinkPayload, or useCustomPayload and customPayload';
  throw problem('invalidRequest', { reason });
}

type DownlinkConnector = Pick<
  OutputConnector,
  'type' | 'scope' | 'properties' | 'useCustomPayload' | 'customPayload'
>;

function hasPayload({ properties, useCustomPayload, customPayload }: DownlinkConnector): boolean {
  const { raw, downlinkPayload } = properties ?? {};
  // The raw payload of a raw downlink is checked with its properties.
  return raw === true || Boolean(downlinkPayload) || (useCustomPayload && Boolean(customPayload));
}
