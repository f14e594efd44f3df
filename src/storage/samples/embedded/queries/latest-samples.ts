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
  { deviceIds, topics, until, from }: LatestRequest,
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
  const isOld = ({ timestamp }: Sample) => from !== undefined && timestamp < from;
  const found: Sample[][] = [];
  let turnEnd = slices.clock() + turnMsMax;
  const rest = async () => {
    if (slices.clock() < turnEnd) return;
    await slices.pause();
    turnEnd = slices.clock() + turnMsMax;
  };
  for (const deviceId of deviceIds) {
    await rest();
    const known = newestOf(deviceId);
    if (known !== undefined && noneLater(known, until)) {
      const all = known.map(({ sample }) => sample).filter((sample) => !isOld(sample));
      found.push(wanted === undefined ? all : all.filter(({ topic }) => wanted.has(topic)));
      continue;
    }
    const ofDevice = topicsOf(deviceId).filter(({ topic }) => wanted?.has(topic) !== false);
    const reader = readerOf(deviceId);
    const newest: Sample[] = [];
    for (const { topic, newest: at } of ofDevice) {
      const newestOf = (bounds: { readonly from?: EpochMs; readonly to?: EpochMs }) =>
        walkSamples({ deviceId, topic, ...bounds }, 'newest', reader).next();
      let sample: Sample | undefined;
      if (from !== undefined) {
        if (at < from) continue;
        await rest();
        sample = newestOf({ from, to: until + 1 });
      } else {
        // What is newest may be unreadable, or in the future; then the newest other one is looked for.
        sample = at > until ? newestOf({ to: until + 1 }) : newestOf({ from: at });
        sample ??= newestOf({});
      }
      if (sample !== undefined) newest.push(sample);
    }
    found.push(newest.sort(newestFirst));
  }
  return found;
}

/** For sorting samples of several topics. */
export function newestFirst(a: Sample, b: Sample): number {
  return b.timestamp - a.timestamp || (a.topic < b.topic ? -1 : 1);
}
