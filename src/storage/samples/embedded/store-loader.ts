// Store loader: reads the segments of the folder into series and tables, or checks all of them.
import { join } from 'node:path';
import { type DataShape, ShapeInterner } from '../../log/data-shape.ts';
import { DeviceMarks, ShapeTables } from './memtables/shape-tables.ts';
import { DeviceNumbers } from './memtables/device-numbers.ts';
import { checksumOf, deadRowsOf, TableRuns } from './memtables/table-runs.ts';
import { type Series, SeriesRegistry } from './rows/series.ts';
import {
  type Chunk,
  DamagedChunk,
  hasSection,
  isNumeric,
  readSection,
  SchemaInterner,
  sections,
  statistics,
  statOf,
} from './chunks/chunk.ts';
import { ActiveReads, type SegmentFile } from './segments/segment-file.ts';
import { RunFile, type RunIndex, type RunPage } from './runs/run-file.ts';
import {
  countedSegments,
  type Manifest,
  type Segment,
  segmentNumber,
  SegmentSet,
  type SegmentFolder,
} from './segments/segment-set.ts';
import type { StoreDamage } from '../sample-store.ts';
import type { Interners, OpenedSegment } from './segments/chunk-segment.ts';
import { storeLimits, type StoreLimits } from './store-limits.ts';
import { makeFolder } from '../../log/durable-file.ts';
import { journalStart } from '../../log/journal-block.ts';
import type { JournalEndSeen } from '../../log/journal-recovery.ts';
import { type StoreFindings, verifyJournal } from '../verify-journal.ts';
import { columnHours, hoursOf, statisticsOf } from './chunks/chunk-writer.ts';
import { dataAt, metaAt } from './rows/open-rows.ts';
import { DecodedChunks, SealedRows } from './queries/sealed-rows.ts';
import type { Slices } from './queries/bucket-query.ts';
import type { StoreSurroundings } from '../samples.ts';
import {
  type ColumnKind,
  columnKindOf,
  fixedPageSections,
  type PageSlices,
  SliceStatistics,
} from './runs/page.ts';
import { createPageRoom, type CursorRows, newCursorRows, readPage } from './runs/run-writing.ts';

interface OpenedSegments {
  readonly manifest: Manifest;
  readonly segments: Segment[];
  readonly runs: readonly OpenedRun[];
  readonly damage: readonly StoreDamage[];
}

interface OpenedRun {
  readonly file: SegmentFile;
  readonly index: RunIndex;
}

export function createInterners(registry: SeriesRegistry, shapes: ShapeInterner): Interners {
  return { shapes, schemas: new SchemaInterner(shapes), origins: registry.origins };
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
    const series = registry.deviceOf(deviceId).seriesOf(topic);
    series.addChunk(chunk);
    return { series, chunk };
  });
  const bytes = (of: OpenedSegment['placed']) =>
    of.reduce((sum, { chunk }) => sum + chunk.length, 0);
  const deadBytes = bytes(placed) - bytes(counted);
  return { file, isRun: run !== undefined, members, deadBytes, deadChunks };
}

/** The two copies of the numbers of the devices that the runs have. */
function devicePaths(directory: string): readonly [string, string] {
  return [join(directory, 'devices.numbers'), join(directory, 'devices.numbers.copy')];
}

/** How many devices the runs have. */
function devicesOf(runs: readonly OpenedRun[]): number {
  return runs.reduce((most, { index }) => Math.max(most, index.head.devices), 0);
}

export interface EmbeddedStoreOptions extends StoreSurroundings {
  /** Where the segments are; made when it does not exist. */
  readonly directory: string;
  readonly limits?: Partial<StoreLimits>;
  /** When long work pauses; tests let it pause at every look. */
  readonly slices?: Slices;
}

const turns: Slices = {
  clock: () => performance.now(),
  pause: () => new Promise((resolve) => setImmediate(resolve)),
};

/** What the store has in memory and in the files of its folder, and the limits that it works within. */
export class StoreContents {
  readonly limits: StoreLimits;
  readonly slices: Slices;
  readonly registry: SeriesRegistry;
  readonly interners: Interners;
  readonly tables: ShapeTables;
  readonly tableRuns: TableRuns;
  readonly decoded: DecodedChunks;
  readonly segments: SegmentSet;
  readonly readers = new ActiveReads();
  /** Called for every damaged place. */
  readonly damaged: (damage: StoreDamage) => void;
  /** Background work failed; what it works on stays where it is and is tried again later. */
  readonly failed: (error: unknown) => void;
  /** Called after a commit, which may have freed some of the journal. */
  readonly committed: () => Promise<void>;

  private constructor(
    { directory, slices = turns, damaged, failed, committed }: EmbeddedStoreOptions,
    limits: StoreLimits,
    registry: SeriesRegistry,
    interners: Interners,
    opened: OpenedSegments,
  ) {
    this.limits = limits;
    this.slices = slices;
    this.registry = registry;
    this.interners = interners;
    this.damaged = damaged;
    this.failed = failed;
    const { runs, manifest } = opened;
    const numbers = new DeviceNumbers(devicePaths(directory), devicesOf(runs), (path, reason) =>
      damaged({ kind: 'devices', path, reason }),
    );
    for (const number of manifest.retiring) retire(numbers, number);
    const maxOrder = runs.reduce((most, { index }) => Math.max(most, index.head.maxOrder), -1);
    const marks = new DeviceMarks(numbers.count(), maxOrder + 1);
    const { whenUnread } = this.readers;
    this.tables = new ShapeTables(numbers, marks, limits, whenUnread);
    this.tableRuns = new TableRuns(interners, limits.sectionCacheBytes, (path, reason) =>
      damaged({ kind: 'page', path, reason }),
    );
    this.#addRuns(opened);
    this.decoded = new DecodedChunks((chunk, reason) => {
      damaged({ kind: 'chunk', path: join(directory, chunk.file.name), reason });
    }, limits);
    this.segments = new SegmentSet(
      directory,
      opened,
      registry.removals,
      (added) => deadRowsOf(this.tables, added),
      whenUnread,
    );
    this.committed = () => committed(this.segments.manifest.replayFrom);
  }

  /** Reads what is sealed. Throws DamagedChunk when the numbers of devices in runs are lost. */
  static async open(options: EmbeddedStoreOptions): Promise<StoreContents> {
    const { directory, logStart, damaged } = options;
    await makeFolder(directory);
    const limits = { ...storeLimits, ...options.limits };
    const registry = new SeriesRegistry(limits);
    const interners = createInterners(registry, options.shapes);
    const opened = await openSegments(registry, { directory, interners, logStart, repair: true });
    for (const place of opened.damage) damaged(place);
    return new StoreContents(options, limits, registry, interners, opened);
  }

  /** To the tables. */
  #addRuns({ runs, manifest }: OpenedSegments): void {
    const { tables, tableRuns, interners } = this;
    const retired = [...tables.numbers.retired];
    // A crash may come between the numbers and the manifest: then the rows are counted again.
    const isCounted = manifest.retired === checksumOf(tables.numbers.retired);
    for (const { file, index } of runs.toSorted(
      (a, b) => a.index.head.coveredTo - b.index.head.coveredTo,
    )) {
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
  }
}

/** A crash may have come between a commit and the file of the numbers. */
function retire(numbers: DeviceNumbers, number: number): void {
  const deviceId = numbers.idOf(number);
  if (deviceId !== undefined && numbers.numberOf(deviceId) === number) numbers.retire(deviceId);
}

// Checking a data folder without changing it: every section of every chunk and run, statistics and hours against rows, every journal frame.

/** Reads the whole folder of a store that is not open. A damaged part is told and stepped over. */
export async function verifyStore(
  directory: string,
  seen?: JournalEndSeen,
): Promise<StoreFindings> {
  const registry = new SeriesRegistry(storeLimits);
  const interners = createInterners(registry, new ShapeInterner());
  const journalDirectory = join(directory, 'journal');
  const start = await journalStart(journalDirectory);
  const opened = await openSegments(registry, {
    directory: join(directory, 'segments'),
    interners,
    logStart: start,
    repair: false,
  });
  const { segments, manifest } = opened;
  const damage = [...opened.damage];
  const runs = verifyRuns(directory, opened.runs, interners.shapes);
  damage.push(...runs.damage);
  let chunks = 0;
  let sealedSamples = runs.samples;
  let hours = 0;
  for (const { file, members } of segments) {
    for (const { series, chunk } of members) {
      chunks++;
      const found = whatIsIn(chunk);
      if ('hours' in found) {
        sealedSamples += chunk.rows;
        hours += found.hours;
      } else {
        const reason = `${placeOf(series, chunk)}: ${found.wrong}`;
        damage.push({ kind: 'chunk', path: file.path, reason });
      }
    }
    file.close();
  }
  const journal = await verifyJournal(
    journalDirectory,
    interners.shapes,
    manifest.replayFrom,
    seen,
  );
  damage.push(...journal.damage);
  return {
    segments: segments.length,
    chunks,
    pages: runs.pages,
    sealedSamples,
    hours,
    ...journal,
    damage,
  };
}

/** Checks the runs, and that there are numbers for their devices. */
function verifyRuns(
  directory: string,
  runs: readonly OpenedRun[],
  shapes: ShapeInterner,
): { readonly pages: number; readonly samples: number; readonly damage: readonly StoreDamage[] } {
  const damage: StoreDamage[] = [];
  let pages = 0;
  let samples = 0;
  for (const { file, index } of runs) {
    const found = verifyRun(new RunFile(file, index), shapes.fromText(index.head.shape));
    pages += found.pages;
    samples += found.samples;
    for (const reason of found.damage) damage.push({ kind: 'page', path: file.path, reason });
  }
  const note = (path: string, reason: string): void =>
    void damage.push({ kind: 'devices', path, reason });
  const paths = devicePaths(join(directory, 'segments'));
  try {
    new DeviceNumbers(paths, devicesOf(runs), note);
  } catch (error) {
    if (!(error instanceof DamagedChunk)) throw error;
    note(paths[0], error.message);
  }
  return { pages, samples, damage };
}

function placeOf({ device, topic }: Series, { offset, length, ...chunk }: Chunk): string {
  const place = `bytes ${offset} to ${offset + length}, device ${device.id}, topic ${topic}`;
  const times = `from ${timeText(chunk.oldest)} to ${timeText(chunk.newest)}`;
  return `${place}, ${chunk.rows} samples ${times}`;
}

function timeText(at: number): string {
  return new Date(at).toISOString();
}

function whatIsIn(chunk: Chunk): { readonly hours: number } | { readonly wrong: string } {
  try {
    const wrong = whatIsWrong(chunk);
    if (wrong !== undefined) return { wrong };
    return {
      hours: hasSection(chunk, sections.hours) ? new SealedRows(chunk).hours().hours.length : 0,
    };
  } catch (error) {
    return { wrong: (error as Error).message };
  }
}

/**
 * Reads everything of the chunk and computes again what it says of its rows. Throws where it cannot
 * be read.
 */
function whatIsWrong(chunk: Chunk): string | undefined {
  for (let section = 0; section < chunk.schema.sectionCount; section++)
    if (hasSection(chunk, section)) readSection(chunk, section);
  const rows = new SealedRows(chunk);
  for (let row = 0; row < rows.length; row++) {
    dataAt(rows, row);
    metaAt(rows, row);
    if (row > 0 && rows.timestamps[row]! < rows.timestamps[row - 1]!)
      return 'its rows are not in the order of time';
  }
  if (rows.timestamps[0] !== chunk.oldest || rows.timestamps.at(-1) !== chunk.newest)
    return 'its times differ';
  if (
    hasSection(chunk, sections.hours) &&
    String(rows.hours().ends) !== String(hoursOf(rows.timestamps)?.ends)
  )
    return 'its hours differ from its rows';
  for (const [i, column] of chunk.schema.columns.entries())
    if (isNumeric(column.kind) && !statisticsFit(chunk, rows, i))
      return `the statistics of ${column.name} differ`;
  return undefined;
}

function statisticsFit(chunk: Chunk, rows: SealedRows, column: number): boolean {
  const { inShape } = chunk.schema.columnAt(column);
  const { numbers } = rows.column(column);
  const { shapeIds } = rows;
  const places: number[] = [];
  for (let row = 0; row < rows.length; row++)
    if (inShape[shapeIds?.[row] ?? 0] === true) places.push(row);
  const present = Float64Array.from(places, (row) => numbers[row]!);
  const hours = hasSection(chunk, chunk.schema.hoursSection(column))
    ? rows.columnHours(column)
    : undefined;
  if (hours !== undefined) {
    const again = columnHours(rows.hours(), {
      timestamps: rows.timestamps,
      numbers: present,
      places: Uint32Array.from(places),
    });
    for (const name of ['counts', 'sums', 'mins', 'maxs', 'slots'] as const)
      if (String(hours[name]) !== String(again[name])) return false;
  }
  const told = [statistics.count, statistics.sum, statistics.min, statistics.max].map((s) =>
    statOf(chunk, column, s),
  );
  return String(told) === String(statisticsOf(present));
}

// Verify run: reads every section of every page of a run, and compares its statistics with its rows.

/** Sums are of decimals that were added in another way. */
const sumTolerance = 1e-9;

function verifyRun(
  run: RunFile,
  shape: DataShape,
): {
  readonly pages: number;
  /** Samples in readable pages. */
  readonly samples: number;
  /** In words for an operator, one for each page that is not as it was written. */
  readonly damage: readonly string[];
} {
  const kinds = shape.leaves.map(({ kind }) => columnKindOf(kind));
  const rows = newCursorRows(kinds.length);
  const room = createPageRoom();
  const { head, rows: rowsOfPages } = run.index;
  const damage: string[] = [];
  let samples = 0;
  for (let page = 0; page < head.pages; page++) {
    const wrong = whatIsWrongInRun(run, page, kinds, rows, room);
    if (wrong === undefined) samples += rowsOfPages[page]!;
    else damage.push(`page ${page} with ${rowsOfPages[page]} samples: ${wrong}`);
  }
  return { pages: head.pages, samples, damage };
}

/** `rows` and `room` are used again for each page. */
function whatIsWrongInRun(
  run: RunFile,
  number: number,
  kinds: readonly ColumnKind[],
  rows: CursorRows,
  room: ReturnType<typeof createPageRoom>,
): string | undefined {
  try {
    const page = room.load(run, number);
    for (let section = 0; section < run.index.head.sections; section++) page.section(section);
    const slices = readPage(page, kinds, { rows, textId: () => 0 });
    return wrongOrder(slices, rows) ?? wrongStatistics(page, slices, kinds, rows);
  } catch (error) {
    if (
      error instanceof DamagedChunk ||
      error instanceof RangeError ||
      error instanceof SyntaxError
    )
      return error.message;
    throw error;
  }
}

function wrongOrder({ count, devices, starts }: PageSlices, { timestamps }: CursorRows) {
  for (let slice = 0; slice < count; slice++) {
    if (slice > 0 && devices[slice]! < devices[slice - 1]!) return 'its devices are not in order';
    for (let row = starts[slice]! + 1; row < starts[slice + 1]!; row++)
      if (timestamps[row]! < timestamps[row - 1]!) return 'its rows are not in the order of time';
  }
  return undefined;
}

function wrongStatistics(
  page: RunPage,
  slices: PageSlices,
  kinds: readonly ColumnKind[],
  rows: CursorRows,
): string | undefined {
  for (const [column, kind] of kinds.entries()) {
    const content = page.section(fixedPageSections + kinds.length + column);
    if (content === undefined) continue;
    const told = new SliceStatistics(content, kind, slices);
    for (let slice = 0; slice < slices.count; slice++) {
      const values = rows.columns[column]!.subarray(slices.starts[slice], slices.starts[slice + 1]);
      const sum = values.reduce((total, value) => total + value, 0);
      const isSum = Math.abs(told.sums[slice]! - sum) <= sumTolerance * Math.max(1, Math.abs(sum));
      const isRange =
        told.mins[slice] === Math.min(...values) && told.maxs[slice] === Math.max(...values);
      if (!isSum || !isRange) return `the statistics of column ${column} differ`;
    }
  }
  return undefined;
}
