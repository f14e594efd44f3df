// Page writer: collects the slices of a page by column, and encodes each in the cheaper of two ways.
import { createColumnEncoder, createSectionWriter, type ScaledValues } from './column-encoder.ts';
import { writeDoubles, writePacked } from './packed-block.ts';
import {
  type ColumnKind,
  digitsMax,
  type PageEntry,
  pageRowsMax,
  powersOfTen,
  rowsForStatistics,
  scaledMax,
} from './page-format.ts';
import { createSliceTable, newValues } from './slice-table.ts';

/** The rows of the page under construction. The caller of `addSlice` fills them from the row that it returns. */
export interface PageRows {
  readonly timestamps: Float64Array;
  /** Place of each row among all rows of its device in the order of storing. */
  readonly orders: Float64Array;
  /** Index of the origin in the run's list. */
  readonly origins: Float64Array;
  /** 0 without meta, else the index of the JSON text in the run's texts plus 1. */
  readonly metas: Float64Array;
  /** For each leaf: numbers, booleans as 0 and 1, or indices in the run's texts. */
  readonly columns: readonly Float64Array[];
}

export interface PageWriter {
  readonly rows: PageRows;
  /** Begins a slice of 1 to `pageRowsMax` rows of one device; returns its first row in `rows`. Slices are added in the order of device and time. */
  readonly addSlice: (device: number, length: number) => number;
  /** Writes the page begun, if there is one. */
  readonly flush: () => void;
}

export interface PageWriterOptions {
  readonly kinds: readonly ColumnKind[];
  /** Texts of the run; may grow meanwhile. */
  readonly texts: readonly string[];
  /** Takes a finished page; its bytes are valid during the call. */
  readonly emit: (entry: PageEntry, bytes: Uint8Array) => void;
}

export function createPageWriter({ kinds, texts, emit }: PageWriterOptions): PageWriter {
  const rows: PageRows = {
    timestamps: newValues(),
    orders: newValues(),
    origins: newValues(),
    metas: newValues(),
    columns: kinds.map(newValues),
  };
  const slices = createSliceTable();
  const sections = createSectionWriter();
  const encoder = createColumnEncoder(sections.out, slices);
  const scaledOf = kinds.map(newValues);

  function addSlice(device: number, length: number): number {
    if (slices.rows + length > pageRowsMax) flush();
    return slices.add(device, length);
  }

  function flush(): void {
    if (slices.count === 0) return;
    sections.begin();
    const { oldest, newest } = writeSlices();
    sections.end();
    encoder.writeDifferences(rows.timestamps);
    sections.end();
    encoder.writeInts(rows.orders);
    sections.end();
    encoder.writeInts(rows.origins);
    sections.end();
    if (hasAny(rows.metas, slices.rows))
      encoder.writeTexts(rows.metas, (id) => (id === 0 ? '' : texts[id - 1]));
    sections.end();
    const scaled = kinds.map((kind, i) => {
      const values = writeColumn(kind, i);
      sections.end();
      return values;
    });
    const hasStatistics = slices.rows >= slices.count * rowsForStatistics;
    for (const values of scaled) {
      if (values !== undefined && hasStatistics) encoder.writeStatistics(values);
      sections.end();
    }
    const { firstDevice, lastDevice } = slices;
    emit(
      { rows: slices.rows, firstDevice, lastDevice, oldest, newest, ends: sections.ends },
      sections.out.bytes(),
    );
    slices.clear();
  }

  function writeSlices(): { oldest: number; newest: number } {
    const { out } = sections;
    const { count, firsts, spans } = slices;
    const times = slices.times(rows.timestamps);
    writePacked(out, slices.devices, count);
    writePacked(out, slices.lengths, count);
    writePacked(out, firsts, count);
    writePacked(out, spans, count);
    return times;
  }

  /** Returns the values of a column that can have statistics. */
  function writeColumn(kind: ColumnKind, index: number): ScaledValues | undefined {
    const values = rows.columns[index]!;
    if (kind === 'text') {
      encoder.writeTexts(values, (id) => texts[id]);
      return undefined;
    }
    if (kind === 'boolean') {
      encoder.writeInts(values);
      return { scaled: values, digits: 0, isNumber: false };
    }
    const found = scaledValues(values, slices.rows, scaledOf[index]!);
    if (found === undefined) writeDoubles(sections.out, values, slices.rows, 0);
    else encoder.writeInts(found.scaled, found.digits);
    return found;
  }

  return { rows, addSlice, flush };
}

function hasAny(values: Float64Array, length: number): boolean {
  for (let i = 0; i < length; i++) if (values[i] !== 0) return true;
  return false;
}

/**
 * The values as whole numbers, which are set in `scaled`, with the fewest decimal places that give each of them
 * back; undefined when there are too many.
 */
function scaledValues(
  values: Float64Array,
  length: number,
  scaled: Float64Array,
): ScaledValues | undefined {
  for (let digits = 0, checked = 0; digits <= digitsMax; digits++) {
    const power = powersOfTen[digits]!;
    const ofFewer = checked;
    while (checked < length && isExact(values[checked]!, power)) checked++;
    if (checked < length) continue;
    // More places than a value needs can round it differently.
    for (let i = 0; i < ofFewer; i++) if (!isExact(values[i]!, power)) return undefined;
    // Adding zero turns -0 into 0: the store has no negative zero.
    for (let i = 0; i < length; i++) scaled[i] = Math.round(values[i]! * power) + 0;
    return { scaled, digits, isNumber: true };
  }
  return undefined;
}

function isExact(value: number, power: number): boolean {
  const whole = Math.round(value * power);
  return whole / power === value && whole <= scaledMax && whole >= -scaledMax;
}
