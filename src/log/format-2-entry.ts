// Entries of journal formats 1 and 2: a JSON head, then a binary row for each sample.
// Layout: head bytes u32, head, rows; a row is: row kind varint, timestamp f64, [meta varint],
// then its leaf values:
// numbers f64, booleans u8, strings as varint index into the head's table.
import type { EpochMs } from '../model/instant.ts';
import type { JsonObject } from '../model/json.ts';
import { ByteReader } from '../structures/bytes.ts';
import { missing } from '../structures/missing.ts';
import { type DataShape, leafKinds, type ShapeInterner } from './data-shape.ts';
import type { DecodedEntry, DecodedRows, DecodedSample, EntryRest } from './decoded-entry.ts';
import { LeafValues } from './leaf-values.ts';

/** [organization, workspace, data flow, correlation, stored]. */
type OriginRow = readonly [string, string, string | null, string, boolean];
/** [index of the origin, of the topic, of the shape, has meta 0 or 1]. */
type RowKind = readonly [number, number, number, number];

interface EntryHead extends EntryRest {
  readonly device: string;
  readonly receivedAt: EpochMs;
  readonly duplicates: number;
  readonly firstOrder: number;
  readonly rows: number;
  readonly origins: readonly OriginRow[];
  readonly topics: readonly string[];
  readonly shapes: readonly string[];
  readonly kinds: readonly RowKind[];
  readonly texts: readonly string[];
}

export function decodeFormat2(payload: Buffer, interner: ShapeInterner): DecodedEntry {
  const from = new ByteReader(payload);
  const headBytes = payload.readUInt32LE(0);
  from.at = 4;
  const head = JSON.parse(from.string(headBytes)) as EntryHead;
  const { device: deviceId, receivedAt, duplicates, firstOrder } = head;
  const { notes, state, metrics, trace } = head;
  const rest: EntryRest = {
    notes,
    ...(state !== undefined && { state }),
    ...(metrics !== undefined && { metrics }),
    ...(trace !== undefined && { trace }),
  };
  const rows = readRows(from, head, interner);
  return { deviceId, receivedAt, duplicates, firstOrder, rows, rest: () => rest };
}

function readRows(from: ByteReader, head: EntryHead, interner: ShapeInterner): DecodedRows {
  const known = head.shapes.map((text) => interner.fromText(text));
  const samples: DecodedSample[] = [];
  const shapes: DataShape[] = [];
  const values = new LeafValues();
  const readText = (): string => head.texts[from.varint()] ?? missing('string of a row');
  for (let i = 0; i < head.rows; i++) {
    const [originIndex, topicIndex, shapeIndex, hasMeta] =
      head.kinds[from.varint()] ?? missing('row kind');
    const origin = head.origins[originIndex] ?? missing('origin of a row');
    const [organizationId, workspaceId, dataFlowId, correlationId, stored] = origin;
    const topic = head.topics[topicIndex] ?? missing('topic of a row');
    const timestamp = from.double();
    const meta = hasMeta === 1 && { meta: JSON.parse(readText()) as JsonObject };
    const ids = { organizationId, workspaceId, dataFlowId, correlationId };
    samples.push({ topic, timestamp, ...ids, stored, ...meta });
    const shape = known[shapeIndex] ?? missing('shape of a row');
    shapes.push(shape);
    for (const { kind } of shape.leaves) {
      if (kind === leafKinds.number) values.addNumber(from.double());
      else if (kind === leafKinds.boolean) values.addNumber(from.byte());
      else values.addText(readText());
    }
  }
  return { samples, shapes, values };
}
