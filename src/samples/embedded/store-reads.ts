// Store reads: each takes hold of what is visible at its beginning, and long ones pause so that other work is not delayed.
import type { Sample } from '../../model/sample.ts';
import type {
  BucketRequest,
  FoundSamples,
  SampleRange,
  SampleScan,
  SampleStore,
  UnreadableSamples,
} from '../sample-store.ts';
import { refuseUnreadable } from '../unreadable.ts';
import type { DecodedChunks } from './chunks/decoded-chunks.ts';
import type { ActiveReads } from './queries/active-reads.ts';
import { endsOf, queryBuckets, type Slices } from './queries/bucket-query.ts';
import {
  matchingSeries,
  type RowReader,
  type SampleWalk,
  walkSamples,
} from './queries/row-scan.ts';
import { measuredKeys } from './rows/key-statistics.ts';
import type { RowGroup } from './rows/rows.ts';
import { chunksBetween, type Device, groupsBetween, unreadableSamples } from './rows/series.ts';
import type { LostSegments, ReportedRange } from './segments/lost-segments.ts';

/** Samples built, and samples skipped, between two pauses. */
const samplesPerSlice = 1_000;
const skippedPerSlice = 50_000;

type StoreReads = Pick<
  SampleStore,
  'samples' | 'exportSamples' | 'topics' | 'buckets' | 'measuredKeys'
>;

export interface StoreReadsParts {
  /** Throws when the store is closed. */
  readonly deviceOf: (id: string) => Device | undefined;
  readonly decoded: DecodedChunks;
  readonly lost: LostSegments;
  readonly readers: ActiveReads;
  readonly slices: Slices;
}

export function createStoreReads(parts: StoreReadsParts): StoreReads {
  const { deviceOf } = parts;
  return {
    exportSamples: (range) => exportSamples(range, parts),
    samples: async (scan) => {
      const unreadable: UnreadableSamples[] = [];
      const report = (samples: UnreadableSamples) => void unreadable.push(samples);
      return { samples: await findSamples({ ...scan, unreadable: report }, parts), unreadable };
    },
    topics: async (deviceId) => {
      const device = deviceOf(deviceId);
      if (device === undefined) return [];
      const found = [...device.topics.values()].map(({ topic, newest }) => ({ topic, newest }));
      return found
        .filter(({ newest }) => Number.isFinite(newest))
        .sort((a, b) => b.newest - a.newest);
    },
    buckets: (request) => findBuckets(request, parts),
    measuredKeys: async (deviceId, topicsMax) => {
      const device = deviceOf(deviceId);
      if (device === undefined) return [];
      return measuredKeys(device, topicsMax);
    },
  };
}

async function* exportSamples(
  range: SampleRange,
  parts: StoreReadsParts,
): AsyncGenerator<FoundSamples> {
  const { deviceOf, lost, readers, slices } = parts;
  let unreadable: UnreadableSamples[] = [];
  const reported = {
    ...range,
    unreadable: (samples: UnreadableSamples) => void unreadable.push(samples),
  };
  const device = deviceOf(range.deviceId);
  const end = readers.begin();
  try {
    lost.report(reported);
    if (device !== undefined) reportDamaged(device, reported);
    const walk = device && walkSamples(device, range, 'oldest', readerOf(reported, parts));
    for (;;) {
      const samples = walk === undefined ? [] : takeSamples(walk, samplesPerSlice);
      if (samples.length > 0 || unreadable.length > 0) yield { samples, unreadable };
      if (samples.length === 0) return;
      unreadable = [];
      await slices.pause();
    }
  } finally {
    end();
  }
}

async function findSamples(
  scan: SampleScan & ReportedRange,
  parts: StoreReadsParts,
): Promise<Sample[]> {
  const { deviceOf, lost, readers, slices } = parts;
  const device = deviceOf(scan.deviceId);
  const samples: Sample[] = [];
  if (device === undefined) {
    lost.report(scan);
    return samples;
  }
  const end = readers.begin();
  try {
    const walk = walkSamples(device, scan, 'newest', readerOf(scan, parts));
    await skip(walk, scan.skip, slices);
    for (;;) {
      const wanted = Math.min(samplesPerSlice, scan.limit - samples.length);
      const taken = takeSamples(walk, wanted);
      samples.push(...taken);
      if (taken.length < wanted || samples.length === scan.limit) break;
      await slices.pause();
    }
  } finally {
    end();
  }
  // A full answer asks for nothing before its last sample.
  const last = samples.length === scan.limit ? samples.at(-1) : undefined;
  lost.report(last === undefined ? scan : { ...scan, from: last.timestamp });
  return samples;
}

async function findBuckets(
  request: BucketRequest,
  { deviceOf, decoded, lost, readers, slices }: StoreReadsParts,
): ReturnType<SampleStore['buckets']> {
  const { deviceIds, topic, edges } = request;
  const [deviceId] = deviceIds;
  // Any of the devices may have had samples there, and a number without them would be wrong.
  if (deviceId !== undefined)
    lost.report({
      deviceId,
      topic,
      ...endsOf(edges),
      unreadable: refuseUnreadable,
    });
  const end = readers.begin();
  try {
    return await queryBuckets(request, deviceOf, decoded, slices);
  } finally {
    end();
  }
}

/** A reader that reports what it leaves out, once each. */
function readerOf(
  { deviceId, unreadable }: ReportedRange,
  { decoded }: StoreReadsParts,
): RowReader {
  const reported = new Set<RowGroup['chunk']>();
  return {
    groupsBetween: (series, from, to) => groupsBetween(series, from, to, decoded),
    guarded: ({ chunk }, read) => {
      if (chunk === undefined) return read();
      return decoded.guarded(chunk, read);
    },
    left: (topic, { chunk }) => {
      if (chunk === undefined || reported.has(chunk)) return;
      reported.add(chunk);
      unreadable(unreadableSamples(deviceId, topic, chunk));
    },
  };
}

/** Reports what is known to be damaged in the range. */
function reportDamaged(device: Device, range: ReportedRange): void {
  const { from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY, deviceId } = range;
  for (const { topic, series } of matchingSeries(device, range.topic))
    for (const chunk of chunksBetween(series, from, to))
      if (chunk.damaged) range.unreadable(unreadableSamples(deviceId, topic, chunk));
}

async function skip(walk: SampleWalk, count: number, slices: Slices): Promise<void> {
  for (let left = count; left > 0; left -= skippedPerSlice) {
    walk.skip(Math.min(left, skippedPerSlice));
    if (left > skippedPerSlice) await slices.pause();
  }
}

function takeSamples(walk: SampleWalk, limit: number): Sample[] {
  const samples: Sample[] = [];
  while (samples.length < limit) {
    const sample = walk.next();
    if (sample === undefined) break;
    samples.push(sample);
  }
  return samples;
}
