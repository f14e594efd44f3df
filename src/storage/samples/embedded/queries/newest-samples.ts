// Newest samples: the newest sample of each topic of a device, kept until a row of the device comes.
import type { EpochMs } from '../../../../model/instant.ts';
import type { Json, JsonObject } from '../../../../model/json.ts';
import type { Sample } from '../../../../model/sample.ts';
import type { Origin } from '../rows/origin.ts';

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

interface NewestSamplesParts {
  /** Rises with every row of the device that becomes visible. */
  readonly orderOf: (deviceId: string) => number;
  readonly bytesMax: number;
}

export class NewestSamples {
  readonly #orderOf: NewestSamplesParts['orderOf'];
  readonly #bytesMax: number;
  readonly #kept = new Map<string, KeptDevice>();
  #bytes = 0;

  constructor({ orderOf, bytesMax }: NewestSamplesParts) {
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
export function noneLater(newest: readonly NewestSample[], until: EpochMs): boolean {
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
