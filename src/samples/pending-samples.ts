// Pending samples: samples in the journal that are not stored yet, whose repetitions are duplicates.
import type { EpochMs } from '../model/instant.ts';
import type { JsonObject } from '../model/json.ts';
import { type DataSet, createDataSet } from './same-data.ts';

interface PendingSample {
  readonly timestamp: EpochMs;
  readonly data: JsonObject;
}

/**
 * Samples of one entry and topic. A class, because every entry makes one and most are never asked.
 */
export class PendingSamples {
  readonly #samples: PendingSample[] = [];
  #oldest = Number.POSITIVE_INFINITY;
  #newest = Number.NEGATIVE_INFINITY;
  // Made when a time within the range is asked for: samples in the order of time never need it.
  #byTime: Map<EpochMs, DataSet> | undefined;

  add(sample: PendingSample): void {
    this.#samples.push(sample);
    if (sample.timestamp < this.#oldest) this.#oldest = sample.timestamp;
    if (sample.timestamp > this.#newest) this.#newest = sample.timestamp;
    if (this.#byTime !== undefined) note(this.#byTime, sample);
  }

  has(timestamp: EpochMs, data: JsonObject): boolean {
    if (timestamp < this.#oldest || timestamp > this.#newest) return false;
    if (this.#byTime === undefined) {
      this.#byTime = new Map();
      for (const sample of this.#samples) note(this.#byTime, sample);
    }
    return this.#byTime.get(timestamp)?.has(data) === true;
  }
}

function note(byTime: Map<EpochMs, DataSet>, { timestamp, data }: PendingSample): void {
  const found = byTime.get(timestamp) ?? createDataSet();
  byTime.set(timestamp, found);
  found.add(data);
}
