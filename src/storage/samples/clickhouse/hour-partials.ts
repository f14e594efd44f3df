// Hour partials: summaries of stored values by device, topic, data key and hour, in columns of doubles.
import type { DataShape } from '../../log/data-shape.ts';
import { type EpochMs, hourMs } from '../../../model/instant.ts';
import { missing } from '../../../structures/missing.ts';
import { slotBit } from '../../../query/summaries/occupied-slots.ts';
import type { OpenRow } from './open-rows.ts';
import { pointKinds, pointsOfShape, type ShapePoint } from './sample-tables.ts';

/** Where each number of a partial is. A partial without a number has no sum and no range. */
export const field = {
  values: 0,
  numeric: 1,
  sum: 2,
  /** What rounding took from the sum. */
  sumError: 3,
  /** Of the amounts of the numbers. */
  amounts: 4,
  min: 5,
  max: 6,
  /** The first value: its time, its number or NaN, and its place in the order of storing. */
  firstAt: 7,
  first: 8,
  firstStoredAt: 9,
  firstPosition: 10,
  firstIndex: 11,
  lastAt: 12,
  last: 13,
  lastStoredAt: 14,
  lastPosition: 15,
  lastIndex: 16,
  trues: 17,
  falses: 18,
  slots: 19,
} as const;
const fields = 20;
const partialsPerPart = 4_096;

/** A view of the numbers. */
export type HourPartial = Float64Array;

/** Partials of the keys of one shape, in the order of its points. */
export interface HourGroup {
  readonly topic: string;
  readonly shape: DataShape;
  /** When the hour begins. */
  readonly hourAt: EpochMs;
  readonly workspaceId: string;
  readonly dataFlowId: string | null;
  /** Of the first entry that has a row of it. */
  readonly position: number;
  readonly points: readonly ShapePoint[];
  /** The first of its partials. */
  readonly first: number;
}

export function hourOf(at: EpochMs): EpochMs {
  return Math.floor(at / hourMs) * hourMs;
}

/** Whether the row is older than the hour before its storing: its partials do not wait. */
export function isLate({ timestamp, storedAt }: OpenRow): boolean {
  return hourOf(timestamp) < hourOf(storedAt) - hourMs;
}

/** `perEntry` keeps the rows of different entries apart. */
export class HourPartials {
  readonly #perEntry: boolean;
  readonly #parts: Float64Array[] = [];
  readonly #devices = new Map<string, DeviceGroups>();
  #count = 0;

  constructor({
    perEntry = false,
  }: {
    readonly perEntry?: boolean;
  } = {}) {
    this.#perEntry = perEntry;
  }

  /** Rows are given in the order of storing. */
  add(row: OpenRow): void {
    const { points, first } = this.#groupOf(row);
    for (let i = 0; i < points.length; i++) {
      const index = first + i;
      const part = this.#parts[Math.floor(index / partialsPerPart)] ?? missing('part of partials');
      addValue(part, (index % partialsPerPart) * fields, row, points[i]!);
    }
  }

  drop(deviceId: string): void {
    this.#devices.delete(deviceId);
  }

  groupsOf(deviceId: string): readonly HourGroup[] {
    return this.#devices.get(deviceId)?.list ?? none;
  }

  deviceIds(): Iterable<string> {
    return this.#devices.keys();
  }

  /** Those of dropped devices count until the end. */
  get count(): number {
    return this.#count;
  }

  partialOf(group: HourGroup, point: number): HourPartial {
    return this.#partialAt(group.first + point);
  }

  #groupOf(row: OpenRow): HourGroup {
    const { deviceId } = row;
    const known = this.#devices.get(deviceId);
    const newest = known?.list.at(-1);
    if (newest !== undefined && isOfGroup(newest, row, this.#perEntry)) return newest;
    const groups: DeviceGroups = known ?? { list: [], byName: new Map() };
    if (known === undefined) this.#devices.set(deviceId, groups);
    const name = nameOf(row, this.#perEntry);
    const ofShape = groups.byName.get(row.shape) ?? new Map<string, HourGroup>();
    groups.byName.set(row.shape, ofShape);
    const found = ofShape.get(name) ?? this.#begin(row);
    if (!ofShape.has(name)) groups.list.push(found);
    ofShape.set(name, found);
    return found;
  }

  #begin(row: OpenRow): HourGroup {
    const { topic, shape, timestamp, workspaceId, dataFlowId, position } = row;
    const points = pointsOfShape(shape);
    const origin = { workspaceId, dataFlowId, position };
    const group = {
      topic,
      shape,
      hourAt: hourOf(timestamp),
      ...origin,
      points,
      first: this.#count,
    };
    this.#count += points.length;
    while (this.#parts.length * partialsPerPart < this.#count)
      this.#parts.push(new Float64Array(partialsPerPart * fields));
    for (let i = 0; i < points.length; i++) clear(this.#partialAt(group.first + i));
    return group;
  }

  #partialAt(index: number): HourPartial {
    const part = this.#parts[Math.floor(index / partialsPerPart)] ?? missing('part of partials');
    const at = (index % partialsPerPart) * fields;
    return part.subarray(at, at + fields);
  }
}

const none: readonly never[] = [];

interface DeviceGroups {
  readonly list: HourGroup[];
  readonly byName: Map<DataShape, Map<string, HourGroup>>;
}

function isOfGroup(group: HourGroup, row: OpenRow, perEntry: boolean): boolean {
  return (
    group.shape === row.shape &&
    row.timestamp >= group.hourAt &&
    row.timestamp < group.hourAt + hourMs &&
    group.topic === row.topic &&
    group.workspaceId === row.workspaceId &&
    group.dataFlowId === row.dataFlowId &&
    (!perEntry || group.position === row.position)
  );
}

function nameOf(
  { topic, timestamp, workspaceId, dataFlowId, position }: OpenRow,
  perEntry: boolean,
) {
  return `${hourOf(timestamp)} ${perEntry ? position : ''} ${JSON.stringify([workspaceId, dataFlowId])}${topic}`;
}

function clear(partial: HourPartial): void {
  partial[field.min] = Number.POSITIVE_INFINITY;
  partial[field.max] = Number.NEGATIVE_INFINITY;
  partial[field.firstAt] = Number.POSITIVE_INFINITY;
  partial[field.lastAt] = Number.NEGATIVE_INFINITY;
}

/** `at` is where the partial begins: a view for each value would cost more than the value. */
function addValue(part: Float64Array, at: number, row: OpenRow, { kind, leaf }: ShapePoint): void {
  const isNumeric = kind === pointKinds.number || kind === pointKinds.boolean;
  const number = isNumeric ? row.values.numberAt(row.valuesAt + leaf) : Number.NaN;
  const { timestamp } = row;
  part[at + field.values]! += 1;
  if (isNumeric) addNumber(part, at, number, timestamp);
  if (kind === pointKinds.boolean) part[at + (number === 1 ? field.trues : field.falses)]! += 1;
  if (timestamp < part[at + field.firstAt]!) setEnd(part, at + field.firstAt, row, number);
  if (timestamp >= part[at + field.lastAt]!) setEnd(part, at + field.lastAt, row, number);
}

function addNumber(part: Float64Array, at: number, number: number, timestamp: EpochMs): void {
  part[at + field.numeric]! += 1;
  addTerm(part, at, number);
  part[at + field.amounts]! += Math.abs(number);
  if (number < part[at + field.min]!) part[at + field.min] = number;
  if (number > part[at + field.max]!) part[at + field.max] = number;
  if (number > 0) part[at + field.slots]! |= slotBit(timestamp);
}

/** As `addTerm` of compensated sums. */
function addTerm(part: Float64Array, at: number, term: number): void {
  const before = part[at + field.sum]!;
  const after = before + term;
  const taken = after - before;
  part[at + field.sum] = after;
  part[at + field.sumError]! += before - (after - taken) + (term - taken);
}

function setEnd(part: Float64Array, at: number, row: OpenRow, number: number): void {
  part[at] = row.timestamp;
  part[at + 1] = number;
  part[at + 2] = row.storedAt;
  part[at + 3] = row.position;
  part[at + 4] = row.index;
}

/** Adds what other rows of the same key and hour have. */
export function mergePartials(into: HourPartial, from: HourPartial): void {
  for (const sum of [field.values, field.numeric, field.amounts, field.trues, field.falses])
    into[sum]! += from[sum]!;
  addTerm(into, 0, from[field.sum]!);
  into[field.sumError]! += from[field.sumError]!;
  into[field.min] = Math.min(into[field.min]!, from[field.min]!);
  into[field.max] = Math.max(into[field.max]!, from[field.max]!);
  into[field.slots]! |= from[field.slots]!;
  if (isBefore(from, into, field.firstAt)) copyEnd(into, from, field.firstAt);
  if (isBefore(into, from, field.lastAt)) copyEnd(into, from, field.lastAt);
}

/** By time, then by the place in the order of storing. */
function isBefore(a: HourPartial, b: HourPartial, end: number): boolean {
  for (const part of [end, end + 2, end + 3, end + 4])
    if (a[part] !== b[part]) return a[part]! < b[part]!;
  return false;
}

function copyEnd(into: HourPartial, from: HourPartial, end: number): void {
  into.set(from.subarray(end, end + 5), end);
}
