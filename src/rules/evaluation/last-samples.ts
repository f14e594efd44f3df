// Last samples: per device and watch, what a rule reads of data sources that do not trigger it.
import type { EpochMs } from '../../model/instant.ts';
import { createWorkingSet } from '../../structures/working-set.ts';
import type { RuleSample } from './rule-reading.ts';

export interface LastSamples {
  /** A sample that is dated in the future is none. */
  get(deviceId: string, watchId: string): RuleSample | undefined;
  /** Keeps the sample unless a newer one is known: a late sample does not replace a newer one. */
  put(watchId: string, sample: RuleSample): void;
  /** Returns the changes since the last call, and marks them as saved. */
  takeChanged(): readonly { readonly watchId: string; readonly sample: RuleSample }[];
  /**
   * Returns the devices to `load`, and makes room for them. The other given devices stay in memory.
   */
  missing(deviceIds: readonly string[]): readonly string[];
  load(deviceId: string, samples: ReadonlyMap<string, RuleSample>): void;
  forget(deviceId: string): void;
  clear(): void;
}

/**
 * Devices in memory. The least recently used ones are evicted, and read again when they are needed.
 */
const devicesMax = 50_000;

/** `newestUntil`: later samples are dated in the future. */
export function createLastSamples(newestUntil: () => EpochMs): LastSamples {
  const devices = createWorkingSet<string, Map<string, RuleSample>>(devicesMax);
  const changed = new Map<string, { readonly watchId: string; readonly sample: RuleSample }>();

  function samplesOf(deviceId: string): Map<string, RuleSample> {
    const known = devices.get(deviceId);
    if (known !== undefined) return known;
    const samples = new Map<string, RuleSample>();
    devices.set(deviceId, samples);
    return samples;
  }

  return {
    get(deviceId, watchId) {
      const sample = devices.get(deviceId)?.get(watchId);
      if (sample === undefined || sample.timestamp > newestUntil()) return undefined;
      return sample;
    },
    put(watchId, sample) {
      const samples = samplesOf(sample.deviceId);
      const before = samples.get(watchId);
      const until = newestUntil();
      if (sample.timestamp > until) return;
      const isNewer = before !== undefined && before.timestamp > sample.timestamp;
      if (isNewer && before.timestamp <= until) return;
      samples.set(watchId, sample);
      changed.set(`${sample.deviceId} ${watchId}`, { watchId, sample });
    },
    takeChanged() {
      const taken = [...changed.values()];
      changed.clear();
      return taken;
    },
    missing: (deviceIds) => devices.claim(deviceIds),
    load: (deviceId, samples) => devices.set(deviceId, new Map(samples)),
    forget: (deviceId) => void devices.delete(deviceId),
    clear() {
      devices.clear();
      changed.clear();
    },
  };
}
