// An entry as bytes: a JSON head with everything that repeats (names, shapes, texts), then one short binary row per sample.
// Layout: head bytes u32, head, rows; a row is: row kind varint, timestamp f64, [meta text varint], then its leaf values:
// numbers f64, booleans u8, texts as varint index into the head's table.
import type { EpochMs } from '../model/instant.ts';
import type { JournalEntry } from '../model/journal-entry.ts';
import type { JsonObject } from '../model/json.ts';
import type { ProcessingLogEntry } from '../model/processing-note.ts';
import type { SampleEntry } from '../model/sample.ts';
import type { UplinkMetrics } from '../model/uplink-metrics.ts';
import { type DataShape, type LeafValue, leafKinds } from './data-shape.ts';

/** A sample with its data taken apart. */
export interface EntryRow {
  readonly sample: Omit<SampleEntry, 'storedAt'>;
  readonly shape: DataShape;
  /** Its values begin here in the entry's list of values. */
  readonly valuesAt: number;
}

/** [organization, workspace, data flow, correlation, stored]. */
export type OriginRow = readonly [string, string, string | null, string, boolean];
/** [index of the origin, of the topic, of the shape, has meta 0 or 1]. */
export type RowKind = readonly [number, number, number, number];

export interface EntryHead {
  readonly device: string;
  readonly receivedAt: EpochMs;
  readonly duplicates: number;
  /** The order number of the first row among all rows of the device; the others follow. */
  readonly firstOrder: number;
  readonly rows: number;
  readonly origins: readonly OriginRow[];
  readonly topics: readonly string[];
  readonly shapes: readonly string[];
  readonly kinds: readonly RowKind[];
  readonly texts: readonly string[];
  readonly notes: readonly ProcessingLogEntry[];
  readonly state?: JsonObject;
  readonly metrics?: UplinkMetrics;
}

export interface EntryToEncode {
  readonly entry: JournalEntry;
  readonly rows: readonly EntryRow[];
  readonly values: readonly LeafValue[];
  readonly duplicates: number;
  readonly firstOrder: number;
}

/** The bytes of the entry: new memory, as they wait for their group. */
export function encodeEntry({ entry, rows, values, duplicates, firstOrder }: EntryToEncode): Buffer {
  const tables = new HeadTables();
  let scratch = Buffer.allocUnsafe(rowBytesMax(rows, values));
  const end = encodeRows(scratch, rows, values, tables);
  scratch = scratch.subarray(0, end);
  const head: EntryHead = {
    device: entry.deviceId,
    receivedAt: entry.receivedAt,
    duplicates,
    firstOrder,
    rows: rows.length,
    origins: tables.origins,
    topics: tables.topics,
    shapes: tables.shapes.map(({ text }) => text),
    kinds: tables.kinds,
    texts: tables.texts,
    notes: entry.notes,
    ...(entry.state === undefined ? {} : { state: entry.state }),
    ...(entry.metrics === undefined ? {} : { metrics: entry.metrics }),
  };
  const headBytes = Buffer.from(JSON.stringify(head));
  const encoded = Buffer.allocUnsafe(4 + headBytes.length + scratch.length);
  encoded.writeUInt32LE(headBytes.length, 0);
  encoded.set(headBytes, 4);
  encoded.set(scratch, 4 + headBytes.length);
  return encoded;
}

function rowBytesMax(rows: readonly EntryRow[], values: readonly LeafValue[]): number {
  return rows.length * 18 + values.length * 8;
}

/** What rows refer to by index. Neighbouring rows mostly share all of it, so the last answer is tried first. */
class HeadTables {
  readonly origins: OriginRow[] = [];
  readonly topics: string[] = [];
  readonly shapes: DataShape[] = [];
  readonly kinds: RowKind[] = [];
  readonly texts: string[] = [];
  readonly #textIndex = new Map<string, number>();
  readonly #kindIndex = new Map<string, number>();
  #lastRow: EntryRow | undefined;
  #lastKind = 0;

  kindOf(row: EntryRow): number {
    if (this.#lastRow !== undefined && sameKind(this.#lastRow, row)) return this.#lastKind;
    const { sample, shape } = row;
    const kind: RowKind = [
      this.#origin(sample),
      indexIn(this.topics, sample.topic),
      indexIn(this.shapes, shape),
      +(sample.meta !== undefined),
    ];
    const key = kind.join(' ');
    let index = this.#kindIndex.get(key);
    if (index === undefined) {
      index = this.kinds.push(kind) - 1;
      this.#kindIndex.set(key, index);
    }
    this.#lastRow = row;
    this.#lastKind = index;
    return index;
  }

  text(text: string): number {
    let index = this.#textIndex.get(text);
    if (index === undefined) {
      index = this.texts.push(text) - 1;
      this.#textIndex.set(text, index);
    }
    return index;
  }

  #origin(sample: EntryRow['sample']): number {
    const { organizationId, workspaceId, dataFlowId, correlationId, stored } = sample;
    const found = this.origins.findIndex(
      (o) =>
        o[0] === organizationId &&
        o[1] === workspaceId &&
        o[2] === dataFlowId &&
        o[3] === correlationId &&
        o[4] === stored,
    );
    return found >= 0 ? found : this.origins.push([organizationId, workspaceId, dataFlowId, correlationId, stored]) - 1;
  }
}

function sameKind(a: EntryRow, b: EntryRow): boolean {
  const x = a.sample;
  const y = b.sample;
  return (
    a.shape === b.shape &&
    x.topic === y.topic &&
    (x.meta === undefined) === (y.meta === undefined) &&
    x.stored === y.stored &&
    x.correlationId === y.correlationId &&
    x.dataFlowId === y.dataFlowId &&
    x.workspaceId === y.workspaceId &&
    x.organizationId === y.organizationId
  );
}

function indexIn<T>(list: T[], item: T): number {
  const found = list.indexOf(item);
  return found >= 0 ? found : list.push(item) - 1;
}

function encodeRows(
  target: Buffer,
  rows: readonly EntryRow[],
  values: readonly LeafValue[],
  tables: HeadTables,
): number {
  const view = new DataView(target.buffer, target.byteOffset, target.length);
  let at = 0;
  for (const row of rows) {
    at = writeVarint(target, at, tables.kindOf(row));
    view.setFloat64(at, row.sample.timestamp, true);
    at += 8;
    if (row.sample.meta !== undefined) at = writeVarint(target, at, tables.text(JSON.stringify(row.sample.meta)));
    let valueAt = row.valuesAt;
    for (const { kind } of row.shape.leaves) {
      const value = values[valueAt++]!;
      if (kind === leafKinds.number) {
        view.setFloat64(at, value as number, true);
        at += 8;
      } else if (kind === leafKinds.boolean) target[at++] = value === true ? 1 : 0;
      else at = writeVarint(target, at, tables.text(value as string));
    }
  }
  return at;
}

function writeVarint(target: Uint8Array, offset: number, value: number): number {
  let rest = value;
  let at = offset;
  while (rest > 127) {
    target[at++] = (rest & 127) | 128;
    rest >>>= 7;
  }
  target[at++] = rest;
  return at;
}
