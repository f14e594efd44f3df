// Stored rows: which samples of a device are stored already, and where its rows end.
import { missing } from '../../structures/missing.ts';
import type { ComparedSample, Comparison, DeviceEnds } from '../sample-store.ts';
import type { DecodedChunks } from './chunks/decoded-chunks.ts';
import type { ShapeTables } from './memtables/shape-tables.ts';
import type { SeriesRegistry } from './rows/series-registry.ts';
import { isStored } from './rows/series.ts';

interface StoredRows {
  readonly registry: SeriesRegistry;
  readonly tables: ShapeTables;
  readonly decoded: DecodedChunks;
}

/** See `SampleStore.ends`. */
export function endsOf(deviceIds: readonly string[], { registry, tables }: StoredRows): DeviceEnds {
  const newest = new Float64Array(deviceIds.length).fill(Number.NEGATIVE_INFINITY);
  const nextOrders = new Float64Array(deviceIds.length);
  for (const [i, deviceId] of deviceIds.entries()) {
    const number = tables.numbers.numberOf(deviceId);
    if (number !== undefined) {
      newest[i] = tables.newestOf(number);
      nextOrders[i] = tables.marks.nextOrder(number);
    }
    const device = registry.devices.get(deviceId);
    if (device === undefined) continue;
    nextOrders[i] = Math.max(nextOrders[i]!, device.nextOrder);
    for (const series of device.topics.values()) newest[i] = Math.max(newest[i]!, series.newest);
  }
  return { newest, nextOrders };
}

const noneIdentical: ReadonlySet<number> = new Set();

/** Those of one instant follow each other, so that what is stored there is read once. */
function byInstant(samples: readonly ComparedSample[]): readonly number[] {
  const places = Array.from(samples.keys());
  const timeOf = (i: number) => samples[i]?.timestamp ?? Number.NaN;
  if (isAscending(samples)) return places;
  return places.sort((one, other) => timeOf(one) - timeOf(other));
}

function isAscending(samples: readonly ComparedSample[]): boolean {
  return samples.every(({ timestamp }, i) => timestamp >= (samples[i - 1]?.timestamp ?? timestamp));
}

/** See `SampleStore.compare`. */
export function comparison(
  deviceId: string,
  samples: readonly ComparedSample[],
  { registry, tables, decoded }: StoredRows,
): Comparison {
  const device = registry.devices.get(deviceId);
  const number = tables.numbers.numberOf(deviceId);
  let identical: Set<number> | undefined;
  if (device !== undefined || number !== undefined)
    for (const i of byInstant(samples)) {
      const sample = samples[i] ?? missing('sample');
      const series = device?.topics.get(sample.topic);
      const isFound =
        (series !== undefined && isStored(series, sample.timestamp, sample.data, decoded)) ||
        (number !== undefined && tables.has(number, sample));
      if (!isFound) continue;
      identical ??= new Set();
      identical.add(i);
    }
  const ofTables = number === undefined ? 0 : tables.marks.nextOrder(number);
  return {
    identical: identical ?? noneIdentical,
    nextOrder: Math.max(device?.nextOrder ?? 0, ofTables),
  };
}
