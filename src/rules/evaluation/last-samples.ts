// Last samples: per device and watch, what a rule reads of data sources that do not trigger it.
import type { EpochMs } from '../../model/instant.ts';
import { WorkingSet } from '../../structures/working-set.ts';
import type { RuleSample } from './rule-reading.ts';

/**
 * Devices in memory. The least recently used ones are evicted, and read again when they are needed.
 */
const devicesMax = 50_000;

/** `newestUntil`: later samples are dated in the future. */
export class LastSamples {
  readonly #newestUntil: () => EpochMs;
  readonly #devices = new WorkingSet<string, Map<string, RuleSample>>(devicesMax);
  readonly #changed = new Map<string, { readonly watchId: string; readonly sample: RuleSample }>();

  constructor(newestUntil: () => EpochMs) {
    this.#newestUntil = newestUntil;
  }

  /** A sample that is dated in the future is none. */
  get(deviceId: string, watchId: string): RuleSample | undefined {
    const sample = this.#devices.get(deviceId)?.get(watchId);
    if (sample === undefined || sample.timestamp > this.#newestUntil()) return undefined;
    return sample;
  }

  /** Keeps the sample unless a newer one is known: a late sample does not replace a newer one. */
  put(watchId: string, sample: RuleSample): void {
    const samples = this.#samplesOf(sample.deviceId);
    const before = samples.get(watchId);
    const until = this.#newestUntil();
    if (sample.timestamp > until) return;
    const isNewer = before !== undefined && before.timestamp > sample.timestamp;
    if (isNewer && before.timestamp <= until) return;
    samples.set(watchId, sample);
    this.#changed.set(`${sample.deviceId} ${watchId}`, { watchId, sample });
  }

  /** Returns the changes since the last call, and marks them as saved. */
  takeChanged(): readonly { readonly watchId: string; readonly sample: RuleSample }[] {
    const taken = [...this.#changed.values()];
    this.#changed.clear();
    return taken;
  }

  /**
   * Returns the devices to `load`, and makes room for them. The other given devices stay in
   * memory.
   */
  missing(deviceIds: readonly string[]): readonly string[] {
    return this.#devices.claim(deviceIds);
  }

  load(deviceId: string, samples: ReadonlyMap<string, RuleSample>): void {
    this.#devices.set(deviceId, new Map(samples));
  }

  forget(deviceId: string): void {
    this.#devices.delete(deviceId);
  }

  /** Also forgets what was not saved: samples of the device were removed. */
  forgetRemoved(deviceId: string): void {
    this.forget(deviceId);
    for (const [key, { sample }] of this.#changed)
      if (sample.deviceId === deviceId) this.#changed.delete(key);
  }

  clear(): void {
    this.#devices.clear();
    this.#changed.clear();
  }

  #samplesOf(deviceId: string): Map<string, RuleSample> {
    const known = this.#devices.get(deviceId);
    if (known !== undefined) return known;
    const samples = new Map<string, RuleSample>();
    this.#devices.set(deviceId, samples);
    return samples;
  }
}
