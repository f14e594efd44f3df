// The read side of the sample store in the plainest way: a list of samples, walked for every question.
import { accumulators } from '../../src/accumulators/accumulator-table.ts';
import { addValue, emptyPartial, type Partial } from '../../src/accumulators/partial.ts';
import { dataValue } from '../../src/model/data-value.ts';
import type { Sample } from '../../src/model/sample.ts';
import type { BucketRequest, SampleRange, SampleStore } from '../../src/store/sample-store.ts';

export type ReadingStore = Pick<SampleStore, 'samples' | 'exportSamples' | 'latestSample' | 'topics' | 'buckets'>;

const batchSize = 3;

/** A store that holds the samples, in their order of storing; later pushes to the list are seen. */
export function referenceStore(stored: readonly Sample[]): ReadingStore {
  const inRange = ({ deviceId, topic, from = -Infinity, to = Infinity }: SampleRange) =>
    stored
      .filter((s) => s.deviceId === deviceId && (topic === undefined || s.topic === topic))
      .filter((s) => s.timestamp >= from && s.timestamp < to)
      // Sorting is stable, so samples of one instant stay in the order of storing.
      .sort((a, b) => a.timestamp - b.timestamp);
  const newestFirst = (range: SampleRange) => inRange(range).reverse();
  return {
    async samples(scan) {
      return newestFirst(scan).slice(scan.skip, scan.skip + scan.limit);
    },
    async *exportSamples(range) {
      const all = inRange(range);
      for (let at = 0; at < all.length; at += batchSize) yield all.slice(at, at + batchSize);
    },
    async latestSample(deviceId, topic) {
      return newestFirst(topic === undefined ? { deviceId } : { deviceId, topic })[0];
    },
    async topics(deviceId) {
      const newest = new Map<string, number>();
      for (const { topic, timestamp } of newestFirst({ deviceId }))
        if (!newest.has(topic)) newest.set(topic, timestamp);
      return [...newest].map(([topic, timestamp]) => ({ topic, newest: timestamp }));
    },
    async buckets(request) {
      return request.deviceIds.map((deviceId) => bucketsOf(inRange({ deviceId, topic: request.topic }), request));
    },
  };
}

function bucketsOf(samples: readonly Sample[], request: BucketRequest): (Partial | undefined)[] {
  const { edges, source, dataKey } = request;
  if (source === 'hours' && edges.some((edge) => edge % 3_600_000 !== 0)) throw new Error('edges must be whole hours');
  const { facet } = accumulators[request.accumulator];
  return edges.slice(1).map((end, i) => {
    if (end <= edges[i]!) throw new Error('edges must ascend');
    const partial = emptyPartial();
    for (const { timestamp, data } of samples) {
      if (timestamp >= edges[i]! && timestamp < end) addValue(partial, facet, dataValue(data, dataKey), timestamp);
    }
    return partial.count === 0 ? undefined : partial;
  });
}
