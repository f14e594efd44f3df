// Newest samples: the newest sample of each topic of a device, kept until a row of the device comes.
import type { EpochMs } from '../../../../model/instant.ts';
import type { Json, JsonObject } from '../../../../model/json.ts';
import type { Sample } from '../../../../model/sample.ts';
import type { Origin } from '../rows/rows.ts';
import type { LatestRequest } from '../../sample-store.ts';
import type { Slices } from './bucket-query.ts';
import { type RowReader, walkSamples } from './row-scan.ts';

/** Topics of a device that is kept; others have their rows read. */
export const keptTopicsMax = 16;
/** What an item of a list, an object or a number takes in memory, about. */
const itemBytes = 24;
const deviceBytes = 200;

export interface NewestSample {
  readonly sample: Sample;
  readonly origin: Origin;
}

interface KeptDevice {
  /** See `NewestSamplesParts.orderOf`. */
  readonly order: number;
  /** Newest first, one for each topic of the device. */
  readonly newest: readonly NewestSample[];
  readonly bytes: number;
}

export class NewestSamples {
  readonly #orderOf: (deviceId: string) => number;
  readonly #bytesMax: number;
  readonly #kept = new Map<string, KeptDevice>();
  #bytes = 0;

  constructor(
    /** Rises with every row of the device that becomes visible. */
    orderOf: (deviceId: string) => number,
    bytesMax: number,
  ) {
    this.#orderOf = orderOf;
    this.#bytesMax = bytesMax;
  }

  /** What is kept takes this in memory, about. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * The newest sample of each topic, newest first; undefined when they must be read. Their data must
   * not be changed, and cannot be.
   */
  of(deviceId: string): readonly NewestSample[] | undefined {
    const kept = this.#kept.get(deviceId);
    if (kept === undefined) return undefined;
    if (kept.order === this.#orderOf(deviceId) && kept.newest.every(isVisible)) return kept.newest;
    this.forget(deviceId);
    return undefined;
  }

  /** Keeps what was read of all topics of the device, in the turn in which it was read. */
  keep(deviceId: string, newest: readonly NewestSample[]): void {
    this.forget(deviceId);
    const bytes = newest.reduce((sum, { sample }) => sum + frozenBytes(sample), deviceBytes);
    if (bytes > this.#bytesMax / 2) return;
    this.#kept.set(deviceId, { order: this.#orderOf(deviceId), newest, bytes });
    this.#bytes += bytes;
    for (const oldest of this.#kept.keys()) {
      if (this.#bytes <= this.#bytesMax) break;
      this.forget(oldest);
    }
  }

  /** Call when rows of the device were dropped. */
  forget(deviceId: string): void {
    const kept = this.#kept.get(deviceId);
    if (kept === undefined) return;
    this.#kept.delete(deviceId);
    this.#bytes -= kept.bytes;
  }

  /** Call when rows may be visible that were not, or the other way around. */
  clear(): void {
    this.#kept.clear();
    this.#bytes = 0;
  }
}

function isVisible({ sample, origin }: NewestSample): boolean {
  return sample.timestamp >= origin.keepFrom;
}

/** The newest sample when every topic has one that is not dated later than `until`. */
function noneLater(newest: readonly NewestSample[], until: EpochMs): boolean {
  return newest.every(({ sample }) => sample.timestamp <= until);
}

/** Freezes the data, which several readers get; returns about how many bytes it takes. */
function frozenBytes({ topic, data, meta }: Sample): number {
  return topic.length + frozen(data) + (meta === undefined ? 0 : frozen(meta));
}

function frozen(value: Json | JsonObject): number {
  if (typeof value === 'string') return itemBytes + value.length;
  if (typeof value !== 'object' || value === null) return itemBytes;
  Object.freeze(value);
  let bytes = itemBytes;
  for (const inner of Object.values(value)) bytes += itemBytes + frozen(inner);
  return bytes;
}

// Latest samples: the newest sample of each topic of many devices, read in one pass with pauses between devices.

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
