// Device connectors: create, read, list, update, delete (contract 8).
import { randomBytes } from 'node:crypto';
import type { Connectivity, ConnectorAuthType, DeviceConnector } from '../../model/connector.ts';
import type { DecodingType } from '../../model/integration.ts';
import { type Page, type PageRequest, pageOf } from '../../model/page.ts';
import { holds, type Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import { dataFlowsUsing } from '../../records/rows/data-flows.ts';
import type { Records } from '../../records/records.ts';
import {
  findDeviceConnector,
  insertDeviceConnector,
  listDeviceConnectors as listRows,
  removeDeviceConnector,
  saveDeviceConnector,
} from '../../records/rows/device-connectors.ts';
import { createCrud, placeIn } from '../record-crud.ts';
import { auditView, type RecordUpdate, usersNamedMax } from '../record-change.ts';
import { type ListScope, listReach } from '../list-scope.ts';
import {
  lineProtocolFrom,
  type LineProtocolDraft,
  sparkplugFrom,
  type SparkplugDraft,
} from './connector-mappings.ts';

const crud = createCrud<DeviceConnector>({
  kind: 'deviceConnector',
  noun: 'device connector',
  find: findDeviceConnector,
  insert: insertDeviceConnector,
  save: saveDeviceConnector,
  remove: ({ db }, id) => removeDeviceConnector(db, id),
});

const uplinkSecretBytes = 16;

/** A new uplink secret: long and random, so that it cannot be guessed. */
export function newUplinkSecret(): string {
  return randomBytes(uplinkSecretBytes).toString('hex');
}

export interface DeviceConnectorUpdate extends RecordUpdate {
  readonly pushConfigurationAutomatically?: boolean | null | undefined;
  readonly lineProtocol?: LineProtocolDraft | null | undefined;
  readonly sparkplug?: SparkplugDraft | null | undefined;
}

export interface DeviceConnectorDraft extends DeviceConnectorUpdate {
  readonly workspaceId: string;
  readonly name: string;
  readonly connectivity: Connectivity;
  readonly authType?: ConnectorAuthType | null | undefined;
  readonly decodingType?: DecodingType | null | undefined;
}

/** Uplink secrets are shown to those who may change data flows (contract 35). */
function seesUplinkSecrets(principal: Principal, workspaceId: string): boolean {
  return holds(principal, 'dataFlow', 'update', workspaceId);
}

/** The whole record; also nested in data flows. */
export function deviceConnectorView(record: DeviceConnector, principal: Principal) {
  const { organizationId: _, ...connector } = record;
  return {
    ...connector,
    ...auditView(record),
    readOnly: false,
    global: false,
    integrationDeleted: false,
    uplinkSecret: seesUplinkSecrets(principal, record.workspaceId) ? record.uplinkSecret : null,
    yanziProperties: null,
    spacetiProperties: null,
  };
}

export async function createDeviceConnector(
  records: Records,
  principal: Principal,
  draft: DeviceConnectorDraft,
) {
  if (draft.connectivity === 'LORA') {
    throw problem('invalidRequest', {
      reason: 'body connectivity: LORA connectors are created by integrations',
    });
  }
  const authType = draft.authType ?? 'BASIC';
  if (authType === 'DEVICE_CREDENTIALS' && draft.connectivity === 'HTTP') {
    throw problem('invalidRequest', {
      reason: 'body authType: DEVICE_CREDENTIALS requires MQTT; use BASIC for HTTP',
    });
  }
  const { connectivity, workspaceId } = draft;
  const decodingType = draft.decodingType ?? 'NONE';
  const receiver = { connectivity, decodingType, workspaceId, authType };
  const record = await crud.create(records, async (step, fields) => ({
    ...fields,
    ...(await placeIn(step, workspaceId)),
    name: draft.name,
    description: draft.description ?? null,
    connectivity,
    authType,
    uplinkSecret: authType === 'BASIC' ? newUplinkSecret() : null,
    decodingType,
    lineProtocol: lineProtocolFrom(draft.lineProtocol ?? null, receiver, principal),
    sparkplug: sparkplugFrom(draft.sparkplug ?? null, receiver, principal),
    pushConfigurationAutomatically: draft.pushConfigurationAutomatically ?? false,
    integrationId: null,
    carrier: null,
    provider: null,
  }));
  return deviceConnectorView(record, principal);
}

export async function readDeviceConnector(records: Records, principal: Principal, id: string) {
  return deviceConnectorView(await crud.read(records, id), principal);
}

export async function listDeviceConnectors(
  records: Records,
  principal: Principal,
  filter: ListScope & { readonly search?: string | undefined },
  page: PageRequest,
): Promise<Page<ReturnType<typeof deviceConnectorView>>> {
  const reach = await listReach(records, principal, filter);
  const { rows, total } = await listRows(records, { ...reach, search: filter.search }, page);
  return pageOf(
    rows.map((row) => deviceConnectorView(row, principal)),
    total,
    page,
  );
}

/** Connectivity, authentication and decoding cannot be changed. */
export async function updateDeviceConnector(
  records: Records,
  principal: Principal,
  id: string,
  sent: DeviceConnectorUpdate,
) {
  const saved = await crud.update(records, id, sent, (current) => ({
    pushConfigurationAutomatically:
      sent.pushConfigurationAutomatically ?? current.pushConfigurationAutomatically,
    ...(sent.lineProtocol !== undefined && {
      lineProtocol: lineProtocolFrom(sent.lineProtocol, current, principal),
    }),
    ...(sent.sparkplug !== undefined && {
      sparkplug: sparkplugFrom(sent.sparkplug, current, principal),
    }),
  }));
  return deviceConnectorView(saved, principal);
}

/**
 * The connector of an integration is deleted with the integration, which receives webhooks through
 * it.
 */
export async function deleteDeviceConnector(records: Records, id: string): Promise<void> {
  await crud.remove(records, id, async (step) => {
    const { integrationId } = await crud.read(step, id);
    if (integrationId !== null) return [`integration ${integrationId}`];
    return dataFlowsUsing(step.db, { deviceConnectorId: id }, usersNamedMax);
  });
}
