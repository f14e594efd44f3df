// Block encoding: open rows, and shapes that are new, as rows of the tables in ClickHouse.
import { partitionOf } from '../../../model/node-messages.ts';
import { createBoundedMap } from '../../../structures/bounded-map.ts';
import { RowBinary } from '../../clickhouse/statement-values.ts';
import { dataOfRow, type OpenRow } from './open-row.ts';
import { pointKinds, pointsOfShape } from './shape-points.ts';

export function encodeSamples(rows: readonly OpenRow[], journal: number): RowBinary {
  const to = new RowBinary();
  for (const row of rows) {
    addPlace(to, row);
    to.int64(row.timestamp);
    addOrigin(to, row, journal);
    to.string(JSON.stringify(dataOfRow(row)));
    to.string(row.meta === undefined ? '' : JSON.stringify(row.meta));
    to.endRow();
  }
  return to;
}

export function encodePoints(rows: readonly OpenRow[], journal: number): RowBinary {
  const to = new RowBinary();
  for (const row of rows)
    for (const { key, kind, leaf } of pointsOfShape(row.shape)) {
      addPlace(to, row);
      to.string(key);
      to.int64(row.timestamp);
      addOrigin(to, row, journal);
      to.uint8(kind);
      addValue(to, row, kind, leaf);
      to.endRow();
    }
  return to;
}

interface NewShape {
  readonly row: OpenRow;
  readonly shape: string;
}

export function encodeShapes(shapes: readonly NewShape[], journal: number): RowBinary {
  const to = new RowBinary();
  for (const { row, shape } of shapes) {
    addPlace(to, row);
    to.string(shape);
    to.uint32(journal);
    to.int64(row.position);
    to.endRow();
  }
  return to;
}

function addPlace(to: RowBinary, { deviceId, topic }: OpenRow): void {
  to.uint16(partitionOf(deviceId));
  to.string(deviceId);
  to.string(topic);
}

function addOrigin(to: RowBinary, row: OpenRow, journal: number): void {
  to.uint32(journal);
  to.int64(row.position);
  to.uint32(row.index);
  to.int64(row.storedAt);
  to.string(row.workspaceId);
  to.string(row.dataFlowId ?? '');
}

function addValue(to: RowBinary, { values, valuesAt }: OpenRow, kind: number, leaf: number): void {
  if (leaf >= 0 && kind !== pointKinds.text) {
    to.float64(values.numberAt(valuesAt + leaf));
    to.string('');
    return;
  }
  to.float64(0);
  to.string(leaf < 0 ? '' : JSON.stringify(values.textAt(valuesAt + leaf)));
}

// New shapes: those of a device and topic that this process has not stored yet.

/** Devices whose stored shapes are remembered; those of others are stored again. */
const devicesMax = 200_000;
const shapesOfDeviceMax = 64;

export class NewShapes {
  readonly #known = createBoundedMap<string, Set<string>>(devicesMax);

  /** One of each, with its first row. */
  of(rows: readonly OpenRow[]): readonly NewShape[] {
    const found = new Map<string, NewShape>();
    for (const row of rows) {
      const name = nameOf(row);
      if (this.#known.use(row.deviceId)?.has(name) === true) continue;
      const key = JSON.stringify([row.deviceId, name]);
      if (!found.has(key)) found.set(key, { row, shape: row.shape.text });
    }
    return [...found.values()];
  }

  stored(shapes: readonly NewShape[]): void {
    for (const { row } of shapes) {
      const names = this.#known.get(row.deviceId) ?? new Set();
      if (names.size < shapesOfDeviceMax) names.add(nameOf(row));
      this.#known.set(row.deviceId, names);
    }
  }

  forget(deviceId: string): void {
    this.#known.delete(deviceId);
  }
}

function nameOf({ topic, shape }: OpenRow): string {
  return `${topic}\n${shape.text}`;
}
