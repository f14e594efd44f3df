// Run cursor: walks the slices of a run in order, with whole pages decoded, for merging and checking.
import type { DataShape } from '../../../log/data-shape.ts';
import {
  type ColumnKind,
  columnKindOf,
  fixedPageSections,
  pageRowsMax,
  pageSections,
} from './page-format.ts';
import { PackedBlock } from './packed-block.ts';
import { type PageSlices, readIntColumn, readSlices, readTextColumn } from './page-reader.ts';
import { pageBytes, type RunFile, type RunPage } from './run-file.ts';

/** The rows of the slice at the cursor: rows `first` to `end` of the arrays. */
export interface CursorRows {
  readonly timestamps: Float64Array;
  readonly orders: Float64Array;
  /** Indices in the origins of the run. */
  readonly origins: Float64Array;
  /** 0 without meta, else a number of `textId` plus 1. */
  readonly metas: Float64Array;
  /** Numbers, booleans as 0 and 1, or numbers of `textId`. */
  readonly columns: readonly Float64Array[];
}

/**
 * Begins at the first slice. `textId` numbers texts across runs. Throws DamagedChunk, also from
 * `next`.
 */
export class RunCursor {
  readonly #run: RunFile;
  readonly #textId: (text: string) => number;
  readonly #kinds: ColumnKind[];
  readonly #rows: CursorRows;
  readonly #pages = createPageRoom();
  #page = -1;
  #slice = 0;
  #slices: PageSlices | undefined;

  constructor(run: RunFile, shape: DataShape, textId: (text: string) => number) {
    this.#run = run;
    this.#textId = textId;
    this.#kinds = shape.leaves.map(({ kind }) => columnKindOf(kind));
    this.#rows = newCursorRows(this.#kinds.length);
    this.#loadPage();
  }

  get rows(): CursorRows {
    return this.#rows;
  }

  /** Device of the slice at the cursor; Infinity behind the last. */
  device(): number {
    return this.#slices?.devices[this.#slice] ?? Number.POSITIVE_INFINITY;
  }

  first(): number {
    return this.#slices?.starts[this.#slice] ?? 0;
  }

  end(): number {
    return this.#slices?.starts[this.#slice + 1] ?? 0;
  }

  next(): void {
    this.#slice++;
    if (this.#slices === undefined || this.#slice === this.#slices.count) this.#loadPage();
  }

  #loadPage(): void {
    this.#page++;
    this.#slice = 0;
    this.#slices =
      this.#page < this.#run.index.head.pages
        ? readPage(this.#pages.load(this.#run, this.#page), this.#kinds, {
            rows: this.#rows,
            textId: this.#textId,
          })
        : undefined;
  }
}

/** Room for a page. */
export function newCursorRows(columns: number): CursorRows {
  const values = (): Float64Array => new Float64Array(pageRowsMax);
  return {
    timestamps: values(),
    orders: values(),
    origins: values(),
    metas: values(),
    columns: Array.from({ length: columns }, values),
  };
}

/** Room for the bytes of one page after the other. */
export function createPageRoom() {
  let room = new Uint8Array(0);
  return {
    /** Valid until the next one is loaded. Throws DamagedChunk. */
    load: (run: RunFile, page: number): RunPage => {
      const bytes = pageBytes(run.index, page);
      if (room.length < bytes) room = new Uint8Array(2 * bytes);
      return run.page(page, room);
    },
  };
}

/** Decodes the page into `rows`. Throws DamagedChunk. */
export function readPage(
  page: RunPage,
  kinds: readonly ColumnKind[],
  into: { readonly rows: CursorRows; readonly textId: (text: string) => number },
): PageSlices {
  const { rows, textId } = into;
  const slices = readSlices(page.needed(pageSections.slices));
  const times = new PackedBlock(page.needed(pageSections.times), 0);
  readDifferences(times, slices, slices.firsts, rows.timestamps);
  readInts(page.needed(pageSections.orders), slices, rows.orders);
  readInts(page.needed(pageSections.origins), slices, rows.origins);
  const metas = page.section(pageSections.metas);
  if (metas === undefined) rows.metas.fill(0);
  else readTexts(metas, rows.metas, (text) => (text === '' ? 0 : textId(text) + 1));
  for (const [i, kind] of kinds.entries()) {
    const content = page.needed(fixedPageSections + i);
    if (kind === 'text') readTexts(content, rows.columns[i]!, textId);
    else readInts(content, slices, rows.columns[i]!);
  }
  return slices;
}

function readInts(content: Uint8Array, slices: PageSlices, target: Float64Array): void {
  const { block, differences, power } = readIntColumn(content);
  const length = slices.starts[slices.count]!;
  if (differences === undefined) block.read(0, length, target, 0);
  else {
    block.read(0, slices.count, firsts, 0);
    readDifferences(differences, slices, firsts, target);
  }
  if (power > 1) for (let i = 0; i < length; i++) target[i] = target[i]! / power;
}

// Used again for every column.
const firsts = new Float64Array(pageRowsMax);
const steps = new Float64Array(pageRowsMax);

/** Adds the differences within each slice to its first value. */
function readDifferences(
  differences: PackedBlock,
  { starts, count }: PageSlices,
  firstOf: Float64Array,
  target: Float64Array,
): void {
  differences.read(0, starts[count]! - count, steps, 0);
  for (let slice = 0, step = 0, row = 0; slice < count; slice++) {
    let value = firstOf[slice]!;
    target[row++] = value;
    for (const end = starts[slice + 1]!; row < end; row++) {
      value += steps[step++]!;
      target[row] = value;
    }
  }
}

function readTexts(
  content: Uint8Array,
  target: Float64Array,
  textId: (text: string) => number,
): void {
  const { ids, texts } = readTextColumn(content);
  const numbers = texts.map(textId);
  ids.read(0, ids.length, target, 0);
  for (let i = 0; i < ids.length; i++) target[i] = numbers[target[i]!]!;
}
