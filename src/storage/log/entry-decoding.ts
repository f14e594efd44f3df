// An entry from its bytes: as sample stores take it, or as followers and live streams read it.
import { cursorAt } from '../../model/cursor.ts';
import type { ProcessingLogEntry } from '../../model/entry-trace.ts';
import type { EpochMs } from '../../model/instant.ts';
import type { DurableEntry, JournalEntry } from '../../model/journal-entry.ts';
import type { JsonObject } from '../../model/json.ts';
import type { Replacement } from '../../model/replacement.ts';
import type { StoredSample } from '../../model/sample.ts';
import { ByteReader } from '../../structures/bytes.ts';
import { missing } from '../../structures/missing.ts';
import { type DataShape, leafKinds, LeafValues, type ShapeInterner } from './data-shape.ts';
import { entryFlags } from './entry-encoding.ts';
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
} from './field-codec.ts';
import type { KeptEntry } from './journal-block.ts';
import {
  createKindReader,
  dataOfRows,
  type EntrySample,
  type ReadEntry,
  type RowKind,
} from './logged-entry.ts';

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
