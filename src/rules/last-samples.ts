// The last sample that each watch of a device has taken: what a rule reads of data sources that do not trigger it.
import type { SeenSample } from './reading.ts';

export interface LastSamples {
  get(deviceId: string, watchId: string): SeenSample | undefined;
  /** Remembers the sample unless a newer one is known: late samples do not push newer ones out. */
  put(watchId: string, sample: SeenSample): void;
  /** What changed since the last call, and is then taken as saved. */
  takeChanged(): readonly { readonly watchId: string; readonly sample: SeenSample }[];
  /** Whether the device's last samples are here. */
  has(deviceId: string): boolean;
  /** Begins a device with what is known of it. */
  load(deviceId: string, samples: ReadonlyMap<string, SeenSample>): void;
  forget(deviceId: string): void;
  clear(): void;
}

/** Devices kept in memory; those that were loaded first are forgotten first, and read again when they are needed. */
const devicesMax = 50_000;

export function createLastSamples(): LastSamples {
  const devices = new Map<string, Map<string, SeenSample>>();
  const changed = new Map<string, { readonly watchId: string; readonly sample: SeenSample }>();
  return {
    get: (deviceId, watchId) => devices.get(deviceId)?.get(watchId),
    put(watchId, sample) {
      let known = devices.get(sample.deviceId);
      if (known === undefined) devices.set(sample.deviceId, (known = new Map()));
      const before = known.get(watchId);
      if (before !== undefined && before.timestamp > sample.timestamp) return;
      known.set(watchId, sample);
      changed.set(`${sample.deviceId} ${watchId}`, { watchId, sample });
    },
    takeChanged() {
      const taken = [...changed.values()];
      changed.clear();
      return taken;
    },
    has: (deviceId) => devices.has(deviceId),
    load(deviceId, samples) {
      // What has just been loaded for the batch under way is at the end and stays.
      if (devices.size >= devicesMax) devices.delete(devices.keys().next().value!);
      devices.set(deviceId, new Map(samples));
    },
    forget: (deviceId) => void devices.delete(deviceId),
    clear() {
      devices.clear();
      changed.clear();
    },
  };
}
