// Name of a device in The Things Stack, learned from its uplinks, because downlinks need it (contract 36).
import type { Device } from '../../model/device.ts';
import { type JsonObject, objectOrEmpty } from '../../model/json.ts';
import { findDevice, saveDevice } from '../../storage/records/rows/devices.ts';
import type { Records } from '../../storage/records/records.ts';
import { change } from '../record-change.ts';

function ttnPropertiesOf({ loraProperties }: Pick<Device, 'loraProperties'>): JsonObject {
  return objectOrEmpty(loraProperties?.['ttnProperties']);
}

/** Writes only a new name. The version stays, because no user changed the device. */
export async function learnServerDeviceId(
  records: Records,
  device: Device,
  serverDeviceId: string,
): Promise<void> {
  if (ttnPropertiesOf(device)['deviceId'] === serverDeviceId) return;
  await change(records, async (step) => {
    const current = await findDevice(step, device.id);
    if (current === undefined) return;
    const ttnProperties = { ...ttnPropertiesOf(current), deviceId: serverDeviceId };
    await saveDevice(step, {
      ...current,
      loraProperties: { ...current.loraProperties, ttnProperties },
    });
    step.announce({ kind: 'device', id: device.id, action: 'updated' });
  });
}
