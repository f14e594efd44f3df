// An entry as bytes: ids and times packed, what rows have in common as references to definitions of the block.
// Layout: flags, device id, time of receipt, duplicates varint, first order varint, rows varint,
// [correlation id], rows, [replaces JSON], [metrics], [trace], [notes JSON], [state JSON].
// A row is: [kind varint], time after the row before, [correlation id], [meta], then its leaf
// values: numbers f64, booleans u8, strings.
import type { EpochMs } from '../../model/instant.ts';
import type { JournalEntry } from '../../model/journal-entry.ts';
import { ByteWriter } from '../../structures/bytes.ts';
import { missing } from '../../structures/missing.ts';
import { textKey } from '../../structures/string-hash.ts';
import { type DataShape, leafKinds } from './data-shape.ts';
import {
  type EntryContext,
  metricsCodec,
  traceCodec,
  writeId,
  writeJson,
  writeText,
  writeTime,
} from './field-codec.ts';
import type { EncodedEntry } from './journal-block.ts';
import type { EntrySample, KindOfRow, LoggedRows, RowColumns, RowKind } from './logged-entry.ts';

/** The rows of an entry with everything that followers are told of them. */
export interface EntryRows extends LoggedRows {
  readonly samples: readonly EntrySample[];
}

export interface EntryToEncode {
  readonly entry: JournalEntry;
  readonly rows: EntryRows;
  readonly duplicates: number;
  readonly firstOrder: number;
}

/** What an entry has beyond the usual. */
export const entryFlags = {
  metrics: 1,
  trace: 2,
  notes: 4,
  state: 8,
  /** Rows are of several kinds, and each has an index. */
  kinds: 16,
  /** Rows have several correlation ids, and each has its own. */
  correlations: 32,
  replaces: 64,
} as const;

/** Rows of an entry that has nothing else. */
export interface ColumnsToEncode {
  readonly receivedAt: EpochMs;
  readonly rows: RowColumns;
  readonly firstOrder: number;
}

/** The bytes of an entry are valid until the next one is encoded. */
export class EntryEncoder {
  readonly #kindOf: KindOfRow;
  readonly #to = new ByteWriter();
  readonly #texts = new WrittenTexts();
  readonly #correlation = new RepeatedId();
  #used: UsedKinds = { definitions: [], indexes: undefined };

  constructor(kindOf: KindOfRow) {
    this.#kindOf = kindOf;
  }

  encode({ entry, rows, duplicates, firstOrder }: EntryToEncode): EncodedEntry {
    const to = this.#begin();
    const { definitions, indexes } = (this.#used = kindsOf(rows, this.#kindOf, this.#used));
    const flags = flagsOf(entry, rows, this.#used);
    const [first] = rows.samples;
    to.byte(flags);
    writeId(to, entry.deviceId);
    writeTime(to, entry.receivedAt, 0);
    to.varint(duplicates);
    to.varint(firstOrder);
    to.varint(rows.samples.length);
    if (first !== undefined && (flags & entryFlags.correlations) === 0)
      writeId(to, first.correlationId);
    writeRows(to, rows, entry.receivedAt, flags, indexes, this.#texts);
    writeRest(to, entry, first);
    return { payload: to.buffer, payloadBytes: to.length, definitions };
  }

  /** Reads as an entry of the same rows. */
  encodeColumns({ receivedAt, rows, firstOrder }: ColumnsToEncode): EncodedEntry {
    const { deviceId, head, shape, from, to: end, trace } = rows;
    const to = this.#begin();
    to.byte(trace === undefined ? 0 : entryFlags.trace);
    writeId(to, deviceId);
    writeTime(to, receivedAt, 0);
    to.varint(0);
    to.varint(firstOrder);
    to.varint(end - from);
    this.#correlation.write(to, head.correlationId);
    writeColumns(to, rows, this.#texts, receivedAt);
    if (trace !== undefined) {
      const { correlationId } = head;
      traceCodec.write(to, trace, { deviceId, receivedAt, correlationId, data: undefined });
    }
    return {
      payload: to.buffer,
      payloadBytes: to.length,
      definitions: [this.#kindOf(head, shape)],
    };
  }

  #begin(): ByteWriter {
    this.#to.reset();
    this.#texts.clear();
    return this.#to;
  }
}

function writeColumns(
  to: ByteWriter,
  { shape, from, to: end, timestamps, columns, texts: strings }: RowColumns,
  texts: WrittenTexts,
  near: EpochMs,
): void {
  const { leaves } = shape;
  let before = near;
  for (let row = from; row < end; row++) {
    const timestamp = timestamps[row]!;
    writeTime(to, timestamp, before);
    before = timestamp;
    for (let leaf = 0; leaf < leaves.length; leaf++) {
      const kind = leaves[leaf]?.kind;
      const value = columns[leaf]?.[row] ?? missing('value');
      if (kind === leafKinds.number) to.double(value);
      else if (kind === leafKinds.boolean) to.byte(value);
      else texts.write(to, strings[value] ?? missing('string'));
    }
  }
}

/** The kinds of rows, each once, and, when there are several, the index of the kind of each row. */
interface UsedKinds {
  readonly definitions: readonly RowKind[];
  readonly indexes: readonly number[] | undefined;
}

/** `last` is what the entry before used: consecutive entries usually have the same kind. */
function kindsOf({ samples, shapes }: EntryRows, kindOf: KindOfRow, last: UsedKinds): UsedKinds {
  let only: RowKind | undefined;
  for (let i = 0; i < samples.length; i++) {
    const kind = kindOf(samples[i] ?? missing('row'), shapes[i] ?? missing('shape of a row'));
    if (kind !== (only ??= kind)) return severalKindsOf({ samples, shapes }, kindOf);
  }
  if (last.indexes === undefined && last.definitions[0] === only) return last;
  return { definitions: only === undefined ? [] : [only], indexes: undefined };
}

function severalKindsOf(
  {
    samples,
    shapes,
  }: { readonly samples: readonly EntrySample[]; readonly shapes: readonly DataShape[] },
  kindOf: KindOfRow,
): UsedKinds {
  const numbers = new Map<RowKind, number>();
  const indexes = samples.map((sample, i) => {
    const kind = kindOf(sample, shapes[i] ?? missing('shape of a row'));
    const known = numbers.get(kind) ?? numbers.size;
    numbers.set(kind, known);
    return known;
  });
  return { definitions: [...numbers.keys()], indexes };
}

function flagsOf(
  { metrics, trace, notes, state, replaces }: JournalEntry,
  { samples }: EntryRows,
  { indexes }: UsedKinds,
): number {
  let flags = 0;
  if (metrics !== undefined) flags |= entryFlags.metrics;
  if (trace !== undefined) flags |= entryFlags.trace;
  if (notes.length > 0) flags |= entryFlags.notes;
  if (state !== undefined) flags |= entryFlags.state;
  if (replaces !== undefined) flags |= entryFlags.replaces;
  if (indexes !== undefined) flags |= entryFlags.kinds;
  const correlationId = samples[0]?.correlationId;
  for (const sample of samples)
    if (sample.correlationId !== correlationId) return flags | entryFlags.correlations;
  return flags;
}

/** `near` is the time before the first row. */
function writeRows(
  to: ByteWriter,
  { samples, shapes, values, valuesAt = 0 }: EntryRows,
  near: EpochMs,
  flags: number,
  indexes: UsedKinds['indexes'],
  texts: WrittenTexts,
): void {
  const { numbers } = values;
  let before = near;
  let valueAt = valuesAt;
  for (let i = 0; i < samples.length; i++) {
    const sample = samples[i] ?? missing('row');
    if (indexes !== undefined) to.varint(indexes[i] ?? missing('kind of a row'));
    writeTime(to, sample.timestamp, before);
    before = sample.timestamp;
    if ((flags & entryFlags.correlations) !== 0) writeId(to, sample.correlationId);
    if (sample.meta !== undefined) texts.write(to, JSON.stringify(sample.meta));
    for (const { kind } of (shapes[i] ?? missing('shape of a row')).leaves) {
      if (kind === leafKinds.number) to.double(numbers[valueAt] ?? missing('number'));
      else if (kind === leafKinds.boolean) to.byte(numbers[valueAt] ?? missing('boolean'));
      else texts.write(to, values.textAt(valueAt));
      valueAt++;
    }
  }
}

function writeRest(to: ByteWriter, entry: JournalEntry, first: EntrySample | undefined): void {
  const { deviceId, receivedAt, metrics, trace, notes, state, replaces } = entry;
  if (replaces !== undefined) writeJson(to, replaces);
  if (metrics !== undefined || trace !== undefined) {
    const context: EntryContext = {
      deviceId,
      receivedAt,
      correlationId: first?.correlationId,
      data: first?.data,
    };
    if (metrics !== undefined) metricsCodec.write(to, metrics, context);
    if (trace !== undefined) traceCodec.write(to, trace, context);
  }
  if (notes.length > 0) writeJson(to, notes);
  if (state !== undefined) writeJson(to, state);
}

/** An id that consecutive entries share is packed once. */
class RepeatedId {
  #id: string | undefined;
  #bytes: Uint8Array = new Uint8Array(0);

  write(to: ByteWriter, id: string): void {
    if (id === this.#id) {
      to.firstBytes(this.#bytes, this.#bytes.length);
      return;
    }
    const start = to.length;
    writeId(to, id);
    this.#id = id;
    this.#bytes = Uint8Array.from(to.written(start));
  }
}

/** Few strings are found faster by comparing each. */
const comparedMax = 8;

/**
 * Strings of rows: the first time a 0 and the string, then its number, from 1. A class, because it is
 * used for every value.
 */
class WrittenTexts {
  readonly #texts: string[] = [];
  /** Of `#texts`; those behind are of an earlier entry. */
  #count = 0;
  #numbers: Map<string, number> | undefined;

  clear(): void {
    this.#count = 0;
    this.#numbers = undefined;
  }

  write(to: ByteWriter, text: string): void {
    const number = this.#numberOf(text);
    to.varint(number);
    if (number === 0) writeText(to, text);
  }

  /** 0 for a new string, which gets a number. */
  #numberOf(text: string): number {
    const texts = this.#texts;
    if (this.#numbers === undefined) {
      for (let at = 0; at < this.#count; at++) if (texts[at] === text) return at + 1;
      texts[this.#count++] = text;
      if (this.#count > comparedMax)
        this.#numbers = new Map(texts.map((known, i) => [textKey(known), i + 1]));
      return 0;
    }
    const key = textKey(text);
    const number = this.#numbers.get(key);
    if (number === undefined) this.#numbers.set(key, this.#numbers.size + 1);
    return number ?? 0;
  }
}
