// The reads of the store: each takes hold of what is visible at its beginning, and long ones leave the event loop room.
import type { Sample } from '../../model/sample.ts';
import type { SampleRange, SampleStore } from '../sample-store.ts';
import { refuseUnreadable } from '../unreadable.ts';
import { queryBuckets, type Slices } from './queries/bucket-query.ts';
import type { DecodedChunks } from './chunks/decoded-chunks.ts';
import type { LostSegments } from './segments/lost-segments.ts';
import { measuredKeys } from './rows/key-statistics.ts';
import type { Readers } from './queries/active-reads.ts';
import {
  matchingSeries,
  type RowReader,
  type SampleWalk,
  walkSamples,
} from './queries/row-scan.ts';
import type { RowGroup } from './rows/rows.ts';
import { chunksBetween, type Device, groupsBetween, unreadableSamples } from './rows/series.ts';

/** Samples built, and samples skipped, between two pauses. */
const samplesPerSlice = 1_000;
const skippedPerSlice = 50_000;

type Reading = Pick<
  SampleStore,
  'samples' | 'exportSamples' | 'latestSample' | 'topics' | 'buckets' | 'measuredKeys'
>;

export interface ReadingParts {
  /** Throws when the store is closed. */
  readonly deviceOf: (id: string) => Device | undefined;
  readonly decoded: DecodedChunks;
  readonly lost: LostSegments;
  readonly readers: Readers;
  readonly slices: Slices;
}

export function reading({ deviceOf, decoded, lost, readers, slices }: ReadingParts): Reading {
  /** A reader that tells what it leaves out, once each. */
  function readerOf({
    deviceId,
    unreadable,
  }: Pick<SampleRange, 'deviceId' | 'unreadable'>): RowReader {
    const told = new Set<RowGroup['chunk']>();
    return {
      groupsBetween: (series, from, to) => groupsBetween(series, from, to, decoded),
      guarded: ({ chunk }, read) => (chunk === undefined ? read() : decoded.guarded(chunk, read)),
      left: (topic, { chunk }) => {
        if (chunk === undefined || told.has(chunk)) return;
        told.add(chunk);
        unreadable?.(unreadableSamples(deviceId, topic, chunk));
      },
    };
  }

  /** Tells what is known to be unreadable in the range. */
  function tellKnown(device: Device, range: SampleRange): void {
    const {
      from = Number.NEGATIVE_INFINITY,
      to = Number.POSITIVE_INFINITY,
      unreadable,
      deviceId,
    } = range;
    for (const { topic, series } of matchingSeries(device, range.topic))
      for (const chunk of chunksBetween(series, from, to))
        if (chunk.damaged) unreadable?.(unreadableSamples(deviceId, topic, chunk));
  }

  async function skip(walk: SampleWalk, count: number): Promise<void> {
    for (let left = count; left > 0; left -= skippedPerSlice) {
      walk.skip(Math.min(left, skippedPerSlice));
      if (left > skippedPerSlice) await slices.pause();
    }
  }

  async function* batchesOf(range: SampleRange): AsyncGenerator<readonly Sample[]> {
    const device = deviceOf(range.deviceId);
    lost.tell(range);
    if (device === undefined) return;
    const end = readers.begin();
    try {
      tellKnown(device, range);
      const walk = walkSamples(device, range, 'oldest', readerOf(range));
      for (;;) {
        const batch = takeSamples(walk, samplesPerSlice);
        if (batch.length === 0) return;
        yield batch;
        await slices.pause();
      }
    } finally {
      end();
    }
  }

  return {
    exportSamples: batchesOf,
    samples: async (scan) => {
      const device = deviceOf(scan.deviceId);
      if (device === undefined) {
        lost.tell(scan);
        return [];
      }
      const end = readers.begin();
      try {
        const walk = walkSamples(device, scan, 'newest', readerOf(scan));
        await skip(walk, scan.skip);
        const samples: Sample[] = [];
        for (;;) {
          const wanted = Math.min(samplesPerSlice, scan.limit - samples.length);
          const taken = takeSamples(walk, wanted);
          samples.push(...taken);
          if (taken.length < wanted || samples.length === scan.limit) {
            // Behind a full answer nothing was asked for.
            const last = samples.length === scan.limit ? samples.at(-1) : undefined;
            lost.tell(last === undefined ? scan : { ...scan, from: last.timestamp });
            return samples;
          }
          await slices.pause();
        }
      } finally {
        end();
      }
    },
    latestSample: async (deviceId, topic, unreadable) => {
      const device = deviceOf(deviceId);
      const range = { deviceId, ...(topic === undefined ? {} : { topic }), unreadable };
      if (device === undefined) {
        lost.tell(range);
        return undefined;
      }
      const reader = readerOf({ deviceId, unreadable });
      const newest = Math.max(...matchingSeries(device, topic).map(({ series }) => series.newest));
      // The newest chunk may be damaged; then the newest readable sample is asked for.
      const found =
        walkSamples(device, { ...range, from: newest }, 'newest', reader).next() ??
        walkSamples(device, range, 'newest', reader).next();
      lost.tell(found === undefined ? range : { ...range, from: found.timestamp });
      return found;
    },
    topics: async (deviceId) => {
      const device = deviceOf(deviceId);
      if (device === undefined) return [];
      const found = [...device.topics.values()].map(({ topic, newest }) => ({ topic, newest }));
      return found
        .filter(({ newest }) => Number.isFinite(newest))
        .sort((a, b) => b.newest - a.newest);
    },
    buckets: async (request) => {
      const [deviceId] = request.deviceIds;
      const [from, to] = [request.edges[0]!, request.edges.at(-1)!];
      // Any of the devices may have had samples there, and a number without them would be wrong.
      if (deviceId !== undefined)
        lost.tell({ deviceId, topic: request.topic, from, to, unreadable: refuseUnreadable });
      const end = readers.begin();
      try {
        return await queryBuckets(request, deviceOf, decoded, slices);
      } finally {
        end();
      }
    },
    measuredKeys: async (deviceId, topicsMax) => {
      const device = deviceOf(deviceId);
      return device === undefined ? [] : measuredKeys(device, topicsMax);
    },
  };
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
