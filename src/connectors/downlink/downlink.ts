// Downlink: a command to devices, as the action of a rule (contract 9, 17).
import { problem } from '../../model/problem.ts';
import { type ConnectorRecord, connectorType } from '../connector-type.ts';
import { downlinkProperties, parseDownlink } from './downlink-properties.ts';
import { createDownlinkTarget } from './downlink-target.ts';

export const downlink = connectorType({
  vendorName: 'DOWNLINK',
  propertiesKey: 'downlinkProperties',
  properties: downlinkProperties,
  secrets: [],
  alsoNeeded: ({ downlinkType, raw }) => [
    ...(downlinkType === 'MQTT' ? (['topic'] as const) : []),
    ...(raw === true ? (['rawDownlinkPayload'] as const) : []),
  ],
  deviceIds: ['targetDeviceIds'],
  defaultScope: 'RULE_ACTION',
  parse: parseDownlink,
  check: () => {},
  checkRecord,
  open: (properties, { orderDownlink }, { hasCustomPayload }) =>
    createDownlinkTarget({ ...properties, hasCustomPayload }, orderDownlink),
});

/**
 * Throws 400 for a downlink that no rule can send. A record that is stored without a payload can
 * stay so.
 */
function checkRecord(record: ConnectorRecord, stored: ConnectorRecord | undefined): void {
  if (record.scope !== 'RULE_ACTION') {
    throw problem('invalidRequest', {
      reason: 'body scope: must be RULE_ACTION for type DOWNLINK',
    });
  }
  if (hasPayload(record) || (stored !== undefined && !hasPayload(stored))) return;
  const reason =
    'body downlinkProperties.downlinkPayload: is required unless rawDownlinkPayload (with raw) or customPayload (with useCustomPayload) is set';
  throw problem('invalidRequest', { reason });
}

function hasPayload({ properties, useCustomPayload, customPayload }: ConnectorRecord): boolean {
  const { raw, downlinkPayload } = properties ?? {};
  // `parse` has checked the raw payload of a raw downlink.
  return raw === true || Boolean(downlinkPayload) || (useCustomPayload && Boolean(customPayload));
}
