// Walking the samples of a device through all its chunks at once, newest or oldest first.
import type { EpochMs } from '../../model/instant.ts';
import type { Sample } from '../../model/sample.ts';
import type { SampleRange } from '../sample-store.ts';
import { dataAt, metaAt, placeOf, type SortedRows } from './rows.ts';
import type { Device, Series } from './series.ts';

interface Source {
  readonly topic: string;
  readonly sorted: SortedRows;
  /** The places still to come, half-open. */
  low: number;
  high: number;
}

export type RowsBetween = (series: Series, from: EpochMs, to: EpochMs) => SortedRows[];

/** The samples of the range newest first, those of one instant in reverse order of storing, after leaving out `skip`. */
export function newestSamples(
  device: Device,
  range: SampleRange,
  rowsBetween: RowsBetween,
  skip: number,
  limit: number,
): Sample[] {
  const sources = sourcesOf(device, range, rowsBetween);
  const found: Sample[] = [];
  let toSkip = skip;
  while (found.length < limit) {
    const source = newestSource(sources);
    if (source === undefined) break;
    // With one source left, its places come as they are, and skipped ones are never looked at.
    if (sources.length === 1 && toSkip > 0) {
      const skipped = Math.min(toSkip, source.high - source.low);
      toSkip -= skipped;
      source.high -= skipped;
      continue;
    }
    source.high--;
    if (toSkip > 0) toSkip--;
    else found.push(sampleAt(device, source, source.high));
  }
  return found;
}

/** The next samples of the range oldest first, at most `limit` of them; call again with what `next` says until that is undefined. */
export function oldestSources(device: Device, range: SampleRange, rowsBetween: RowsBetween): () => Sample | undefined {
  const sources = sourcesOf(device, range, rowsBetween);
  return () => {
    const source = oldestSource(sources);
    return source === undefined ? undefined : sampleAt(device, source, source.low++);
  };
}

export function matchingSeries(device: Device, topic: string | undefined): Series[] {
  if (topic === undefined) return [...device.topics.values()];
  const series = device.topics.get(topic);
  return series === undefined ? [] : [series];
}

function sourcesOf(device: Device, range: SampleRange, rowsBetween: RowsBetween): Source[] {
  const from = range.from ?? Number.NEGATIVE_INFINITY;
  const to = range.to ?? Number.POSITIVE_INFINITY;
  const sources: Source[] = [];
  for (const series of matchingSeries(device, range.topic))
    for (const sorted of rowsBetween(series, from, to)) {
      const low = placeOf(sorted, from);
      const high = placeOf(sorted, to);
      if (low < high) sources.push({ topic: series.topic, sorted, low, high });
    }
  return sources;
}

function newestSource(sources: Source[]): Source | undefined {
  let best: Source | undefined;
  for (const source of sources) {
    if (source.low === source.high) continue;
    if (best === undefined || isBefore(best.sorted, best.high - 1, source.sorted, source.high - 1)) best = source;
  }
  return best;
}

function oldestSource(sources: Source[]): Source | undefined {
  let best: Source | undefined;
  for (const source of sources) {
    if (source.low === source.high) continue;
    if (best === undefined || isBefore(source.sorted, source.low, best.sorted, best.low)) best = source;
  }
  return best;
}

function isBefore(a: SortedRows, placeA: number, b: SortedRows, placeB: number): boolean {
  const timeA = a.timestamps[placeA]!;
  const timeB = b.timestamps[placeB]!;
  return timeA < timeB || (timeA === timeB && a.orders[placeA]! < b.orders[placeB]!);
}

function sampleAt(device: Device, { topic, sorted }: Source, place: number): Sample {
  const row = sorted.permutation === undefined ? place : sorted.permutation[place]!;
  const meta = metaAt(sorted.rows, row);
  const sample = { deviceId: device.id, topic, timestamp: sorted.timestamps[place]!, data: dataAt(sorted.rows, row) };
  return meta === undefined ? sample : { ...sample, meta };
}
