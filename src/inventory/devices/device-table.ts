// Device table: devices in memory in less than 200 bytes each, found by service id, physical id and EUI.
import { randomInt } from 'node:crypto';
import type { DeviceWithLabels } from '../../storage/records/rows/devices.ts';
import { createBoundedMap } from '../../structures/bounded-map.ts';
import { createSlotIndex } from '../../structures/slot-index.ts';
import { createStringHash } from '../../structures/string-hash.ts';
import {
  bytesOfString,
  compactString,
  isStringOf,
  profileContentOf,
  type ReadDevice,
  readCompactString,
} from './compact-device.ts';
import type { DeviceProfile, DeviceProfiles } from './device-profiles.ts';

export interface DeviceTableLimits {
  readonly devicesMax: number;
  /** Of their strings. */
  readonly bytesMax: number;
  readonly profilesMax: number;
  /** Devices that are also kept as objects: those that were used last. */
  readonly objectsMax: number;
}

/** A device of the table as an object. */
export interface KnownDevice<Made> extends ReadDevice {
  readonly profile: DeviceProfile;
  /** What the caller derived from the device, kept as long as the object. */
  made: Made | undefined;
}

export interface DeviceTable<Made> {
  readonly size: number;
  /** Bytes of the strings. */
  readonly bytes: number;
  byId(id: string): KnownDevice<Made> | undefined;
  /** The profile of the device, which takes no object for the device. */
  profileOf(id: string): DeviceProfile | undefined;
  byDeviceId(organizationId: string, deviceId: string): KnownDevice<Made> | undefined;
  /** The device that `setEui` named last with this EUI; `isNamed` checks that it still has it. */
  byEui(
    connectorId: string,
    eui: string,
    isNamed: (device: ReadDevice['device']) => boolean,
  ): KnownDevice<Made> | undefined;
  /** Adds or replaces the device. At a limit, devices chosen at random make room. */
  set(labeled: DeviceWithLabels): KnownDevice<Made>;
  setEui(id: string, connectorId: string, eui: string): void;
  delete(id: string): void;
}

/** Devices that are removed for one that is added, before that one is not kept. */
const removedMax = 16;
/** Slots that are tried to find a device to remove. */
const triesMax = 64;
const random32 = () => randomInt(2 ** 32);

export function createDeviceTable<Made>(
  profiles: DeviceProfiles,
  limits: DeviceTableLimits,
): DeviceTable<Made> {
  type Known = KnownDevice<Made>;
  const hashOf = createStringHash(random32(), random32());
  const [ids, deviceIds, euis] = [createSlotIndex(), createSlotIndex(), createSlotIndex()];
  // By slot. An empty slot has no string.
  const strings: (string | undefined)[] = [];
  const profileOfSlot: (DeviceProfile | undefined)[] = [];
  // Only devices of network servers have one; 0 for the others.
  let euiHashes = new Uint32Array(0);
  const emptySlots: number[] = [];
  const objects = createBoundedMap<number, Known>(limits.objectsMax);
  let bytes = 0;

  const idHash = (id: string) => hashOf(id);
  const deviceIdHash = (organizationId: string, deviceId: string) =>
    hashOf(organizationId, deviceId);
  const euiHash = (connectorId: string, eui: string) => hashOf(connectorId, eui) || 1;

  function read(slot: number): Known | undefined {
    const known = objects.get(slot);
    if (known !== undefined) return known;
    const string = strings[slot];
    const profile = profileOfSlot[slot];
    if (string === undefined || profile === undefined) return undefined;
    return keepObject(slot, { ...readCompactString(string, profile), profile, made: undefined });
  }

  function keepObject(slot: number, known: Known): Known {
    objects.set(slot, known);
    return known;
  }

  const slotOfId = (id: string) =>
    ids.find(idHash(id), (slot) => isStringOf(strings[slot] ?? '', id));

  function remove(slot: number): void {
    const known = read(slot);
    if (known === undefined) return;
    const { device, profile } = known;
    ids.delete(idHash(device.id), slot);
    deviceIds.delete(deviceIdHash(device.organizationId, device.deviceId), slot);
    removeEui(slot);
    bytes -= bytesOfString(strings[slot] ?? '');
    strings[slot] = undefined;
    profileOfSlot[slot] = undefined;
    objects.delete(slot);
    emptySlots.push(slot);
    profiles.release(profile);
  }

  function removeEui(slot: number): void {
    const hash = euiHashes[slot] ?? 0;
    if (hash === 0) return;
    euis.delete(hash, slot);
    euiHashes[slot] = 0;
  }

  function hasRoom(added: number): boolean {
    return (
      ids.size < limits.devicesMax &&
      bytes + added <= limits.bytesMax &&
      profiles.size <= limits.profilesMax
    );
  }

  /** A fleet that sends in turn finds most devices here: the oldest are as likely to be next. */
  function makeRoom(added: number): boolean {
    for (let i = 0; i < removedMax && !hasRoom(added); i++) removeAny();
    return hasRoom(added);
  }

  function removeAny(): void {
    for (let i = 0; i < triesMax && strings.length > 0; i++) {
      const slot = randomInt(strings.length);
      if (strings[slot] === undefined) continue;
      remove(slot);
      return;
    }
  }

  return {
    get size() {
      return ids.size;
    },
    get bytes() {
      return bytes;
    },
    byId(id) {
      const slot = slotOfId(id);
      return slot === undefined ? undefined : read(slot);
    },
    profileOf(id) {
      const slot = slotOfId(id);
      return slot === undefined ? undefined : profileOfSlot[slot];
    },
    byDeviceId(organizationId, deviceId) {
      const isMeant = (slot: number) => {
        const device = read(slot)?.device;
        return device?.deviceId === deviceId && device.organizationId === organizationId;
      };
      const slot = deviceIds.find(deviceIdHash(organizationId, deviceId), isMeant);
      return slot === undefined ? undefined : read(slot);
    },
    byEui(connectorId, eui, isNamed) {
      const isMeant = (slot: number) => {
        const known = read(slot);
        return known !== undefined && isNamed(known.device);
      };
      const slot = euis.find(euiHash(connectorId, eui), isMeant);
      return slot === undefined ? undefined : read(slot);
    },
    set(labeled) {
      const { device } = labeled;
      const before = slotOfId(device.id);
      if (before !== undefined) remove(before);
      const profile = profiles.hold(profileContentOf(labeled));
      const string = compactString(labeled, profile);
      const values = profile.fieldIds.map((id) => labeled.values.get(id) ?? null);
      const added = { device, values, profile, made: undefined };
      const size = bytesOfString(string);
      if (!makeRoom(size)) {
        profiles.release(profile);
        return added;
      }
      bytes += size;
      const slot = emptySlots.pop() ?? strings.length;
      strings[slot] = string;
      profileOfSlot[slot] = profile;
      ids.add(idHash(device.id), slot);
      deviceIds.add(deviceIdHash(device.organizationId, device.deviceId), slot);
      return keepObject(slot, added);
    },
    setEui(id, connectorId, eui) {
      const slot = slotOfId(id);
      if (slot === undefined) return;
      removeEui(slot);
      const hash = euiHash(connectorId, eui);
      euis.add(hash, slot);
      if (slot >= euiHashes.length) euiHashes = extended(euiHashes, strings.length);
      euiHashes[slot] = hash;
    },
    delete(id) {
      const slot = slotOfId(id);
      if (slot !== undefined) remove(slot);
    },
  };
}

function extended(numbers: Uint32Array<ArrayBuffer>, length: number): Uint32Array<ArrayBuffer> {
  const longer = new Uint32Array(Math.max(length, numbers.length * 2));
  longer.set(numbers);
  return longer;
}
