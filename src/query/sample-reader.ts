// What queries need of the sample store: its read side.
import type { SampleStore } from '../samples/sample-store.ts';

export type ReadingStore = Pick<
  SampleStore,
  'samples' | 'exportSamples' | 'latestSample' | 'topics' | 'measuredKeys' | 'buckets'
>;
