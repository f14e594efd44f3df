// Store loader: reads the segments of the folder into series and tables.
import { join } from 'node:path';
import { rename, unlink } from 'node:fs/promises';
import type { ShapeInterner } from '../../log/data-shape.ts';
import { ShapeTables, DeviceMarks } from './memtables/shape-tables.ts';
import { type DeviceNumbers, openDeviceNumbers } from './memtables/device-numbers.ts';
import { checksumOf, TableRuns } from './memtables/table-runs.ts';
import type { SeriesRegistry } from './rows/series-registry.ts';
import { createSchemaInterner } from './chunks/chunk-schema.ts';
import type { ActiveReads, SegmentFile } from './segments/segment-file.ts';
import type { RunIndex } from './runs/run-file.ts';
import {
  chunkName,
  emptyManifest,
  type Manifest,
  numberNamed,
  readManifest,
  segmentNumber,
  type Times,
  timesIn,
  timesOf,
  unknownRetired,
  writeManifest,
} from './segments/manifest.ts';
import type { StoreDamage } from '../sample-store.ts';
import { type Interners, type OpenedSegment, openSegment } from './segments/chunk-segment.ts';
import type { Segment } from './segments/segment-set.ts';
import { addChunk, seriesOf } from './rows/series.ts';
import type { StoreLimits } from './store-limits.ts';
import { syncDirectory } from '../../log/durable-file.ts';
import { namesIn } from '../../log/journal-segments.ts';
import { DamagedChunk } from './chunks/chunk.ts';

interface OpenedSegments {
  readonly manifest: Manifest;
  readonly segments: Segment[];
  readonly runs: readonly OpenedRun[];
  readonly damage: readonly StoreDamage[];
}

export interface OpenedRun {
  readonly file: SegmentFile;
  readonly index: RunIndex;
}

export function createInterners(registry: SeriesRegistry, shapes: ShapeInterner): Interners {
  return { shapes, schemas: createSchemaInterner(shapes), origins: registry.origins };
}

/** Opens the segments that count and adds their chunks to the registry; see `countedSegments`. */
export async function openSegments(
  registry: SeriesRegistry,
  folder: SegmentFolder,
): Promise<OpenedSegments> {
  const { manifest, segments, damage } = await countedSegments(folder);
  return {
    manifest,
    segments: segments.map((segment) => addToCatalogue(segment, manifest, registry)),
    runs: segments.flatMap(({ file, run }) => (run === undefined ? [] : [{ file, index: run }])),
    damage,
  };
}

function addToCatalogue(
  { file, placed, run }: OpenedSegment,
  manifest: Manifest,
  registry: SeriesRegistry,
): Segment {
  const number = segmentNumber(file.name);
  const deadChunks = [...(manifest.deadChunks[file.name] ?? [])];
  const dead = new Set(deadChunks);
  const counted = placed.filter(
    ({ deviceId, chunk }) =>
      number >= (manifest.droppedDevices[deviceId]?.segment ?? 0) && !dead.has(chunk.offset),
  );
  const members = counted.map(({ deviceId, topic, chunk }) => {
    const series = seriesOf(registry.deviceOf(deviceId), topic);
    addChunk(series, chunk);
    return { series, chunk };
  });
  const bytes = (of: OpenedSegment['placed']) =>
    of.reduce((sum, { chunk }) => sum + chunk.length, 0);
  const deadBytes = bytes(placed) - bytes(counted);
  return { file, isRun: run !== undefined, members, deadBytes, deadChunks };
}

/** The two copies of the numbers of the devices that the runs have. */
export function devicePaths(directory: string): readonly [string, string] {
  return [join(directory, 'devices.numbers'), join(directory, 'devices.numbers.copy')];
}

/** How many devices the runs have. */
export function devicesOf(runs: readonly OpenedRun[]): number {
  return runs.reduce((most, { index }) => Math.max(most, index.head.devices), 0);
}

interface OpenedTables {
  readonly tables: ShapeTables;
  readonly tableRuns: TableRuns;
}

/** The tables with the runs of the folder. Throws DamagedChunk when the numbers of their devices are lost. */
export function openTables(
  {
    directory,
    interners,
    limits,
    damaged,
    whenUnread,
  }: {
    readonly directory: string;
    readonly interners: Interners;
    readonly limits: StoreLimits;
    readonly damaged: (damage: StoreDamage) => void;
    /** See `ActiveReads`. */
    readonly whenUnread: ActiveReads['whenUnread'];
  },
  { runs, manifest }: OpenedSegments,
): OpenedTables {
  const numbers = openDeviceNumbers({
    paths: devicePaths(directory),
    needed: devicesOf(runs),
    damaged: (path, reason) => damaged({ kind: 'devices', path, reason }),
  });
  for (const number of manifest.retiring) retire(numbers, number);
  const maxOrder = runs.reduce((most, { index }) => Math.max(most, index.head.maxOrder), -1);
  const marks = new DeviceMarks(numbers.count(), maxOrder + 1);
  const tables = new ShapeTables(numbers, marks, limits, whenUnread);
  const tableRuns = new TableRuns({
    interners,
    cacheBytes: limits.sectionCacheBytes,
    damaged: (path, reason) => damaged({ kind: 'page', path, reason }),
  });
  const inOrder = runs.toSorted((a, b) => a.index.head.coveredTo - b.index.head.coveredTo);
  const retired = [...numbers.retired];
  // A crash may come between the numbers and the manifest: then the rows are counted again.
  const isCounted = manifest.retired === checksumOf(numbers.retired);
  for (const { file, index } of inOrder) {
    const { origins, topic, shape } = index.head;
    const table = tables.open(
      { shape: interners.shapes.fromText(shape), topic },
      origins[0]?.[0] ?? '',
    );
    table.addRun(
      isCounted
        ? tableRuns.open(file, index, manifest.deadRows[file.name])
        : tableRuns.open(file, index).without(retired),
    );
  }
  return { tables, tableRuns };
}

/** A crash may have come between a commit and the file of the numbers. */
function retire({ idOf, numberOf, retire: take }: DeviceNumbers, number: number): void {
  const deviceId = idOf(number);
  if (deviceId !== undefined && numberOf(deviceId) === number) take(deviceId);
}

// Which segment files of the folder count: those of the manifest, those that are newer than it, and what becomes of the others.

interface CountedSegments {
  readonly manifest: Manifest;
  readonly segments: readonly OpenedSegment[];
  readonly damage: readonly StoreDamage[];
}

const orphanSuffix = '.orphan';

interface SegmentFolder {
  readonly directory: string;
  readonly interners: Interners;
  /** The first position in the files of the log; undefined without any. */
  readonly logStart: number | undefined;
  /** Whether the folder may be changed. */
  readonly repair: boolean;
}

/**
 * Opens the segments that count. A file that the manifest does not name is never deleted: one with
 * a newer number counts, because a commit was under way or the manifest is an older copy; any other
 * is moved aside as `*.orphan`. Changes the folder only when `repair` is set. Throws
 * OtherFormatError for files of another format.
 */
async function countedSegments(folder: SegmentFolder): Promise<CountedSegments> {
  const { directory, interners, logStart, repair } = folder;
  const files = await namesIn(directory);
  const names = files.filter((name) => /^\d{10}\.segment$/.test(name)).sort();
  const found = await readManifest(directory);
  // Before the first commit there is no manifest, and everything is in the journal.
  const isNew = found === 'missing' && names.length === 0 && (logStart ?? 0) === 0;
  const isTrusted = isNew || typeof found !== 'string';
  const manifest =
    typeof found === 'string' ? { ...emptyManifest, replayFrom: logStart ?? 0 } : found;
  const named = [...manifest.segments, ...manifest.lost];
  const unnamed = names.filter((name) => !named.includes(name) && !manifest.removed.includes(name));
  const isNewer = (name: string): boolean =>
    !isTrusted || segmentNumber(name) >= manifest.nextSegment;
  const ofManifest = openAll(directory, named, interners);
  const newer = openAll(directory, unnamed.filter(isNewer), interners);
  const opened = [...ofManifest.opened, ...newer.opened];
  const replaced = new Set(opened.flatMap(({ replaces }) => replaces));
  const retiring = [...replaced].flatMap((name) => numberNamed(name) ?? []);
  for (const { file } of opened) if (replaced.has(file.name)) file.close();
  const segments = opened.filter(({ file }) => !replaced.has(file.name));
  const lost = ofManifest.unreadable.filter(({ name }) => !replaced.has(name));
  const aside = [
    ...unnamed
      .filter((name) => !isNewer(name) && !replaced.has(name))
      .map((name) => ({ name, reason: 'the manifest does not name it' })),
    ...newer.unreadable.filter(({ name }) => !replaced.has(name)),
  ];
  const damage: StoreDamage[] = [
    ...manifestDamage(join(directory, 'manifest.json'), isNew ? 'new' : found, logStart),
    ...lost.map(({ name, reason }) => ({
      kind: 'segment' as const,
      path: join(directory, name),
      reason,
    })),
    ...aside.map(({ name, reason }) => ({
      kind: 'segment' as const,
      path: join(directory, name),
      reason: `${reason}; ${repair ? 'moved' : 'the next start moves it'} aside as ${name}${orphanSuffix}`,
    })),
  ];
  const next: Manifest = {
    ...manifest,
    retiring: [...new Set([...manifest.retiring, ...retiring])],
    deadChunks: deadChunksOf(manifest, segments, replaced),
    nextSegment: Math.max(manifest.nextSegment, ...files.map(numberBehind)),
    segments: segments.map(({ file }) => file.name),
    lost: lost.map(({ name }) => name),
    times: timesOfAll(manifest, segments),
    // Of segments that the manifest does not name it is not known which rows count no more.
    retired: newer.opened.length > 0 ? unknownRetired : manifest.retired,
    removed: [...manifest.removed, ...names.filter((name) => replaced.has(name))],
  };
  // The first manifest comes before the first segment: without it, one that a crash left alone
  // would look like a lost manifest.
  const isChanged =
    found === 'missing' ||
    !isTrusted ||
    String(next.segments) !== String(manifest.segments) ||
    aside.length > 0;
  if (repair) {
    if (isChanged)
      damage.push(
        ...(await putRight(
          directory,
          next,
          aside.map(({ name }) => name),
        )),
      );
    await clearAway(directory, files, next.removed);
  }
  return { manifest: next, segments, damage };
}

/** Those of the manifest, and those that a segment replaces which the manifest does not know yet. */
function deadChunksOf(
  { deadChunks }: Manifest,
  segments: readonly OpenedSegment[],
  replaced: ReadonlySet<string>,
): Manifest['deadChunks'] {
  const dead = segments.map(({ file: { name }, placed }): [string, number[]] => {
    const known = new Set(deadChunks[name]);
    for (const { chunk } of placed)
      if (replaced.has(chunkName(name, chunk.offset))) known.add(chunk.offset);
    return [name, [...known]];
  });
  return Object.fromEntries(dead.filter(([, offsets]) => offsets.length > 0));
}

/** As they are read, and of lost segments as the manifest has them. */
function timesOfAll(manifest: Manifest, segments: readonly OpenedSegment[]): Record<string, Times> {
  const read = segments.map(({ file, placed, run }): [string, Times] => [
    file.name,
    run === undefined ? timesOf(placed) : [run.head.oldest, run.head.newest],
  ]);
  return {
    ...timesIn(manifest, [...manifest.segments, ...manifest.lost]),
    ...Object.fromEntries(read),
  };
}

function openAll(
  directory: string,
  names: readonly string[],
  interners: Interners,
): {
  readonly opened: OpenedSegment[];
  readonly unreadable: { readonly name: string; readonly reason: string }[];
} {
  const opened: OpenedSegment[] = [];
  const unreadable: { name: string; reason: string }[] = [];
  for (const name of names) {
    try {
      opened.push(openSegment(join(directory, name), interners));
    } catch (error) {
      const missing = (error as NodeJS.ErrnoException).code === 'ENOENT';
      if (!missing && !(error instanceof DamagedChunk)) throw error;
      unreadable.push({ name, reason: missing ? 'The file is missing' : (error as Error).message });
    }
  }
  return { opened, unreadable };
}

function manifestDamage(
  path: string,
  found: Manifest | 'missing' | 'damaged' | 'new',
  journalStart: number | undefined,
): StoreDamage[] {
  if (found === 'new') return [];
  const told = (reason: string): StoreDamage[] => [{ kind: 'manifest', path, reason }];
  if (found === 'missing') return told('The file is missing; every segment in the folder counts');
  if (found === 'damaged')
    return told('The checksum does not fit; every segment in the folder counts');
  if (journalStart === undefined || journalStart <= found.replayFrom) return [];
  // The journal is dropped only behind the manifest, so this one is an older copy, or files of the
  // journal are gone.
  return told(
    `It is older than the journal, whose entries from ${found.replayFrom} to ${journalStart} are not there; every newer segment in the folder counts`,
  );
}

/** The smallest number that no segment file of the folder has, whatever became of it. */
function numberBehind(name: string): number {
  return /^\d{10}\.segment/.test(name) ? segmentNumber(name) + 1 : 0;
}

/**
 * Moves files aside and writes the manifest. What the disk refuses now is tried again at the next
 * start.
 */
async function putRight(
  directory: string,
  manifest: Manifest,
  aside: readonly string[],
): Promise<StoreDamage[]> {
  try {
    for (const name of aside)
      await rename(join(directory, name), join(directory, name + orphanSuffix));
    if (aside.length > 0) await syncDirectory(directory);
    await writeManifest(directory, manifest);
    return [];
  } catch (error) {
    return [
      {
        kind: 'manifest',
        path: join(directory, 'manifest.json'),
        reason: `Not written: ${String(error)}`,
      },
    ];
  }
}

/**
 * Removes files whose contents are in other segments or were dropped, and halves of segments that
 * were never committed.
 */
async function clearAway(
  directory: string,
  files: readonly string[],
  removed: readonly string[],
): Promise<void> {
  const halves = files.filter((name) => /^\.\d{10}\.segment\.new$/.test(name));
  for (const name of [...removed, ...halves]) {
    await unlink(join(directory, name)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
  }
}
