// Devices: create, read, update, delete, for requests (contract 4).
import type { DeviceDraft, DeviceUpdate } from '../../contract/devices.ts';
import { type Device, isRegistered, onlineStateOf } from '../../model/device.ts';
import { holds, type Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import type { Records } from '../../storage/records/records.ts';
import { deviceRows } from '../../storage/records/rows/devices.ts';
import { auditView, change, found } from '../record-change.ts';
import { changeDevice } from './device-batch.ts';
import type { DataFlow, DeviceConnector } from '../../model/connector.ts';
import type { CustomFieldValue } from '../../model/device-fields.ts';
import { formatInstant } from '../../model/instant.ts';
import { carriers, type Integration, vendorIntegrationTypes } from '../../model/integration.ts';
import type { PathStep } from '../../model/place.ts';
import type { Tag } from '../../model/tag.ts';
import { batteryPercents, type DeviceMetrics } from '../../model/uplink-metrics.ts';
import { customFieldRows } from '../../storage/records/rows/custom-fields.ts';
import {
  dataFlowRows,
  deviceConnectorRows,
  integrationRows,
} from '../../storage/records/rows/data-flows.ts';
import { findUplinkMetrics } from '../../storage/records/rows/device-status.ts';
import { deviceTypeRows } from '../../storage/records/rows/device-types.ts';
import { placeRows } from '../../storage/records/rows/places.ts';
import { tagRows } from '../../storage/records/rows/tags.ts';
import { nestedIntegration } from '../data-flows/integrations.ts';
import { customFieldValueView, fieldView, loraPropertiesView } from './device-field-values.ts';

export async function createDevice(records: Records, principal: Principal, draft: DeviceDraft) {
  const record = await change(records, (step) => changeDevice(step, { work: 'create', draft }));
  return one(records, principal, record);
}

async function one(records: Records, principal: Principal, device: Device) {
  const [view] = await deviceViews(records, principal, [device]);
  if (view === undefined) throw new Error('A device has no view');
  return view;
}

export async function readDevice(records: Records, principal: Principal, id: string) {
  return one(records, principal, found(await deviceRows.find(records, id), 'device', id));
}

/** By the physical id; 404 in another organization, 403 in another workspace. */
export async function readDeviceByDeviceId(
  records: Records,
  principal: Principal,
  deviceId: string,
) {
  const device = found(
    await deviceRows.byDeviceId(records, principal.organizationId, deviceId),
    'device',
    deviceId,
  );
  if (principal.workspaces !== 'all' && !principal.workspaces.has(device.workspaceId))
    throw problem('permissionDenied');
  return one(records, principal, device);
}

export async function updateDevice(
  records: Records,
  principal: Principal,
  id: string,
  sent: DeviceUpdate,
) {
  const saved = await change(records, (step) => changeDevice(step, { work: 'update', id, sent }));
  return one(records, principal, saved);
}

/** What it stored is dropped afterwards. */
export async function deleteDevice(records: Records, id: string): Promise<void> {
  await change(records, (step) => changeDevice(step, { work: 'delete', id }));
}

// Devices in answers, many at a time: flows, tags and metrics are read once for all of them (contract 4).

/** The records that an answer shows beside the device. */
interface DeviceContext {
  readonly flow: DataFlow | undefined;
  readonly connector: DeviceConnector | undefined;
  readonly type:
    | { readonly id: string; readonly name: string; readonly pictureUrl: string | null }
    | undefined;
  readonly integration: Integration | undefined;
  readonly tags: readonly Tag[];
  /** From the top of the tree. */
  readonly path: readonly PathStep[] | undefined;
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
  const flows = await dataFlowRows.byId(records.db, [
    ...new Set(devices.map((device) => device.dataFlowId)),
  ]);
  const flowList = [...flows.values()];
  const connectors = await deviceConnectorRows.byId(records, [
    ...new Set(flowList.map((flow) => flow.deviceConnectorId)),
  ]);
  const typeIds = [...new Set(flowList.flatMap((flow) => flow.deviceTypeId ?? []))];
  const types = await deviceTypeRows.namesOf(records.db, typeIds);
  const integrations = await integrationRows.byId(records, [
    ...new Set(devices.flatMap((device) => device.integrationId ?? [])),
  ]);
  const tags = await tagRows.ofDevices(records.db, ids);
  const paths = await placeRows.pathsOf(records.db, [
    ...new Set(devices.flatMap((device) => device.placeId ?? [])),
  ]);
  const customFields = await customFieldRows.ofDevices(records.db, ids);
  const metrics = await findUplinkMetrics(records.db, ids);
  return devices.map((device) => {
    const flow = flows.get(device.dataFlowId);
    const context: DeviceContext = {
      flow,
      connector: connectors.get(flow?.deviceConnectorId ?? ''),
      type: types.get(flow?.deviceTypeId ?? ''),
      integration: integrations.get(device.integrationId ?? ''),
      tags: tags.get(device.id) ?? [],
      path: paths.get(device.placeId ?? ''),
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
    placeId: device.placeId,
    place: placeView(device.placeId, context.path),
    planPosition: device.planPosition,
    uplinkMetrics: uplinkMetricsView(context.metrics),
    loraProperties: loraPropertiesView(device, context.connector?.carrier ?? null, keysShown),
    ...auditView(device),
  };
}

/** Null also for the moment in which the place is deleted. */
function placeView(id: string | null, path: readonly PathStep[] | undefined) {
  const own = path?.at(-1);
  if (id === null || path === undefined || own === undefined) return null;
  return { id, name: own.name, path: path.map(({ name }) => name) };
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

// Uplink metrics in answers: every member is present, and the device id has all the names that clients read (contract 4).

const signalQualities = ['BAD', 'MEDIUM', 'GOOD'] as const;

function uplinkMetricsView(metrics: DeviceMetrics | undefined) {
  if (metrics === undefined) return null;
  const { deviceId } = metrics;
  return {
    id: deviceId,
    uplinkId: metrics.uplinkId,
    deviceId,
    svcDeviceId: deviceId,
    akenzaDeviceId: deviceId,
    uplinkSize: metrics.uplinkSize,
    timestamp: formatInstant(metrics.timestamp),
    latitude: metrics.latitude ?? null,
    longitude: metrics.longitude ?? null,
    locationRadius: metrics.locationRadius ?? null,
    port: metrics.port ?? null,
    frameCountUp: metrics.frameCountUp ?? null,
    frameCountDown: metrics.frameCountDown ?? null,
    rssi: metrics.rssi ?? null,
    snr: metrics.snr ?? null,
    sf: metrics.sf ?? null,
    txPower: metrics.txPower ?? null,
    numberOfGateways: metrics.numberOfGateways ?? null,
    esp: metrics.esp ?? null,
    ...signalView(metrics),
    ...batteryView(metrics),
    ...knownAtView(metrics),
  };
}

/** Absent when the last uplink reported all metrics, as clients have always read it. */
function knownAtView({ knownAt }: DeviceMetrics) {
  if (knownAt === undefined) return {};
  const times = Object.entries(knownAt).map(([field, at]) => [field, formatInstant(at)] as const);
  return { knownAt: Object.fromEntries(times) };
}

function signalView({ sqi, sqiTimestamp, timestamp }: DeviceMetrics) {
  if (sqi === undefined) return { sqi: null, sqiTimestamp: null, signalQuality: null };
  return {
    sqi,
    sqiTimestamp: formatInstant(sqiTimestamp ?? timestamp),
    signalQuality: signalQualities[sqi - 1] ?? null,
  };
}

function batteryView({ batteryLevel, batteryTimestamp, timestamp }: DeviceMetrics) {
  if (batteryLevel === undefined)
    return { batteryLevel: null, batteryTimestamp: null, batteryLevelStatus: null };
  return {
    batteryLevel,
    batteryTimestamp: formatInstant(batteryTimestamp ?? timestamp),
    batteryLevelStatus: batteryStatus(batteryLevel),
  };
}

function batteryStatus(percent: number): 'GOOD' | 'MEDIUM' | 'LOW' {
  if (percent >= batteryPercents.good) return 'GOOD';
  if (percent >= batteryPercents.medium) return 'MEDIUM';
  return 'LOW';
}
