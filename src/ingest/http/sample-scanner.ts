// Sample scanner: reads samples of one form from bytes into columns, without an object for each.
import { isJsonWhitespace, jsonBytes } from '../../model/json-bytes.ts';
import type { JsonObject } from '../../model/json.ts';
import { missing } from '../../structures/missing.ts';
import { ByteCursor, type FixedBytes } from './byte-cursor.ts';
import type { JsonGroupLimits } from './json-groups.ts';
import { BooleanSlot, NumberSlot } from './number-slot.ts';
import { learnTemplate, type SampleTemplate, type Slot, type SlotKind } from './sample-template.ts';
import type { SlotReader } from './slot-reader.ts';
import { StringSlot, StringTable } from './string-slot.ts';
import { TimeSlot } from './time-slot.ts';

/** Samples of one form and topic, in the order sent. */
export interface SampleColumns {
  readonly length: number;
  /** Undefined when the samples do not name a topic. */
  readonly topic: string | undefined;
  readonly timestamps: Float64Array;
  /** For each sample an index in `texts`; undefined when the samples do not name a device. */
  readonly deviceIds: Float64Array | undefined;
  /** Data of one of the samples: all have its keys, in its order, with values of the same types. */
  readonly example: JsonObject;
  readonly kinds: readonly SlotKind[];
  /** For each value of the data: numbers, booleans as 0 and 1, or indices in `texts`. */
  readonly columns: readonly Float64Array[];
  readonly texts: readonly string[];
  /** Where the samples were written; undefined unless asked for. */
  readonly written?: WrittenSamples;
}

/** Elements or lines with what separates them. */
export interface WrittenSamples {
  readonly form: BodyForm;
  readonly bytes: Buffer;
}

export interface ScannedSamples {
  readonly samples: SampleColumns;
  /** Offset behind the separator of the last sample, or of the bracket that ends the array. */
  readonly end: number;
  /** Lines that ended, or elements. */
  readonly lines: number;
  /** Whether the array or the body ends at `end`. */
  readonly isLast: boolean;
  /** Whether a group of parsed elements that begins there has the same elements. */
  readonly isWhole: boolean;
}

/** The elements of an array, or one on each line. */
export type BodyForm = 'array' | 'lines';

export interface SampleScanner {
  /**
   * Reads samples from `from` on, as many as a group has, up to the first that differs, is incomplete
   * or has no separator behind it; the parser reads the rest. `isEnded` when no bytes follow: then the
   * last line needs no separator. Undefined without any sample.
   */
  readonly scan: (bytes: Buffer, from: number, isEnded: boolean) => ScannedSamples | undefined;
}

const { comma, closeBracket, newline } = jsonBytes;
/** Forms that are learned from one body: a body of ever new forms goes the general way. */
const templatesMax = 16;

/** For one body: it keeps the form of the samples before. */
export function createSampleScanner(form: BodyForm, limits: JsonGroupLimits): SampleScanner {
  let template: SampleTemplate | undefined;
  let learned = 0;

  return {
    scan: (bytes, from, isEnded) => {
      const context = { form, limits, from, isEnded };
      const found = template === undefined ? undefined : scanWith(template, bytes, context);
      if (found !== undefined || learned >= templatesMax) return found;
      const fresh = learnTemplate(...firstElement(bytes, from, form));
      if (fresh === undefined) return undefined;
      learned++;
      template = fresh;
      return scanWith(fresh, bytes, context);
    },
  };
}

/** The bytes that have the first element, and where it begins; a line has no newline within. */
function firstElement(bytes: Buffer, from: number, form: BodyForm): [Buffer, number] {
  let at = from;
  while (isJsonWhitespace(bytes[at])) at++;
  const end = form === 'lines' ? bytes.indexOf(newline, at) : -1;
  return [end < 0 ? bytes : bytes.subarray(0, end), at];
}

interface ScanContext {
  readonly form: BodyForm;
  readonly limits: JsonGroupLimits;
  readonly from: number;
  readonly isEnded: boolean;
}

/** A group ends where one of parsed elements does, unless the samples of the form end before. */
function scanWith(
  template: SampleTemplate,
  bytes: Buffer,
  { form, limits, from, isEnded }: ScanContext,
): ScannedSamples | undefined {
  const { groupElementsMax, groupBytes, elementBytesMax } = limits;
  const isLines = form === 'lines';
  const rowsMax = Math.min(groupElementsMax, Math.ceil((bytes.length - from) / template.bytesMin));
  const reader = new SampleReader(template, bytes, rowsMax);
  let at = from;
  let lines = 0;
  let isLast = false;
  while (reader.row < rowsMax && lines < groupElementsMax && at - from < groupBytes && !isLast) {
    const start = skipWhitespace(bytes, at, isLines);
    const isBlank = isLines && bytes[start] === newline;
    if (!isBlank && !reader.readSample(start)) break;
    const behind = isBlank ? start : skipWhitespace(bytes, reader.end, isLines);
    if (behind - at > elementBytesMax) break;
    isLast = isLines ? isEnded && behind === bytes.length : bytes[behind] === closeBracket;
    const isSeparated = isLast || bytes[behind] === (isLines ? newline : comma);
    if (!isSeparated || (!isBlank && !reader.take())) {
      isLast = false;
      break;
    }
    at = isLast ? behind : behind + 1;
    lines++;
  }
  if (reader.row === 0) return undefined;
  isLast ||= isLines && isEnded && at === bytes.length;
  const isWhole = isLast || lines === groupElementsMax || at - from >= groupBytes;
  return { samples: reader.columns(), end: at, lines, isLast, isWhole };
}

function skipWhitespace(bytes: Uint8Array, from: number, isLines: boolean): number {
  let at = from;
  while (isJsonWhitespace(bytes[at]) && !(isLines && bytes[at] === newline)) at++;
  return at;
}

/**
 * Reads sample after sample. A class whose fields are the state, because it runs once per byte of a
 * body.
 */
class SampleReader {
  /** The row under construction: as many are taken. */
  row = 0;
  readonly #template: SampleTemplate;
  readonly #cursor: ByteCursor;
  readonly #slots: readonly { readonly before: FixedBytes; readonly reader: SlotReader }[];
  readonly #timestamps: Float64Array;
  readonly #deviceIds: Float64Array | undefined;
  readonly #topics: Float64Array | undefined;
  readonly #columns: readonly Float64Array[];
  readonly #table = new StringTable();

  constructor(template: SampleTemplate, bytes: Buffer, max: number) {
    const { slots, columns } = template;
    // One piece of memory: each is registered with the collector of garbage.
    const memory = new Float64Array(slots.length * max);
    let taken = 0;
    const column = (): Float64Array => memory.subarray(taken, (taken += max));
    const ofRole = (role: Slot['role']): Float64Array | undefined =>
      slots.some((slot) => slot.role === role) ? column() : undefined;
    this.#template = template;
    this.#cursor = new ByteCursor(bytes);
    this.#timestamps = column();
    this.#deviceIds = ofRole('deviceId');
    this.#topics = ofRole('topic');
    this.#columns = columns.map(column);
    this.#slots = slots.map((slot) => ({
      before: slot.before,
      reader: this.#readerOf(slot, this.#targetOf(slot)),
    }));
  }

  #targetOf({ role, column }: Slot): Float64Array {
    const target = {
      timestamp: this.#timestamps,
      deviceId: this.#deviceIds,
      topic: this.#topics,
      data: this.#columns[column],
    }[role];
    return target ?? missing('column');
  }

  #readerOf({ role, kind }: Slot, target: Float64Array): SlotReader {
    const isTime = role === 'timestamp';
    if (kind === 'number') return new NumberSlot(target, isTime);
    if (isTime) return new TimeSlot(target);
    return kind === 'boolean' ? new BooleanSlot(target) : new StringSlot(target, this.#table);
  }

  /** Offset behind the sample that was read. */
  get end(): number {
    return this.#cursor.at;
  }

  /** True when the sample at `from` has the form; `end` is behind it then. */
  readSample(from: number): boolean {
    const cursor = this.#cursor;
    cursor.at = from;
    for (const { before, reader } of this.#slots)
      if (!cursor.skip(before) || !reader.read(cursor, this.row)) return false;
    return cursor.skip(this.#template.after);
  }

  /** Takes the row; false when it has another topic than the rows before. */
  take(): boolean {
    const topics = this.#topics;
    if (topics !== undefined && topics[this.row] !== topics[0]) return false;
    this.row++;
    return true;
  }

  columns(): SampleColumns {
    const length = this.row;
    const { example, columns } = this.#template;
    const topic = this.#topics?.[0];
    return {
      length,
      topic: topic === undefined ? undefined : this.#table.strings[topic],
      example,
      timestamps: this.#timestamps.subarray(0, length),
      deviceIds: this.#deviceIds?.subarray(0, length),
      kinds: columns,
      columns: this.#columns.map((column) => column.subarray(0, length)),
      texts: this.#table.strings,
    };
  }
}
