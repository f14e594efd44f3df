// Refused uplinks for the owners of their connectors: read, forgotten, and registered as devices (contract 39.3).
import type { RegistrationDraft } from '../../contract/raw-uplinks.ts';
import type { DeviceConnector } from '../../model/connector.ts';
import type { Device } from '../../model/device.ts';
import type { DeviceType } from '../../model/device-type.ts';
import { databaseConnectorId } from '../../model/ids.ts';
import { formatInstant } from '../../model/instant.ts';
import { pageOf, type PageRequest } from '../../model/page.ts';
import { holds, type Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import { type Refusal, refusalLimits } from '../../model/uplink.ts';
import type { Records } from '../../storage/records/records.ts';
import { deviceConnectorRows, dataFlowRows } from '../../storage/records/rows/data-flows.ts';
import { deviceTypeRows } from '../../storage/records/rows/device-types.ts';
import { deviceRows } from '../../storage/records/rows/devices.ts';
import { type RefusalsOf, refusalRows } from '../../storage/records/rows/payload-notes.ts';
import { slipsBetween } from '../../structures/similar-names.ts';
import { changeDevice } from '../devices/device-batch.ts';
import { change, found, type Step } from '../record-crud.ts';
import { insertDataFlow } from './data-flows.ts';

/** Of a connector or a workspace; the last ones first unless the page asks for another order. */
export async function readRefusals(
  { db, now }: Records,
  of: RefusalsOf,
  page: PageRequest,
  principal: Principal,
) {
  const { rows, total } = await refusalRows.list(db, of, now() - refusalLimits.ageMsMax, page);
  const names = [...new Set(rows.flatMap(({ deviceId }) => deviceId ?? []))];
  const known = await deviceRows.serviceIdsOf(db, principal.organizationId, names);
  const registered = (deviceId: string | null) => {
    const device = known.get(deviceId ?? '');
    if (device === undefined || !holds(principal, 'asset', 'read', device.workspaceId)) return null;
    return device.id;
  };
  const views = rows.map((refusal) => ({
    ...refusalView(refusal),
    registeredDeviceId: registered(refusal.deviceId),
  }));
  return pageOf(views, total, page);
}

function refusalView({ organizationId: _, sent: __, first, last, ...refusal }: Refusal) {
  return { ...refusal, first: formatInstant(first), last: formatInstant(last) };
}

/**
 * One, or all. One that is gone is forgotten as well: the oldest make room for others at any time.
 */
export function forgetRefusals({ db }: Records, of: RefusalsOf, id?: string): Promise<void> {
  return refusalRows.remove(db, of, id);
}

// What a refused sender could be: its connector, data flows, device types that may decode it, and similar devices.

const flowsMax = 100;
/** Types whose connectivity is looked at. */
const typesSeenMax = 2_000;
/** Types that are tried. */
const typesTriedMax = 50;

interface Candidates {
  readonly refusal: Refusal;
  readonly connector: DeviceConnector;
  readonly flows: Awaited<ReturnType<typeof dataFlowRows.ofConnector>>;
  /** Those of the data flows first. */
  readonly types: readonly DeviceType[];
  readonly similar: readonly SimilarDevice[];
}

/** Throws Problem 404 for a refusal that is gone. */
export async function refusalCandidates(
  records: Records,
  of: RefusalsOf,
  id: string,
  principal: Principal,
): Promise<Candidates> {
  const { db } = records;
  const refusal = found(await refusalRows.find(db, of, id), 'refusal', id);
  const { organizationId, connectorId } = refusal;
  const connector = found(
    await deviceConnectorRows.find(records, connectorId),
    'device connector',
    connectorId,
  );
  const flows = await dataFlowRows.ofConnector(db, connectorId, flowsMax);
  const seen = await deviceTypeRows.connectivityOf(db, organizationId, typesSeenMax);
  const fitting = seen.filter(
    ({ connectivity }) => connectivity?.toUpperCase() === connector.connectivity,
  );
  const ids = new Set(
    [...flows.map(({ deviceTypeId }) => deviceTypeId), ...fitting.map((type) => type.id)].filter(
      (typeId) => typeId !== null,
    ),
  );
  const tried = [...ids].slice(0, typesTriedMax);
  const types = await deviceTypeRows.byId(db, tried);
  return {
    refusal,
    connector,
    flows,
    types: tried.flatMap((typeId) => types.get(typeId) ?? []),
    similar: await similarDevices(records, refusal, principal),
  };
}

interface SimilarDevice {
  readonly id: string;
  readonly deviceId: string;
  readonly name: string;
}

const similarMax = 5;
/** Devices that are compared for each beginning of the name. */
const comparedMax = 200;

/**
 * Devices of the organization whose physical id the sender may have meant, the most similar first.
 * Only those that begin like the name are compared, so that it costs the same with many devices.
 */
async function similarDevices(
  { db }: Records,
  { organizationId, deviceId }: Refusal,
  principal: Principal,
): Promise<readonly SimilarDevice[]> {
  const name = (deviceId ?? '').trim();
  const similar = new Map<string, SimilarDevice & { readonly slips: number }>();
  for (const prefix of prefixesOf(name))
    for (const device of await deviceRows.withPrefix(db, {
      organizationId,
      prefix,
      max: comparedMax,
    })) {
      const slips = slipsBetween(name, device.deviceId);
      if (slips === undefined || device.deviceId === deviceId) continue;
      if (!holds(principal, 'asset', 'read', device.workspaceId)) continue;
      const { id, deviceId: own, name: title } = device;
      similar.set(id, { id, deviceId: own, name: title, slips });
    }
  return [...similar.values()]
    .toSorted((one, other) => one.slips - other.slips)
    .slice(0, similarMax)
    .map(({ slips: _, ...device }) => device);
}

/** Without its last characters, without its second half, and in the other case. */
function prefixesOf(name: string): ReadonlySet<string> {
  const starts = [name.slice(0, -2), name.slice(0, Math.ceil(name.length / 2)), name.slice(0, 2)];
  const all = starts.flatMap((start) => [start, start.toLowerCase(), start.toUpperCase()]);
  return new Set(all.filter((start) => start !== ''));
}

// Registration: the device of a refused sender, with its data flow in one transaction.

export interface Registered {
  readonly refusal: Refusal;
  readonly connector: DeviceConnector;
  readonly device: Device;
}

/**
 * Makes the device. With a device type, the connector's oldest data flow of it is used, else one is
 * made, which stores all topics. Throws Problem 404 for a refusal that is gone, 400 for one without
 * device id and for a data flow of another connector, 403 without `dataFlow` `create` for a new data
 * flow, and 409 when the device exists.
 */
export function registerRefused(
  records: Records,
  principal: Principal,
  {
    of,
    id,
    draft,
  }: { readonly of: RefusalsOf; readonly id: string; readonly draft: RegistrationDraft },
): Promise<Registered> {
  return change(records, async (step) => {
    const refusal = found(await refusalRows.find(step.db, of, id), 'refusal', id);
    const { deviceId, connectorId, workspaceId } = refusal;
    if (deviceId === null) refuse(`refusal ${id} names no device`);
    if (deviceId.length >= refusalLimits.deviceIdLengthMax)
      refuse(`the device ID of refusal ${id} is too long to be kept whole`);
    const connector = found(
      await deviceConnectorRows.find(step, connectorId),
      'device connector',
      connectorId,
    );
    // A device that exists is told before a data flow is made for it.
    if ((await deviceRows.serviceIdsOf(step.db, refusal.organizationId, [deviceId])).size > 0)
      throw problem('deviceIdNotUnique', { deviceId });
    const dataFlowId = await flowFor(step, principal, refusal, draft);
    const device = await changeDevice(step, {
      work: 'create',
      draft: {
        workspaceId,
        dataFlowId,
        deviceId,
        name: draft.name ?? nameOfRefused(refusal),
        ...(draft.tags && { tags: draft.tags }),
        ...(draft.placeId && { placeId: draft.placeId }),
      },
    });
    return { refusal, connector, device };
  });
}

/** The name that is proposed for the device. */
export function nameOfRefused({ deviceId }: Refusal): string {
  const name = deviceId ?? '';
  return name.trim() || name;
}

async function flowFor(
  step: Step,
  principal: Principal,
  { connectorId, organizationId, workspaceId }: Refusal,
  { dataFlowId, deviceTypeId }: RegistrationDraft,
): Promise<string> {
  if ((dataFlowId === undefined) === (deviceTypeId === undefined))
    refuse('body: send either dataFlowId or deviceTypeId');
  const flows = await dataFlowRows.ofConnector(step.db, connectorId, flowsMax);
  if (dataFlowId !== undefined) {
    if (flows.some(({ id }) => id === dataFlowId)) return dataFlowId;
    refuse(`body dataFlowId: ${dataFlowId} is no data flow of device connector ${connectorId}`);
  }
  const own = flows.find((flow) => flow.deviceTypeId === deviceTypeId);
  if (own !== undefined) return own.id;
  if (!holds(principal, 'dataFlow', 'create', workspaceId)) throw problem('permissionDenied');
  const id = deviceTypeId ?? '';
  const type = await deviceTypeRows.find(step.db, id);
  if (type === undefined || (type.organizationId ?? organizationId) !== organizationId)
    throw problem('unknownReference', {
      field: 'body deviceTypeId',
      what: 'device type',
      id,
      place: 'organization',
    });
  const flow = await insertDataFlow(step, {
    workspaceId,
    name: type.name,
    deviceConnector: { id: connectorId },
    deviceType: { id: type.id },
    outputConnectors: [{ id: databaseConnectorId, topic: '*' }],
  });
  return flow.id;
}

function refuse(reason: string): never {
  throw problem('invalidRequest', { reason });
}
