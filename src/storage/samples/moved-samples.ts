// Moved samples: rows between two stores as entries, and sums that show whether all arrived.
import { hash } from 'node:crypto';
import { LeafValues, type ShapeInterner } from '../log/data-shape.ts';
import type { ReadEntry } from '../log/logged-entry.ts';
import { partitionOf } from '../../model/node-messages.ts';
import type { EpochMs } from '../../model/instant.ts';
import type { Sample, SampleEntry } from '../../model/sample.ts';
import type { UnreadableSamples } from './sample-store.ts';

export interface MovedSample extends Sample, Pick<SampleEntry, 'workspaceId' | 'dataFlowId'> {}

/** Samples of one device, in the order of time and then of storing. */
export interface MovedBatch {
  readonly samples: readonly MovedSample[];
  /** What is left where it is, because it cannot be read. */
  readonly unreadable: readonly UnreadableSamples[];
}

/** What a row takes in a journal, about; a value takes at most as much as a number. */
const rowBytes = 16;
const valueBytes = 9;

/** The same rows in the same calls become the same entries. */
export class MovedEntries {
  readonly #interner: ShapeInterner;
  readonly #storedAt: EpochMs;
  #position: number;
  #device: { readonly deviceId: string; readonly firstOrder: number } = {
    deviceId: '',
    firstOrder: 0,
  };

  constructor({
    shapes: interner,
    position: first,
    storedAt,
  }: {
    readonly shapes: ShapeInterner;
    /** Of the first entry. */
    readonly position: number;
    readonly storedAt: EpochMs;
  }) {
    this.#interner = interner;
    this.#storedAt = storedAt;
    this.#position = first;
  }

  /** The next entry. All samples of a device are given one after the other. */
  next(deviceId: string, samples: readonly MovedSample[]): ReadEntry {
    const firstOrder = this.#device.deviceId === deviceId ? this.#device.firstOrder : 0;
    this.#device = { deviceId, firstOrder: firstOrder + samples.length };
    const values = new LeafValues();
    const shapes = samples.map(({ data }) => this.#interner.shapeOf(data, values, undefined));
    const heads = samples.map(({ topic, timestamp, workspaceId, dataFlowId, meta }) => ({
      topic,
      timestamp,
      workspaceId,
      dataFlowId,
      stored: true,
      ...(meta !== undefined && { meta }),
    }));
    return {
      position: this.#position++,
      storedAt: this.#storedAt,
      deviceId,
      firstOrder,
      rows: { samples: heads, shapes, values },
      bytes:
        samples.length * rowBytes +
        values.length * valueBytes +
        values.texts.reduce((sum, { length }) => sum + length, 0),
    };
  }
}

/** What the rows of some devices add up to, in any order. */
export interface PartSum {
  readonly samples: number;
  /** Of the digests of all rows, modulo 2^64. */
  readonly checksum: string;
}

/** By the partition of the device, from 0 to 255; those without samples are missing. */
export type PartSums = ReadonlyMap<number, PartSum>;

const partitions = 256;

export class SumsOfSamples {
  readonly #counts = new Float64Array(partitions);
  readonly #checksums = new BigUint64Array(partitions);

  add(samples: readonly MovedSample[]): void {
    const [first] = samples;
    if (first === undefined) return;
    const part = partitionOf(first.deviceId);
    this.#counts[part]! += samples.length;
    // The array keeps 64 bits.
    for (const sample of samples) this.#checksums[part]! += digestOf(sample);
  }

  sums(): PartSums {
    return new Map(
      Array.from(this.#counts, (samples, part) => {
        const checksum = String(this.#checksums[part]);
        return [part, { samples, checksum }] as const;
      }).filter(([, { samples }]) => samples > 0),
    );
  }
}

/** As ClickHouse computes it: see `digestText`. */
function digestOf(sample: MovedSample): bigint {
  const { deviceId, topic, timestamp, workspaceId, dataFlowId, data, meta } = sample;
  const fields = [deviceId, topic, timestamp, workspaceId, dataFlowId ?? '', JSON.stringify(data)];
  const line = `${fields.join('\n')}\n${meta === undefined ? '' : JSON.stringify(meta)}`;
  return hash('md5', line, 'buffer').readBigUInt64LE(0);
}

/** The same as an expression of ClickHouse, for a row of `samples`. */
export const digestText =
  "reinterpretAsUInt64(substring(MD5(concat(device, '\\n', topic, '\\n', toString(ts), '\\n', workspace, '\\n', flow, '\\n', data, '\\n', meta)), 1, 8))";

/** Partitions whose samples are not the same in both, in ascending order. */
export function differingParts(one: PartSums, other: PartSums): readonly number[] {
  return [...new Set([...one.keys(), ...other.keys()])]
    .filter((part) => {
      const [a, b] = [one.get(part), other.get(part)];
      return a?.samples !== b?.samples || a?.checksum !== b?.checksum;
    })
    .sort((a, b) => a - b);
}
