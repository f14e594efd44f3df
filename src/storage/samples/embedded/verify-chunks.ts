// Checking a data folder without changing it: every section of every chunk and run, statistics and hours against rows, every journal frame.
import { join } from 'node:path';
import { type DataShape, ShapeInterner } from '../../log/data-shape.ts';
import type { JournalEndSeen } from '../../log/journal-recovery.ts';
import { journalStart } from '../../log/journal-segments.ts';
import type { StoreDamage } from '../sample-store.ts';
import { type StoreFindings, verifyJournal } from '../verify-journal.ts';
import { statisticsOf } from './chunks/chunk-writer.ts';
import { SeriesRegistry } from './rows/series-registry.ts';
import {
  type Chunk,
  DamagedChunk,
  hasSection,
  hoursSection,
  readSection,
  sectionCount,
  sections,
  statistics,
  statOf,
} from './chunks/chunk.ts';
import { columnAt, isNumeric } from './chunks/chunk-schema.ts';
import { columnHours, hoursOf } from './chunks/hour-section.ts';
import { storeLimits } from './store-limits.ts';
import {
  createInterners,
  devicePaths,
  devicesOf,
  type OpenedRun,
  openSegments,
} from './store-loader.ts';
import { openDeviceNumbers } from './memtables/device-numbers.ts';
import { RunFile, type RunPage } from './runs/run-file.ts';
import { dataAt, metaAt } from './rows/rows.ts';
import type { Series } from './rows/series.ts';
import { SealedRows } from './queries/sealed-rows.ts';
import { type ColumnKind, columnKindOf, fixedPageSections } from './runs/page-format.ts';
import { type PageSlices, readStatistics } from './runs/page-reader.ts';
import { createPageRoom, type CursorRows, newCursorRows, readPage } from './runs/run-cursor.ts';

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
    openDeviceNumbers({ paths, needed: devicesOf(runs), damaged: note });
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
  for (let section = 0; section < sectionCount(chunk.schema); section++)
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
  const { inShape } = columnAt(chunk.schema, column);
  const { numbers } = rows.column(column);
  const { shapeIds } = rows;
  const places: number[] = [];
  for (let row = 0; row < rows.length; row++)
    if (inShape[shapeIds?.[row] ?? 0] === true) places.push(row);
  const present = Float64Array.from(places, (row) => numbers[row]!);
  const hours = hasSection(chunk, hoursSection(chunk.schema, column))
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

interface RunFindings {
  readonly pages: number;
  /** Samples in readable pages. */
  readonly samples: number;
  /** In words for an operator, one for each page that is not as it was written. */
  readonly damage: readonly string[];
}

function verifyRun(run: RunFile, shape: DataShape): RunFindings {
  const kinds = shape.leaves.map(({ kind }) => columnKindOf(kind));
  const rows = newCursorRows(kinds.length);
  const room = createPageRoom();
  const { head, rows: rowsOfPages } = run.index;
  const damage: string[] = [];
  let samples = 0;
  for (let page = 0; page < head.pages; page++) {
    const wrong = whatIsWrongInRun(run, page, { kinds, rows, room });
    if (wrong === undefined) samples += rowsOfPages[page]!;
    else damage.push(`page ${page} with ${rowsOfPages[page]} samples: ${wrong}`);
  }
  return { pages: head.pages, samples, damage };
}

interface PageParts {
  readonly kinds: readonly ColumnKind[];
  /** Used again for each page. */
  readonly rows: CursorRows;
  readonly room: ReturnType<typeof createPageRoom>;
}

function whatIsWrongInRun(run: RunFile, number: number, parts: PageParts): string | undefined {
  try {
    const page = parts.room.load(run, number);
    for (let section = 0; section < run.index.head.sections; section++) page.section(section);
    const slices = readPage(page, parts.kinds, { rows: parts.rows, textId: () => 0 });
    return wrongOrder(slices, parts.rows) ?? wrongStatistics(page, slices, parts);
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
  { kinds, rows }: PageParts,
): string | undefined {
  for (const [column, kind] of kinds.entries()) {
    const content = page.section(fixedPageSections + kinds.length + column);
    if (content === undefined) continue;
    const told = readStatistics(content, kind, slices);
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
