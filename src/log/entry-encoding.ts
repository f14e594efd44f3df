// An entry as bytes: a JSON head with everything that repeats (names, shapes, texts), then one short binary row per sample.
// Layout: head bytes u32, head, rows; a row is: row kind varint, timestamp f64, [meta text varint],
// then its leaf values:
// numbers f64, booleans u8, texts as varint index into the head's table.
import type { EntryTrace } from '../model/entry-trace.ts';
import type { EpochMs } from '../model/instant.ts';
import type { JournalEntry } from '../model/journal-entry.ts';
import type { JsonObject } from '../model/json.ts';
import type { ProcessingLogEntry } from '../model/processing-note.ts';
import type { SampleEntry } from '../model/sample.ts';
import type { UplinkMetrics } from '../model/uplink-metrics.ts';
import { type DataShape, leafKinds } from './data-shape.ts';
import type { LoggedRows } from './logged-entry.ts';
import { numberIn } from './numbering.ts';

type EntrySample = Omit<SampleEntry, 'storedAt'>;

/** The rows of an entry with everything that followers are told of them. */
export interface EntryRows extends LoggedRows {
  readonly samples: readonly EntrySample[];
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
  readonly trace?: EntryTrace;
}

export interface EntryToEncode {
  readonly entry: JournalEntry;
  readonly rows: EntryRows;
  readonly duplicates: number;
  readonly firstOrder: number;
}

/** The bytes of the entry: new memory, as they wait for their group. */
export function encodeEntry({ entry, rows, duplicates, firstOrder }: EntryToEncode): Buffer {
  const tables = new HeadTables();
  const scratch = Buffer.allocUnsafe(rows.samples.length * 18 + rows.values.length * 8);
  const rowBytes = scratch.subarray(0, encodeRows(scratch, rows, tables));
  const head: EntryHead = {
    device: entry.deviceId,
    receivedAt: entry.receivedAt,
    duplicates,
    firstOrder,
    rows: rows.samples.length,
    origins: tables.origins,
    topics: tables.topics,
    shapes: tables.shapes.map(({ text }) => text),
    kinds: tables.kinds,
    texts: tables.texts,
    notes: entry.notes,
    ...(entry.state === undefined ? {} : { state: entry.state }),
    ...(entry.metrics === undefined ? {} : { metrics: entry.metrics }),
    ...(entry.trace === undefined ? {} : { trace: entry.trace }),
  };
  const headBytes = Buffer.from(JSON.stringify(head));
  const encoded = Buffer.allocUnsafe(4 + headBytes.length + rowBytes.length);
  encoded.writeUInt32LE(headBytes.length, 0);
  encoded.set(headBytes, 4);
  encoded.set(rowBytes, 4 + headBytes.length);
  return encoded;
}

const fewTexts = 8;

/**
 * What rows refer to by index. Neighbouring rows mostly share all of it, so the last answer is
 * tried first.
 */
class HeadTables {
  readonly origins: OriginRow[] = [];
  readonly topics: string[] = [];
  readonly shapes: DataShape[] = [];
  readonly kinds: RowKind[] = [];
  readonly texts: string[] = [];
  #textIndex: Map<string, number> | undefined;
  #kindIndex: Map<string, number> | undefined;
  #lastSample: EntrySample | undefined;
  #lastShape: DataShape | undefined;
  #lastKind = 0;

  kindOf(sample: EntrySample, shape: DataShape): number {
    if (this.#lastShape === shape && sameKind(this.#lastSample!, sample)) return this.#lastKind;
    const kind: RowKind = [
      this.#origin(sample),
      indexIn(this.topics, sample.topic),
      indexIn(this.shapes, shape),
      +(sample.meta !== undefined),
    ];
    this.#kindIndex ??= new Map();
    const index = numberIn(this.#kindIndex, kind.join(' '));
    if (index === this.kinds.length) this.kinds.push(kind);
    this.#lastSample = sample;
    this.#lastShape = shape;
    this.#lastKind = index;
    return index;
  }

  text(text: string): number {
    // Few texts are found faster by looking at each; most entries have few.
    if (this.texts.length < fewTexts) return indexIn(this.texts, text);
    this.#textIndex ??= new Map(this.texts.map((known, i) => [known, i]));
    const index = numberIn(this.#textIndex, text);
    if (index === this.texts.length) this.texts.push(text);
    return index;
  }

  #origin(sample: EntrySample): number {
    const { organizationId, workspaceId, dataFlowId, correlationId, stored } = sample;
    const found = this.origins.findIndex(
      (o) =>
        o[0] === organizationId &&
        o[1] === workspaceId &&
        o[2] === dataFlowId &&
        o[3] === correlationId &&
        o[4] === stored,
    );
    return found >= 0
      ? found
      : this.origins.push([organizationId, workspaceId, dataFlowId, correlationId, stored]) - 1;
  }
}

function sameKind(x: EntrySample, y: EntrySample): boolean {
  return (
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
  { samples, shapes, values }: EntryRows,
  tables: HeadTables,
): number {
  const view = new DataView(target.buffer, target.byteOffset, target.length);
  const { numbers } = values;
  let at = 0;
  let valueAt = 0;
  for (let i = 0; i < samples.length; i++) {
    const sample = samples[i]!;
    const shape = shapes[i]!;
    at = writeVarint(target, at, tables.kindOf(sample, shape));
    view.setFloat64(at, sample.timestamp, true);
    at += 8;
    if (sample.meta !== undefined)
      at = writeVarint(target, at, tables.text(JSON.stringify(sample.meta)));
    for (const { kind } of shape.leaves) {
      if (kind === leafKinds.number) {
        view.setFloat64(at, numbers[valueAt]!, true);
        at += 8;
      } else if (kind === leafKinds.boolean) target[at++] = numbers[valueAt]!;
      else at = writeVarint(target, at, tables.text(values.textAt(valueAt)));
      valueAt++;
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
