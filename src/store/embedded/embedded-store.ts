// The embedded sample store: one process, one folder, journal first, columns in memory and on disk.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Partial } from '../../accumulators/partial.ts';
import { shapeInterner } from '../../journal/data-shape.ts';
import { decodeEntry } from '../../journal/entry-decoding.ts';
import { openFollowerPositions } from '../../journal/follower-positions.ts';
import type { Frame } from '../../journal/frame.ts';
import { type Journal, openJournal } from '../../journal/journal.ts';
import type { JournalDamage } from '../../journal/journal-recovery.ts';
import type { EpochMs } from '../../model/instant.ts';
import { problem } from '../../model/problem.ts';
import type { Sample } from '../../model/sample.ts';
import type { BucketRequest, SampleRange, SampleStore } from '../sample-store.ts';
import { appending } from './appending.ts';
import { addRows } from './bucket-scan.ts';
import { readEntries, replaySamples } from './replay.ts';
import { matchingSeries, newestSamples, oldestSources } from './row-scan.ts';
import { type Device, newDevice, openRowsOf, seriesOf, sortedRowsOf } from './series.ts';

/** Samples in one batch of an export. */
const exportBatchMax = 1_000;

export interface EmbeddedStoreOptions {
  /** The store's own folder; made when it does not exist. One process at a time, which the caller sees to. */
  readonly directory: string;
  readonly now: () => EpochMs;
  /** See `journalLimits`. */
  readonly resumeBytesMax?: number;
  readonly resumeAgeMsMax?: number;
}

export interface EmbeddedStore extends SampleStore {
  /** What opening found damaged; a torn tail is the normal trace of a crash. */
  readonly damage: readonly JournalDamage[];
}

/** Opens or creates the store of the folder, replaying what was journalled. */
export async function openEmbeddedStore(options: EmbeddedStoreOptions): Promise<EmbeddedStore> {
  const journalDirectory = join(options.directory, 'journal');
  await mkdir(journalDirectory, { recursive: true });
  const shapes = shapeInterner();
  const devices = new Map<string, Device>();
  const followers = await openFollowerPositions(journalDirectory, options.now);
  let journal: Journal | undefined;
  let closed = false;

  function deviceOf(id: string): Device {
    let device = devices.get(id);
    if (device === undefined) {
      device = newDevice(id);
      devices.set(id, device);
    }
    return device;
  }

  function replayFrame(frame: Frame): void {
    const { head, rows } = decodeEntry(frame.payload, shapes);
    const device = deviceOf(head.device);
    let order = head.firstOrder;
    for (const row of rows()) {
      if (row.origin[4]) {
        const series = seriesOf(device, row.topic);
        openRowsOf(series, frame.position).append(row.timestamp, order, row.shape, row.values, 0, row.meta);
        series.newest = Math.max(series.newest, row.timestamp);
      }
      order++;
    }
    device.nextOrder = Math.max(device.nextOrder, order);
  }

  const intake = appending({
    journal: () => journal!,
    shapes,
    deviceOf,
    addRow: (series, { sample, shape, valuesAt }, values, order, position) => {
      const meta = sample.meta === undefined ? undefined : JSON.stringify(sample.meta);
      openRowsOf(series, position).append(sample.timestamp, order, shape, values, valuesAt, meta);
      series.newest = Math.max(series.newest, sample.timestamp);
    },
    afterEntry: () => {},
  });

  journal = await openJournal({
    directory: journalDirectory,
    now: options.now,
    visitFrom: 0,
    visit: replayFrame,
    onLost: intake.forgetPending,
    ...(options.resumeBytesMax === undefined ? {} : { resumeBytesMax: options.resumeBytesMax }),
    ...(options.resumeAgeMsMax === undefined ? {} : { resumeAgeMsMax: options.resumeAgeMsMax }),
  });
  const openedJournal = journal;

  function refuseWhenClosed(): void {
    if (closed) throw problem('stopping');
  }

  return {
    damage: openedJournal.damage,
    append: async (entry) => {
      refuseWhenClosed();
      return intake.append(entry);
    },
    samples: async (scan) => {
      refuseWhenClosed();
      const device = devices.get(scan.deviceId);
      return device === undefined ? [] : newestSamples(device, scan, sortedRowsOf, scan.skip, scan.limit);
    },
    exportSamples: (range) => exportSamples(devices.get(range.deviceId), range),
    latestSample: async (deviceId, topic) => {
      refuseWhenClosed();
      const device = devices.get(deviceId);
      if (device === undefined) return undefined;
      const newest = Math.max(...matchingSeries(device, topic).map((series) => series.newest));
      const range = { deviceId, from: newest, ...(topic === undefined ? {} : { topic }) };
      return newestSamples(device, range, sortedRowsOf, 0, 1)[0];
    },
    topics: async (deviceId) => {
      refuseWhenClosed();
      const all = [...(devices.get(deviceId)?.topics.values() ?? [])].map(({ topic, newest }) => ({ topic, newest }));
      return all.filter(({ newest }) => Number.isFinite(newest)).sort((a, b) => b.newest - a.newest);
    },
    buckets: async (request) => {
      refuseWhenClosed();
      return request.deviceIds.map((id) => partialsOf(devices.get(id), request));
    },
    replay: (since, wanted) => replaySamples(openedJournal, shapes, since, wanted),
    entriesFrom: (position) => readEntries(openedJournal, shapes, position),
    setFollowerPosition: followers.set,
    followerPosition: followers.get,
    removeFollower: followers.remove,
    get position() {
      return openedJournal.position();
    },
    close: async () => {
      if (closed) return;
      closed = true;
      await openedJournal.close();
      await followers.save(true);
    },
  };
}

async function* exportSamples(device: Device | undefined, range: SampleRange): AsyncGenerator<readonly Sample[]> {
  if (device === undefined) return;
  const next = oldestSources(device, range, sortedRowsOf);
  for (;;) {
    const batch: Sample[] = [];
    while (batch.length < exportBatchMax) {
      const sample = next();
      if (sample === undefined) break;
      batch.push(sample);
    }
    if (batch.length === 0) return;
    yield batch;
  }
}

function partialsOf(device: Device | undefined, request: BucketRequest): (Partial | undefined)[] {
  const { edges, topic } = request;
  const partials: (Partial | undefined)[] = new Array(edges.length - 1).fill(undefined);
  const series = device?.topics.get(topic);
  if (series !== undefined)
    for (const sorted of sortedRowsOf(series, edges[0]!, edges.at(-1)!)) addRows(partials, sorted, request);
  return partials;
}
