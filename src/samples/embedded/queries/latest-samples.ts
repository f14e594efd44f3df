// Latest samples: the newest sample of each topic of many devices, read in one pass with pauses between devices.
import type { Sample } from '../../../model/sample.ts';
import type { LatestRequest } from '../../sample-store.ts';
import type { Device } from '../rows/series.ts';
import type { Slices } from './bucket-query.ts';
import { matchingSeries, type RowReader, walkSamples } from './row-scan.ts';

/** The longest turn of the main thread, in milliseconds of `Slices.clock`. */
const turnMsMax = 5;

export interface LatestParts {
  readonly deviceOf: (id: string) => Device | undefined;
  /** The reader of one device, which reports what it omits. */
  readonly readerOf: (deviceId: string) => RowReader;
  readonly slices: Slices;
}

/** One list per device, in the order of `deviceIds`, newest first; see `SampleStore.latest`. */
export async function latestSamples(
  { deviceIds, topics }: LatestRequest,
  { deviceOf, readerOf, slices }: LatestParts,
): Promise<Sample[][]> {
  const found: Sample[][] = [];
  let turnEnd = slices.clock() + turnMsMax;
  for (const id of deviceIds) {
    if (slices.clock() >= turnEnd) {
      await slices.pause();
      turnEnd = slices.clock() + turnMsMax;
    }
    const device = deviceOf(id);
    found.push(device === undefined ? [] : latestOf(device, topics, readerOf(id)));
  }
  return found;
}

function latestOf(
  device: Device,
  topics: readonly string[] | undefined,
  reader: RowReader,
): Sample[] {
  const wanted = topics === undefined ? [undefined] : new Set(topics);
  return [...wanted]
    .flatMap((topic) => matchingSeries(device, topic))
    .flatMap(({ topic, series: { newest } }) => {
      if (!Number.isFinite(newest)) return [];
      const range = { deviceId: device.id, topic };
      // What is newest may be unreadable; then the newest readable sample is looked for.
      const sample =
        walkSamples(device, { ...range, from: newest }, 'newest', reader).next() ??
        walkSamples(device, range, 'newest', reader).next();
      return sample === undefined ? [] : [sample];
    })
    .sort((a, b) => b.timestamp - a.timestamp || (a.topic < b.topic ? -1 : 1));
}
