// Page writer: the slices of devices, one for each UTC day, collected by column and encoded in the cheaper of two ways.
import { crc32 } from 'node:zlib';
import { planPacking } from '../chunks/column-encoding.ts';
import {
  AlignedBuffer,
  type ColumnKind,
  digitsMax,
  type PageEntry,
  pageRowsMax,
  powersOfTen,
  rowsForStatistics,
  scaledMax,
  sectionTailBytes,
  slicedTag,
} from './page.ts';

// Slice table: the slices of the page under construction.

/** Room for one value of each row of a page. */
const newValues = (): Float64Array => new Float64Array(pageRowsMax);

function createSliceTable() {
  const devices = newValues();
  const lengths = newValues();
  const firsts = newValues();
  const spans = newValues();
  const table = {
    devices,
    lengths,
    firsts,
    spans,
    count: 0,
    rows: 0,
    get firstDevice(): number {
      return devices[0]!;
    },
    get lastDevice(): number {
      return devices[table.count - 1]!;
    },
    add: (device: number, length: number): number => {
      const first = table.rows;
      devices[table.count] = device;
      lengths[table.count++] = length;
      table.rows += length;
      return first;
    },
    clear: (): void => {
      table.count = 0;
      table.rows = 0;
    },
    /** Sets `firsts` and `spans`; returns the times of the oldest and the newest row. */
    times: (timestamps: Float64Array): { oldest: number; newest: number } => {
      let oldest = Number.POSITIVE_INFINITY;
      let newest = Number.NEGATIVE_INFINITY;
      for (let slice = 0, row = 0; slice < table.count; slice++) {
        const first = timestamps[row]!;
        row += lengths[slice]!;
        const last = timestamps[row - 1]!;
        firsts[slice] = first;
        spans[slice] = last - first;
        if (first < oldest) oldest = first;
        if (last > newest) newest = last;
      }
      return { oldest, newest };
    },
  };
  return table;
}

type SliceTable = ReturnType<typeof createSliceTable>;

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

export class PageWriter {
  readonly #kinds: readonly ColumnKind[];
  readonly #texts: readonly string[];
  readonly #emit: (entry: PageEntry, bytes: Uint8Array) => void;
  readonly #rows: PageRows;
  readonly #slices = createSliceTable();
  readonly #sections = createSectionWriter();
  readonly #encoder = createColumnEncoder(this.#sections.out, this.#slices);
  readonly #scaledOf: Float64Array[];

  constructor({
    kinds,
    texts,
    emit,
  }: {
    readonly kinds: readonly ColumnKind[];
    /** Texts of the run; may grow meanwhile. */
    readonly texts: readonly string[];
    /** Takes a finished page; its bytes are valid during the call. */
    readonly emit: (entry: PageEntry, bytes: Uint8Array) => void;
  }) {
    this.#kinds = kinds;
    this.#texts = texts;
    this.#emit = emit;
    this.#rows = {
      timestamps: newValues(),
      orders: newValues(),
      origins: newValues(),
      metas: newValues(),
      columns: kinds.map(newValues),
    };
    this.#scaledOf = kinds.map(newValues);
  }

  get rows(): PageRows {
    return this.#rows;
  }

  /**
   * Begins a slice of 1 to `pageRowsMax` rows of one device; returns its first row in `rows`.
   * Slices are added in the order of device and time.
   */
  addSlice(device: number, length: number): number {
    if (this.#slices.rows + length > pageRowsMax) this.flush();
    return this.#slices.add(device, length);
  }

  /** Writes the page begun, if there is one. */
  flush(): void {
    if (this.#slices.count === 0) return;
    this.#sections.begin();
    const { oldest, newest } = this.#writeSlices();
    this.#sections.end();
    this.#encoder.writeDifferences(this.#rows.timestamps);
    this.#sections.end();
    this.#encoder.writeInts(this.#rows.orders);
    this.#sections.end();
    this.#encoder.writeInts(this.#rows.origins);
    this.#sections.end();
    if (hasAny(this.#rows.metas, this.#slices.rows))
      this.#encoder.writeTexts(this.#rows.metas, (id) => (id === 0 ? '' : this.#texts[id - 1]));
    this.#sections.end();
    const scaled = this.#kinds.map((kind, i) => {
      const values = this.#writeColumn(kind, i);
      this.#sections.end();
      return values;
    });
    const hasStatistics = this.#slices.rows >= this.#slices.count * rowsForStatistics;
    for (const values of scaled) {
      if (values !== undefined && hasStatistics) this.#encoder.writeStatistics(values);
      this.#sections.end();
    }
    const { firstDevice, lastDevice } = this.#slices;
    this.#emit(
      {
        rows: this.#slices.rows,
        firstDevice,
        lastDevice,
        oldest,
        newest,
        ends: this.#sections.ends,
      },
      this.#sections.out.bytes(),
    );
    this.#slices.clear();
  }

  #writeSlices(): { oldest: number; newest: number } {
    const { out } = this.#sections;
    const { count, firsts, spans } = this.#slices;
    const times = this.#slices.times(this.#rows.timestamps);
    out.writePacked(this.#slices.devices, count);
    out.writePacked(this.#slices.lengths, count);
    out.writePacked(firsts, count);
    out.writePacked(spans, count);
    return times;
  }

  /** Returns the values of a column that can have statistics. */
  #writeColumn(kind: ColumnKind, index: number): ScaledValues | undefined {
    const values = this.#rows.columns[index]!;
    if (kind === 'text') {
      this.#encoder.writeTexts(values, (id) => this.#texts[id]);
      return undefined;
    }
    if (kind === 'boolean') {
      this.#encoder.writeInts(values);
      return { scaled: values, digits: 0, isNumber: false };
    }
    const found = scaledValues(values, this.#slices.rows, this.#scaledOf[index]!);
    if (found === undefined) this.#sections.out.writeDoubles(values, this.#slices.rows, 0);
    else this.#encoder.writeInts(found.scaled, found.digits);
    return found;
  }
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

// Column encoder: the sections of a page, each column in the cheaper of two ways.

interface ScaledValues {
  /** The values times `10 ** digits`. */
  readonly scaled: Float64Array;
  readonly digits: number;
  readonly isNumber: boolean;
}

/** Sections one behind the other in one buffer, each with its checksum; a section without content takes no bytes. */
function createSectionWriter() {
  const out = new AlignedBuffer();
  let start = 0;
  const writer = {
    out,
    ends: [] as number[],
    begin: (): void => {
      out.clear();
      writer.ends = [];
      start = 0;
    },
    end: (): void => {
      if (out.length > start) {
        out.align(sectionTailBytes);
        const sum = crc32(out.bytes(start));
        const at = out.reserve(sectionTailBytes);
        out.view.setUint32(at, sum, true);
        out.view.setUint32(at + 4, 0, true);
      }
      start = out.length;
      writer.ends.push(start);
    },
  };
  return writer;
}

function createColumnEncoder(out: AlignedBuffer, slices: SliceTable) {
  const differences = newValues();
  const firsts = newValues();
  const ids = newValues();
  const sums = newValues();
  const mins = newValues();
  const ranges = newValues();

  /** Fills `differences` with those within slices, and `firsts` with the first value of each. */
  function takeDifferences(values: Float64Array): number {
    const { lengths, count } = slices;
    let at = 0;
    for (let slice = 0, row = 0; slice < count; slice++) {
      const end = row + lengths[slice]!;
      let before = values[row]!;
      firsts[slice] = before;
      while (++row < end) {
        const value = values[row]!;
        differences[at++] = value - before;
        before = value;
      }
    }
    return at;
  }

  function writeInts(values: Float64Array, digits = 0): void {
    const whole = planPacking(values, slices.rows);
    // Nothing is shorter than one value for all rows.
    if (whole.width === 0) {
      out.writePacked(values, slices.rows, { tag: digits, plan: whole });
      return;
    }
    const count = takeDifferences(values);
    const plan = planPacking(differences, count);
    const plan0 = planPacking(firsts, slices.count);
    if (plan.bytes + plan0.bytes >= whole.bytes) {
      out.writePacked(values, slices.rows, { tag: digits, plan: whole });
      return;
    }
    out.writePacked(firsts, slices.count, { tag: digits | slicedTag, plan: plan0 });
    out.writePacked(differences, count, { tag: digits, plan });
  }

  return {
    writeInts,
    /** Without the first values, which the slices have. */
    writeDifferences: (values: Float64Array): void => {
      const count = takeDifferences(values);
      out.writePacked(differences, count);
    },
    /** Indices of a dictionary of the page, then the dictionary as JSON. */
    writeTexts: (values: Float64Array, textOf: (id: number) => string | undefined): void => {
      const known = new Map<number, number>();
      for (let i = 0; i < slices.rows; i++) {
        const text = values[i]!;
        let id = known.get(text);
        if (id === undefined) {
          id = known.size;
          known.set(text, id);
        }
        ids[i] = id;
      }
      out.writePacked(ids, slices.rows);
      const dictionary = Buffer.from(JSON.stringify([...known.keys()].map(textOf)));
      out.align(4);
      const at = out.reserve(4);
      out.view.setUint32(at, dictionary.length, true);
      out.append(dictionary);
    },
    /** Sum, and for numbers least value and range, of each slice. */
    writeStatistics: ({ scaled, digits, isNumber }: ScaledValues): void => {
      const { count, lengths } = slices;
      for (let slice = 0, row = 0; slice < count; slice++) {
        let sum = 0;
        let min = scaled[row]!;
        let max = min;
        for (const end = row + lengths[slice]!; row < end; row++) {
          const value = scaled[row]!;
          sum += value;
          if (value < min) min = value;
          if (value > max) max = value;
        }
        sums[slice] = sum;
        mins[slice] = min;
        ranges[slice] = max - min;
      }
      out.writePacked(sums, count, { tag: digits });
      if (!isNumber) return;
      out.writePacked(mins, count, { tag: digits });
      out.writePacked(ranges, count, { tag: digits });
    },
  };
}

// Slice writer: the sorted rows of one device become slices, one for each UTC day.

const dayMs = 86_400_000;

/** Rows of one device in the order of time, as columns of which row `at(i)` is the i-th. */
export interface DeviceRows {
  readonly device: number;
  readonly length: number;
  readonly at: (place: number) => number;
  readonly timestamps: Float64Array;
  /** Copies `length` rows from place `from` on to the page, from row `to` on. */
  readonly copy: (from: number, length: number, page: PageRows, to: number) => void;
}

/** A slice reaches over one UTC day at most, so that statistics answer whole days. */
export function writeSlices(pages: PageWriter, rows: DeviceRows): void {
  const { device, length, at, timestamps } = rows;
  for (let from = 0; from < length; ) {
    const dayEnd = (Math.floor(timestamps[at(from)]! / dayMs) + 1) * dayMs;
    let to = from + 1;
    while (to < length && to - from < pageRowsMax && timestamps[at(to)]! < dayEnd) to++;
    rows.copy(from, to - from, pages.rows, pages.addSlice(device, to - from));
    from = to;
  }
}
