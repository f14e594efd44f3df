// The name that The Things Stack has for a device, learned from its uplinks: downlinks are addressed by it (contract 36).
import type { Device } from '../../model/device.ts';
import { isJsonObject, type JsonObject } from '../../model/json.ts';
import { findDevice, saveDevice } from '../../records/rows/devices.ts';
import type { Records } from '../../records/records.ts';
import { change } from '../record-change.ts';

function ttnPropertiesOf({ loraProperties }: Pick<Device, 'loraProperties'>): JsonObject {
  const stored = loraProperties?.['ttnProperties'];
  return isJsonObject(stored) ? stored : {};
}

/** Writes only a name that is new; the record's version stays, because nobody changed the device. */
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
