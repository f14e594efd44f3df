// Devices in answers, many at a time: flows, tags and metrics are read once for all of them (contract 4).
import type { DeviceConnector } from '../../model/connector.ts';
import type { CustomFieldValue } from '../../model/custom-field.ts';
import type { DataFlow } from '../../model/data-flow.ts';
import { type Device, isRegistered, onlineStateOf } from '../../model/device.ts';
import { carriers, type Integration, vendorIntegrationTypes } from '../../model/integration.ts';
import { holds, type Principal } from '../../model/principal.ts';
import type { Tag } from '../../model/tag.ts';
import type { DeviceMetrics } from '../../model/uplink-metrics.ts';
import { customFieldsOfDevices } from '../../records/rows/custom-fields.ts';
import { findDataFlows } from '../../records/rows/data-flows.ts';
import type { Records } from '../../records/records.ts';
import { findDeviceConnectors } from '../../records/rows/device-connectors.ts';
import { findUplinkMetrics } from '../../records/rows/device-status.ts';
import { findDeviceTypeNames } from '../../records/rows/device-types.ts';
import { findIntegrations } from '../../records/rows/integrations.ts';
import { tagsOfDevices } from '../../records/rows/tags.ts';
import { auditView } from '../record-change.ts';
import { customFieldValueView } from './custom-field-values.ts';
import { nestedIntegration } from '../flows/integrations.ts';
import { fieldView } from './device-field-values.ts';
import { loraPropertiesView } from './lora-properties.ts';
import { uplinkMetricsView } from './uplink-metrics-view.ts';

/** The records that an answer shows beside the device. */
interface DeviceContext {
  readonly flow: DataFlow | undefined;
  readonly connector: DeviceConnector | undefined;
  readonly type:
    | { readonly id: string; readonly name: string; readonly pictureUrl: string | null }
    | undefined;
  readonly integration: Integration | undefined;
  readonly tags: readonly Tag[];
  readonly customFields: readonly CustomFieldValue[];
  readonly metrics: DeviceMetrics | undefined;
}

/** The devices in full, in their order; `now` decides who is online. */
export async function deviceViews(
  records: Records,
  principal: Principal,
  devices: readonly Device[],
) {
  const ids = devices.map((device) => device.id);
  const flows = await findDataFlows(records.db, [
    ...new Set(devices.map((device) => device.dataFlowId)),
  ]);
  const flowList = [...flows.values()];
  const connectors = await findDeviceConnectors(records, [
    ...new Set(flowList.map((flow) => flow.deviceConnectorId)),
  ]);
  const typeIds = [...new Set(flowList.flatMap((flow) => flow.deviceTypeId ?? []))];
  const types = await findDeviceTypeNames(records.db, typeIds);
  const integrations = await findIntegrations(records, [
    ...new Set(devices.flatMap((device) => device.integrationId ?? [])),
  ]);
  const tags = await tagsOfDevices(records.db, ids);
  const customFields = await customFieldsOfDevices(records.db, ids);
  const metrics = await findUplinkMetrics(records.db, ids);
  return devices.map((device) => {
    const flow = flows.get(device.dataFlowId);
    const context: DeviceContext = {
      flow,
      connector: connectors.get(flow?.deviceConnectorId ?? ''),
      type: types.get(flow?.deviceTypeId ?? ''),
      integration: integrations.get(device.integrationId ?? ''),
      tags: tags.get(device.id) ?? [],
      customFields: customFields.get(device.id) ?? [],
      metrics: metrics.get(device.id),
    };
    return view(
      device,
      context,
      holds(principal, 'asset', 'update', device.workspaceId),
      records.now(),
    );
  });
}

/**
 * As clients of old read it: they refuse a device with a carrier or a type of integration that they
 * do not know, and the list that holds it, so that what has one is null (contract 42).
 */
export function vendorDevice<V extends Awaited<ReturnType<typeof deviceViews>>[number]>(
  device: V,
): V {
  const { loraProperties, integration } = device;
  const isKnown = (carriers as readonly unknown[]).includes(loraProperties?.['carrier']);
  const isType = (vendorIntegrationTypes as readonly unknown[]).includes(integration?.type);
  return {
    ...device,
    loraProperties: isKnown ? loraProperties : null,
    integration: isType ? integration : null,
  };
}

function view(device: Device, context: DeviceContext, keysShown: boolean, now: number) {
  return {
    id: device.id,
    ...fieldView(device),
    type: 'DEVICE' as const,
    workspaceId: device.workspaceId,
    organizationId: device.organizationId,
    ...onlineStateOf(device.registered, context.metrics ?? null, device.onlineTimeoutSeconds, now),
    registered: isRegistered(device, context.metrics ?? null),
    // Not in the contract, so it is present only for LoRa devices.
    ...(device.active !== null && { active: device.active }),
    dataFlowId: device.dataFlowId,
    dataFlow: flowView(context),
    integration: (context.integration && nestedIntegration(context.integration)) ?? null,
    integrationId: device.integrationId,
    customFields: context.customFields.map(customFieldValueView),
    tags: context.tags.map(({ id, name, description }) => ({ id, name, description })),
    uplinkMetrics: uplinkMetricsView(context.metrics),
    loraProperties: loraPropertiesView(device, context.connector?.carrier ?? null, keysShown),
    ...auditView(device),
  };
}

function flowView({ flow, connector, type }: DeviceContext) {
  if (flow === undefined || connector === undefined)
    throw new Error('The data flow of a device is missing');
  const { id, name, workspaceId, organizationId } = flow;
  const { authType, decodingType } = connector;
  return {
    id,
    name,
    deviceType: type ?? null,
    deviceConnector: { id: connector.id, name: connector.name, authType, decodingType },
    workspaceId,
    organizationId,
  };
}
