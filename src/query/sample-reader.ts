// Sample reader: what queries read of the samples.
import type { Samples } from '../storage/samples/samples.ts';

export type ReadingStore = Pick<
  Samples,
  'samples' | 'exportSamples' | 'latestSample' | 'latest' | 'topics' | 'measuredKeys' | 'buckets'
>;
