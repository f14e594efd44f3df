// Samples on their way through the journal: a repetition of one of them is a duplicate too, once the first is durable.
import type { EpochMs } from '../../model/instant.ts';
import type { JsonObject } from '../../model/json.ts';
import { type DataSet, dataSet } from './same-data.ts';

interface PendingSample {
  readonly timestamp: EpochMs;
  readonly data: JsonObject;
}

/** Samples of one entry and topic. */
export interface PendingSamples {
  readonly has: (timestamp: EpochMs, data: JsonObject) => boolean;
  readonly add: (sample: PendingSample) => void;
}

export function pendingSamples(): PendingSamples {
  const samples: PendingSample[] = [];
  let oldest = Number.POSITIVE_INFINITY;
  let newest = Number.NEGATIVE_INFINITY;
  // Made when a time within the range is asked for: samples in the order of time never need it.
  let byTime: Map<EpochMs, DataSet> | undefined;

  function note(index: Map<EpochMs, DataSet>, { timestamp, data }: PendingSample): void {
    const found = index.get(timestamp) ?? dataSet();
    index.set(timestamp, found);
    found.add(data);
  }

  return {
    add: (sample) => {
      samples.push(sample);
      if (sample.timestamp < oldest) oldest = sample.timestamp;
      if (sample.timestamp > newest) newest = sample.timestamp;
      if (byTime !== undefined) note(byTime, sample);
    },
    has: (timestamp, data) => {
      if (timestamp < oldest || timestamp > newest) return false;
      if (byTime === undefined) {
        byTime = new Map();
        for (const sample of samples) note(byTime, sample);
      }
      return byTime.get(timestamp)?.has(data) === true;
    },
  };
}
