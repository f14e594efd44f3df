// What each kind of operation does with one of its items (contract 19).
import type { Device } from '../../model/device.ts';
import type { Operation, OperationAction, OperationPlan } from '../../model/operation.ts';
import { problem } from '../../model/problem.ts';
import { findDevice } from '../../records/rows/devices.ts';
import type { Step } from '../record-change.ts';
import {
  createDeviceStep,
  deleteDeviceStep,
  type DeviceDraft,
  type DeviceLookups,
  type DeviceUpdate,
  moveDeviceStep,
  tagDeviceStep,
  updateDeviceStep,
} from '../devices/device-steps.ts';
import { isNetworkWork, registrationStep } from '../devices/registration.ts';

/** Throws Problem for an item that cannot be done. */
export async function workOn(
  step: Step,
  operation: Operation,
  action: OperationAction,
  { isAgreed, lookups }: { readonly isAgreed: boolean; readonly lookups: DeviceLookups },
): Promise<Pick<Device, 'id' | 'deviceId' | 'name'>> {
  const { input } = action;
  if (input === null) throw new Error(`Action ${action.id} of an operation has nothing to do`);
  const { plan, workspaceId } = operation;
  const { id } = input;
  if (plan.work === 'create' || (plan.work === 'import' && typeof id !== 'string')) {
    return createDeviceStep(step, { ...input, workspaceId } as unknown as DeviceDraft, lookups);
  }
  const deviceId = String(id);
  const device = await findDevice(step, deviceId);
  if (device?.workspaceId !== workspaceId)
    throw problem('notFound', { what: 'device', id: deviceId });
  if (isNetworkWork(plan.work)) return registrationStep(step, deviceId, plan.work, isAgreed);
  return onDevice(step, plan, deviceId, input);
}

function onDevice(
  step: Step,
  plan: OperationPlan,
  id: string,
  update: DeviceUpdate,
): Promise<Pick<Device, 'id' | 'deviceId' | 'name'>> {
  switch (plan.work) {
    case 'delete':
      return deleteDeviceStep(step, id);
    case 'move':
      return moveDeviceStep(step, id, plan);
    case 'tag':
      return tagDeviceStep(step, id, plan);
    default:
      return updateDeviceStep(step, id, update);
  }
}
