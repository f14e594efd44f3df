// Range writer: adds the rows of a range, whose devices have numbers, to tables.
import { missing } from '../../structures/missing.ts';
import type { RowKind } from '../../log/row-kind.ts';
import type { RowRange } from '../row-block.ts';
import { addRow, noteOrders, type PlacedRow, type RowPlacing } from './row-placing.ts';

/** Rows of devices that were dropped meanwhile are skipped. */
export function addRange({ block, from, to, position }: RowRange, placing: RowPlacing): void {
  const { dropped, devices } = placing.registry;
  let row: RangeRow | undefined;
  for (let at = from; at < to; at++) {
    const kind = block.kindOf(at);
    if (row?.kind !== kind) row = new RangeRow(kind, block.values, placing);
    row.position = position + at - from;
    row.device = block.devices[at]!;
    if (dropped.size > 0 && row.position < (dropped.get(row.deviceId) ?? 0)) continue;
    row.timestamp = block.timestamps[at]!;
    row.order = block.orders[at]!;
    row.valuesAt = block.valuesAt[at]!;
    addRow(row, placing);
    if (devices.size() > 0) noteOrders(row.deviceId, row.order + 1, placing.registry);
  }
}

/** One object for many rows, because what takes a row copies it. */
class RangeRow implements PlacedRow {
  readonly kind: RowKind;
  readonly topic: string;
  readonly shape: PlacedRow['shape'];
  readonly values: PlacedRow['values'];
  readonly origin: PlacedRow['origin'];
  readonly isLong = false;
  readonly meta = undefined;
  position = 0;
  device = 0;
  timestamp = 0;
  order = 0;
  valuesAt = 0;
  readonly #numbers: RowPlacing['tables']['numbers'];

  constructor(kind: RowKind, values: PlacedRow['values'], { registry, tables }: RowPlacing) {
    const { topic, shape, workspaceId, dataFlowId } = kind;
    this.kind = kind;
    this.topic = topic;
    this.shape = shape;
    this.values = values;
    this.origin = registry.origin(workspaceId, dataFlowId);
    this.#numbers = tables.numbers;
  }

  /** Most rows go to tables, which need only the number. */
  get deviceId(): string {
    return this.#numbers.idOf(this.device) ?? missing('id of a device');
  }
}
