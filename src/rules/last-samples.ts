// The last sample that each watch of a device has taken: what a rule reads of data sources that do not trigger it.
import type { SeenSample } from './rule-reading.ts';

export interface LastSamples {
  get(deviceId: string, watchId: string): SeenSample | undefined;
  /** Remembers the sample unless a newer one is known: late samples do not push newer ones out. */
  put(watchId: string, sample: SeenSample): void;
  /** What changed since the last call, and is then taken as saved. */
  takeChanged(): readonly { readonly watchId: string; readonly sample: SeenSample }[];
  /**
   * Tells which of the devices are not here and makes room for them. The others stay, whatever else is forgotten.
   */
  missing(deviceIds: readonly string[]): readonly string[];
  /** Begins a device with what is known of it. */
  load(deviceId: string, samples: ReadonlyMap<string, SeenSample>): void;
  forget(deviceId: string): void;
  clear(): void;
}

/** Devices kept in memory; those that were asked for least recently are forgotten first, and read again when they are needed. */
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
    missing(deviceIds) {
      const missing: string[] = [];
      for (const id of deviceIds) {
        const known = devices.get(id);
        if (known === undefined) missing.push(id);
        else {
          devices.delete(id);
          devices.set(id, known);
        }
      }
      // Those that were asked for are at the end now, so that the room is made of others.
      const others = devices.size - (deviceIds.length - missing.length);
      let excess = Math.min(others, devices.size + missing.length - devicesMax);
      for (const id of devices.keys()) {
        if (excess-- <= 0) break;
        devices.delete(id);
      }
      return missing;
    },
    load: (deviceId, samples) => void devices.set(deviceId, new Map(samples)),
    forget: (deviceId) => void devices.delete(deviceId),
    clear() {
      devices.clear();
      changed.clear();
    },
  };
}
