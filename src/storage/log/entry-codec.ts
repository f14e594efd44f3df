// An entry as bytes: ids and times packed, what rows have in common as references to definitions of the block.
// Layout: flags, device id, time of receipt, duplicates varint, first order varint, rows varint,
// [correlation id], rows, [replaces JSON], [metrics], [trace], [notes JSON], [state JSON].
// A row is: [kind varint], time after the row before, [correlation id], [meta], then its leaf
// values: numbers f64, booleans u8, strings.
import type { EpochMs } from '../../model/instant.ts';
import { cursorAt, type DurableEntry, type JournalEntry } from '../../model/journal-entry.ts';
import { ByteReader, ByteWriter } from '../../structures/bytes.ts';
import { missing } from '../../structures/missing.ts';
import { textKey } from '../../structures/hash-tables.ts';
import { type DataShape, leafKinds, LeafValues, type ShapeInterner } from './data-shape.ts';
import {
  type EntryContext,
  metricsCodec,
  readDuplicateKey,
  readId,
  readJson,
  readNumber,
  readText,
  skipText,
  traceCodec,
  writeId,
  writeJson,
  writeText,
  writeTime,
} from './field-codec.ts';
import type { EncodedEntry, KeptEntry } from './journal-block.ts';
import {
  createKindReader,
  dataOfRows,
  type EntrySample,
  type KindOfRow,
  type LoggedRows,
  type ReadEntry,
  type RowColumns,
  type RowKind,
} from './logged-entry.ts';
import type { ProcessingLogEntry } from '../../model/entry-trace.ts';
import type { JsonObject } from '../../model/json.ts';
import type { Replacement } from '../../model/sample-changes.ts';
import type { StoredSample } from '../../model/sample.ts';

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
const entryFlags = {
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

// An entry from its bytes: as sample stores take it, or as followers and live streams read it.

/** A list of more values is not continued. */
const sharedValuesMax = 4_096;

export interface DeviceReplacement extends Replacement {
  readonly deviceId: string;
  readonly position: number;
}

/** The key of an entry for the duplicate filter. */
export interface EntryKey {
  readonly duplicateKey: string;
  readonly receivedAt: EpochMs;
}

export class EntryDecoder {
  readonly #kindOf: (definition: Buffer) => RowKind;
  #shared = new LeafValues();
  /** The entry as followers and live streams read it. */
  readonly durable = (kept: KeptEntry): DurableEntry =>
    durableEntryOf(kept, this.#decode(kept, new LeafValues()));
  /** The entry as sample stores take it. */
  readonly logged = (kept: KeptEntry): ReadEntry => {
    // Many entries are given to the store together, most of which have few values.
    if (this.#shared.length >= sharedValuesMax) this.#shared = new LeafValues();
    const { deviceId, firstOrder, rows, replaces } = this.#decode(kept, this.#shared);
    const { position, storedAt, payload } = kept;
    const bytes = payload.length;
    return { position, storedAt, deviceId, firstOrder, rows, bytes, ...replaces };
  };
  /** What the entry removes; rows are not read. Undefined for most. */
  readonly replacement = ({
    payload,
    definitions,
    position,
  }: KeptEntry): DeviceReplacement | undefined => {
    const from = new ByteReader(payload);
    const head = readHead(from);
    if ((head.flags & entryFlags.replaces) === 0) return undefined;
    skipRows(from, head, definitions.map(this.#kindOf));
    const { replaces } = readReplacement(from);
    return { ...replaces, deviceId: head.deviceId, position };
  };
  /** What recognizes a repetition of the entry, without reading its rows; undefined for most. */
  readonly duplicateKey = ({ payload, definitions }: KeptEntry): EntryKey | undefined =>
    duplicateKeyOf(payload, definitions, this.#kindOf);

  /** The bytes were checked by the checksum of their frame, so they are trusted. */
  constructor(shapes: ShapeInterner) {
    this.#kindOf = createKindReader(shapes);
  }

  #decode({ payload, definitions }: KeptEntry, values: LeafValues): DecodedEntry {
    return decodeEntry(payload, definitions.map(this.#kindOf), values);
  }
}

function readReplacement(from: ByteReader): { readonly replaces: Replacement } {
  return { replaces: readJson(from) as Replacement };
}

/** Steps over rows and metrics; most entries that have rows by the thousand have no trace at all. */
function duplicateKeyOf(
  payload: Buffer,
  definitions: readonly Buffer[],
  kindOf: (definition: Buffer) => RowKind,
): EntryKey | undefined {
  const from = new ByteReader(payload);
  const head = readHead(from);
  const { flags, deviceId, receivedAt, shared } = head;
  if ((flags & entryFlags.trace) === 0) return undefined;
  const correlationId = skipRows(from, head, definitions.map(kindOf)) ?? shared;
  if ((flags & entryFlags.replaces) !== 0) readReplacement(from);
  const context = { deviceId, receivedAt, correlationId, data: undefined };
  if ((flags & entryFlags.metrics) !== 0) metricsCodec.read(from, context);
  const duplicateKey = readDuplicateKey(from);
  return duplicateKey === undefined ? undefined : { duplicateKey, receivedAt };
}

interface EntryHead {
  readonly flags: number;
  readonly deviceId: string;
  readonly receivedAt: EpochMs;
  readonly duplicates: number;
  readonly firstOrder: number;
  /** Rows. */
  readonly count: number;
  /** The correlation id of all rows; undefined when each has its own. */
  readonly shared: string | undefined;
}

function readHead(from: ByteReader): EntryHead {
  const flags = from.byte();
  const deviceId = readId(from);
  const receivedAt = readNumber(from, 0);
  const duplicates = from.varint();
  const firstOrder = from.varint();
  const count = from.varint();
  const isShared = count > 0 && (flags & entryFlags.correlations) === 0;
  const shared = isShared ? readId(from) : undefined;
  return { flags, deviceId, receivedAt, duplicates, firstOrder, count, shared };
}

function decodeEntry(payload: Buffer, kinds: readonly RowKind[], values: LeafValues): DecodedEntry {
  const from = new ByteReader(payload);
  const head = readHead(from);
  const { flags, deviceId, receivedAt, duplicates, firstOrder } = head;
  const rows = readRows(from, head, kinds, values);
  const correlationId = rows.samples[0]?.correlationId;
  const replaces = (flags & entryFlags.replaces) !== 0 && readReplacement(from);
  return {
    deviceId,
    receivedAt,
    duplicates,
    firstOrder,
    rows,
    replaces,
    rest: (data) => readRest(from, flags, { deviceId, receivedAt, correlationId, data }),
  };
}

/** `values` takes the values. */
function readRows(
  from: ByteReader,
  { flags, count, receivedAt, shared }: EntryHead,
  kinds: readonly RowKind[],
  values: LeafValues,
): DecodedRows {
  const samples: DecodedSample[] = [];
  const shapes: DataShape[] = [];
  const valuesAt = values.length;
  const readRowString = stringsOf(from);
  let timestamp = receivedAt;
  for (let i = 0; i < count; i++) {
    const index = (flags & entryFlags.kinds) === 0 ? 0 : from.varint();
    const kind = kinds[index] ?? missing('kind of a row');
    const { organizationId, workspaceId, dataFlowId, topic, stored, shape } = kind;
    timestamp = readNumber(from, timestamp);
    const correlationId = shared ?? readId(from);
    const origin = { organizationId, workspaceId, dataFlowId, correlationId, stored };
    const meta = kind.hasMeta && { meta: JSON.parse(readRowString()) as JsonObject };
    samples.push({ topic, timestamp, ...origin, ...meta });
    shapes.push(shape);
    for (const leaf of shape.leaves) {
      if (leaf.kind === leafKinds.number) values.addNumber(from.double());
      else if (leaf.kind === leafKinds.boolean) values.addNumber(from.byte());
      else values.addText(readRowString());
    }
  }
  return { samples, shapes, values, valuesAt };
}

/** Leaves the reader behind the rows; returns the correlation id of the first one when it has its own. */
function skipRows(
  from: ByteReader,
  { flags, count, shared }: EntryHead,
  kinds: readonly RowKind[],
): string | undefined {
  let first: string | undefined;
  for (let i = 0; i < count; i++) {
    const index = (flags & entryFlags.kinds) === 0 ? 0 : from.varint();
    const { hasMeta, shape } = kinds[index] ?? missing('kind of a row');
    readNumber(from, 0);
    if (shared === undefined) {
      const own = readId(from);
      first ??= own;
    }
    if (hasMeta) skipRowString(from);
    for (const { kind } of shape.leaves) {
      if (kind === leafKinds.number) from.at += 8;
      else if (kind === leafKinds.boolean) from.at += 1;
      else skipRowString(from);
    }
  }
  return first;
}

function skipRowString(from: ByteReader): void {
  if (from.varint() === 0) skipText(from);
}

/** Reads the strings of rows, which are written once for each entry. */
function stringsOf(from: ByteReader): () => string {
  const known: string[] = [];
  return () => {
    const number = from.varint();
    if (number > 0) return known[number - 1] ?? missing('string of a row');
    const text = readText(from);
    known.push(text);
    return text;
  };
}

function readRest(from: ByteReader, flags: number, context: EntryContext): EntryRest {
  const has = (flag: number): boolean => (flags & flag) !== 0;
  const metrics = has(entryFlags.metrics) && { metrics: metricsCodec.read(from, context) };
  const trace = has(entryFlags.trace) && { trace: traceCodec.read(from, context) };
  const notes = has(entryFlags.notes) ? (readJson(from) as ProcessingLogEntry[]) : [];
  const state = has(entryFlags.state) && { state: readJson(from) as JsonObject };
  return { notes, ...state, ...metrics, ...trace };
}

function durableEntryOf(
  { position, storedAt }: KeptEntry,
  { deviceId, receivedAt, duplicates, rows, rest, replaces }: DecodedEntry,
): DurableEntry {
  const samples: StoredSample[] = [];
  for (const data of dataOfRows(rows)) {
    const sample = rows.samples[samples.length] ?? missing('sample of a row');
    const cursor = cursorAt(position, samples.length + 1);
    samples.push({ deviceId, data, ...sample, storedAt, cursor });
  }
  const all = { deviceId, receivedAt, ...rest(samples[0]?.data), position, samples, duplicates };
  return { ...all, ...replaces };
}

// Decoded entry: what both formats of entries have in common when they are read.

/** A row without its data. */
type DecodedSample = Omit<EntrySample, 'deviceId' | 'data'>;

interface DecodedRows {
  readonly samples: readonly DecodedSample[];
  readonly shapes: readonly DataShape[];
  readonly values: LeafValues;
  /** See `LoggedRows`. */
  readonly valuesAt?: number;
}

/** What an entry has apart from its rows. */
type EntryRest = Pick<JournalEntry, 'notes' | 'state' | 'metrics' | 'trace'>;

interface DecodedEntry {
  readonly deviceId: string;
  readonly receivedAt: EpochMs;
  readonly duplicates: number;
  readonly firstOrder: number;
  readonly rows: DecodedRows;
  readonly replaces: ReturnType<typeof readReplacement> | false;
  /** `data` is that of the first row. To be called once. */
  readonly rest: (data: JsonObject | undefined) => EntryRest;
}
