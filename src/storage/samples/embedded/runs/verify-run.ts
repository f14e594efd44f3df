// Verify run: reads every section of every page of a run, and compares its statistics with its rows.
import type { DataShape } from '../../../log/data-shape.ts';
import { DamagedChunk } from '../chunks/chunk.ts';
import { type ColumnKind, columnKindOf, fixedPageSections } from './page-format.ts';
import { type PageSlices, readStatistics } from './page-reader.ts';
import { createPageRoom, type CursorRows, newCursorRows, readPage } from './run-cursor.ts';
import type { RunFile, RunPage } from './run-file.ts';

/** Sums are of decimals that were added in another way. */
const sumTolerance = 1e-9;

interface RunFindings {
  readonly pages: number;
  /** Samples in readable pages. */
  readonly samples: number;
  /** In words for an operator, one for each page that is not as it was written. */
  readonly damage: readonly string[];
}

export function verifyRun(run: RunFile, shape: DataShape): RunFindings {
  const kinds = shape.leaves.map(({ kind }) => columnKindOf(kind));
  const rows = newCursorRows(kinds.length);
  const room = createPageRoom();
  const { head, rows: rowsOfPages } = run.index;
  const damage: string[] = [];
  let samples = 0;
  for (let page = 0; page < head.pages; page++) {
    const wrong = whatIsWrong(run, page, { kinds, rows, room });
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

function whatIsWrong(run: RunFile, number: number, parts: PageParts): string | undefined {
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
