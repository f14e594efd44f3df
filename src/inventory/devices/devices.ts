// Devices: create, read, update, delete, for requests (contract 4).
import type { DeviceDraft, DeviceUpdate } from '../../contract/devices.ts';
import type { Device } from '../../model/device.ts';
import type { Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import type { Records } from '../../storage/records/records.ts';
import { deviceRows, findDeviceByDeviceId } from '../../storage/records/rows/devices.ts';
import { change, found } from '../record-change.ts';
import { changeDevice } from './device-batch.ts';
import { deviceViews } from './device-view.ts';

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
    await findDeviceByDeviceId(records, principal.organizationId, deviceId),
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
