// An entry from its bytes: the head alone, the rows one by one, or the durable entry as followers read it.
import { cursorAt } from '../model/cursor.ts';
import type { EpochMs } from '../model/instant.ts';
import type { DurableEntry } from '../model/journal-entry.ts';
import type { JsonObject } from '../model/json.ts';
import type { StoredSample } from '../model/sample.ts';
import { type DataShape, dataOf, leafKinds, type ShapeInterner } from './data-shape.ts';
import type { EntryHead } from './entry-encoding.ts';
import type { Frame } from './frame.ts';
import type { LoggedEntry, RowHead } from './logged-entry.ts';
import { LeafValues } from './leaf-values.ts';
import { missing } from '../structures/missing.ts';

export interface DecodedRow {
  readonly topic: string;
  readonly timestamp: EpochMs;
  readonly origin: EntryHead['origins'][number];
  readonly shape: DataShape;
  /** The values of all rows of the entry up to this one. */
  readonly values: LeafValues;
  /** Where those of this row begin. */
  readonly valuesAt: number;
  /** JSON text. */
  readonly meta: string | undefined;
}

export interface DecodedEntry {
  readonly head: EntryHead;
  readonly rows: () => Generator<DecodedRow>;
}

/**
 * The head at once, rows on demand. The bytes were checked by the frame's checksum, so they are
 * trusted.
 */
export function decodeEntry(payload: Buffer, shapes: ShapeInterner): DecodedEntry {
  const headEnd = 4 + payload.readUInt32LE(0);
  const head = JSON.parse(payload.toString('utf8', 4, headEnd)) as EntryHead;
  return { head, rows: () => decodeRows(payload, headEnd, head, shapes) };
}

function* decodeRows(
  payload: Buffer,
  from: number,
  head: EntryHead,
  interner: ShapeInterner,
): Generator<DecodedRow> {
  const view = new DataView(payload.buffer, payload.byteOffset, payload.length);
  const shapes = head.shapes.map((text) => interner.fromText(text));
  const values = new LeafValues();
  let at = from;
  function varint(): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = payload[at++]!;
      value |= (byte & 127) << shift;
      if (byte < 128) return value;
    }
  }
  for (let i = 0; i < head.rows; i++) {
    const [origin, topic, shapeIndex, hasMeta] = head.kinds[varint()] ?? missing('row kind');
    const timestamp = view.getFloat64(at, true);
    at += 8;
    const meta = hasMeta === 1 ? head.texts[varint()] : undefined;
    const shape = shapes[shapeIndex] ?? missing('shape');
    const valuesAt = values.length;
    for (const { kind } of shape.leaves) {
      if (kind === leafKinds.number) {
        values.addNumber(view.getFloat64(at, true));
        at += 8;
      } else if (kind === leafKinds.boolean) values.addNumber(payload[at++]!);
      else values.addText(head.texts[varint()] ?? missing('string'));
    }
    yield {
      topic: head.topics[topic] ?? missing('topic'),
      timestamp,
      origin: head.origins[origin] ?? missing('origin'),
      shape,
      values,
      valuesAt,
      meta,
    };
  }
}

/** The entry as followers and live streams read it. */
export function durableEntryOf(frame: Frame, shapes: ShapeInterner): DurableEntry {
  const { head, rows } = decodeEntry(frame.payload, shapes);
  const samples: StoredSample[] = [];
  for (const row of rows()) {
    const [organizationId, workspaceId, dataFlowId, correlationId, stored] = row.origin;
    samples.push({
      deviceId: head.device,
      topic: row.topic,
      timestamp: row.timestamp,
      data: dataOf(row.shape, row.values.sourceFrom(row.valuesAt)),
      ...(row.meta === undefined ? {} : { meta: JSON.parse(row.meta) as JsonObject }),
      organizationId,
      workspaceId,
      dataFlowId,
      correlationId,
      stored,
      storedAt: frame.storedAt,
      cursor: cursorAt(frame.position, samples.length + 1),
    });
  }
  return {
    deviceId: head.device,
    receivedAt: head.receivedAt,
    notes: head.notes,
    ...(head.state === undefined ? {} : { state: head.state }),
    ...(head.metrics === undefined ? {} : { metrics: head.metrics }),
    ...(head.trace === undefined ? {} : { trace: head.trace }),
    position: frame.position,
    samples,
    duplicates: head.duplicates,
  };
}

/** The entry as sample stores take it. */
export function loggedEntryOf(frame: Frame, shapes: ShapeInterner): LoggedEntry {
  const { head, rows } = decodeEntry(frame.payload, shapes);
  const samples: RowHead[] = [];
  const rowShapes: DataShape[] = [];
  let values = new LeafValues();
  for (const row of rows()) {
    const [, workspaceId, dataFlowId, , stored] = row.origin;
    const { topic, timestamp, shape } = row;
    const meta = row.meta === undefined ? {} : { meta: JSON.parse(row.meta) as JsonObject };
    samples.push({ topic, timestamp, workspaceId, dataFlowId, stored, ...meta });
    rowShapes.push(shape);
    values = row.values;
  }
  return {
    position: frame.position,
    deviceId: head.device,
    firstOrder: head.firstOrder,
    rows: { samples, shapes: rowShapes, values },
    bytes: frame.payload.length,
  };
}
