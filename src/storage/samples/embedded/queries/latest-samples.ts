// Latest samples: the newest sample of each topic of many devices, read in one pass with pauses between devices.
import type { EpochMs } from '../../../../model/instant.ts';
import type { Sample } from '../../../../model/sample.ts';
import type { LatestRequest } from '../../sample-store.ts';
import type { Slices } from './bucket-query.ts';
import { type NewestSample, noneLater } from './newest-samples.ts';
import { type RowReader, walkSamples } from './row-scan.ts';

/** The longest turn of the main thread, in milliseconds of `Slices.clock`. */
const turnMsMax = 5;

/** One list per device, in the order of `deviceIds`, newest first; see `SampleStore.latest`. */
export async function latestSamples(
  { deviceIds, topics, until }: LatestRequest,
  {
    newestOf,
    topicsOf,
    readerOf,
    slices,
  }: {
    /** The newest sample of each topic, newest first; undefined when they must be looked for. */
    readonly newestOf: (deviceId: string) => readonly NewestSample[] | undefined;
    /** The topics of one device that have samples, and when the newest was. */
    readonly topicsOf: (
      deviceId: string,
    ) => readonly { readonly topic: string; readonly newest: EpochMs }[];
    /** The reader of one device, which reports what it omits. */
    readonly readerOf: (deviceId: string) => RowReader;
    readonly slices: Slices;
  },
): Promise<Sample[][]> {
  const wanted = topics && new Set(topics);
  const found: Sample[][] = [];
  let turnEnd = slices.clock() + turnMsMax;
  for (const deviceId of deviceIds) {
    if (slices.clock() >= turnEnd) {
      await slices.pause();
      turnEnd = slices.clock() + turnMsMax;
    }
    const known = newestOf(deviceId);
    if (known !== undefined && noneLater(known, until)) {
      const all = known.map(({ sample }) => sample);
      found.push(wanted === undefined ? all : all.filter(({ topic }) => wanted.has(topic)));
      continue;
    }
    const ofDevice = topicsOf(deviceId).filter(({ topic }) => wanted?.has(topic) !== false);
    const reader = readerOf(deviceId);
    const newest = ofDevice.flatMap(({ topic, newest: from }) => {
      const range = { deviceId, topic };
      const newestOf = (bounds: { readonly from?: EpochMs; readonly to?: EpochMs }) =>
        walkSamples({ ...range, ...bounds }, 'newest', reader).next();
      // What is newest may be unreadable, or in the future; then the newest other one is looked for.
      const first = from > until ? newestOf({ to: until + 1 }) : newestOf({ from });
      const sample = first ?? newestOf({});
      return sample === undefined ? [] : [sample];
    });
    found.push(newest.sort(newestFirst));
  }
  return found;
}

/** For sorting samples of several topics. */
export function newestFirst(a: Sample, b: Sample): number {
  return b.timestamp - a.timestamp || (a.topic < b.topic ? -1 : 1);
}
