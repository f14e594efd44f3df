// Tally: mergeable summary of values of one data key. Facet: one part of a tally.
// A store makes one tally per device and time bucket. An accumulator names its facet, so that
// nothing else is collected.
import type { EpochMs } from '../../model/instant.ts';
import type { Json } from '../../model/json.ts';

/** Plain data: every facet adds its own fields. */
export interface Tally {
  /** Values that are present and not null, of any type. */
  count: number;
}

/** `other` are arrays and objects. */
export type ValueKind = 'number' | 'boolean' | 'text' | 'other';

/** Present values of one kind, in the order of time. */
export interface ColumnValues {
  readonly kind: ValueKind;
  readonly length: number;
  readonly timestamps: Float64Array;
  /** Places in the order of storing. */
  readonly orders: Float64Array;
  /** Numbers, booleans as 0 and 1, or for texts and others indexes of `texts`. */
  readonly values: Float64Array | Uint8Array | Uint32Array;
  readonly texts: readonly string[];
}

/**
 * What a store knows of all values of a column without reading them. The sum and the range are of
 * numeric kinds only.
 */
interface ColumnStatistics {
  readonly kind: ValueKind;
  readonly count: number;
  readonly sum: number;
  readonly min: number;
  readonly max: number;
}

/**
 * What a store knows of a numeric column by UTC hour; the arrays have one item for each hour. An
 * hour without a value has a count of 0 and no meaning otherwise.
 */
interface HourStatistics {
  readonly kind: ValueKind;
  /** `floor(timestamp / hourMs)`. */
  readonly hours: Float64Array;
  readonly counts: Float64Array;
  readonly sums: Float64Array;
  readonly mins: Float64Array;
  readonly maxs: Float64Array;
  /** Five-minute slots with a value that is true or greater than zero, as twelve bits. */
  readonly slots: Float64Array;
}

/**
 * The count of a tally is not the business of a facet: whoever adds or merges counts. The members
 * are methods, so that a facet of any tally is a `Facet<Tally>`: a tally is only ever given to the
 * facet that started it.
 */
export interface Facet<T extends Tally> {
  /** The tally of no value, neutral when merged. */
  start(): T;
  /** Present when tallies keep values, thousands each, so that fewer of them may be in memory. */
  readonly holdsValues?: true;
  /** Adds a value that is not null. */
  add(tally: T, value: NonNullable<Json>, timestamp: EpochMs, order: number): void;
  /**
   * Merges `from` into `into`. Associative, and commutative as long as values of one instant have
   * different orders; without orders `into` must hold what was stored before.
   */
  merge(into: T, from: T): void;
  /**
   * Whether values of the kind change the tally; others are counted only, and the members below
   * never get them.
   */
  reads(kind: ValueKind): boolean;
  /** Adds the values from index `from` to before `to`. */
  fromColumn(tally: T, values: ColumnValues, from: number, to: number): void;
  /** Adds all values of a column. Without it the store reads the column. */
  fromStatistics?(tally: T, statistics: ColumnStatistics): void;
  /** Adds the hours from index `from` to before `to`. Without it the store reads the column. */
  fromHours?(tally: T, statistics: HourStatistics, from: number, to: number): void;
  /**
   * Whether no value between the times, both inclusive, can change the tally. A facet that has it
   * gets the outermost values first.
   */
  isSettled?(tally: T, oldest: EpochMs, newest: EpochMs): boolean;
}

export function isNumeric(kind: ValueKind): boolean {
  return kind === 'number' || kind === 'boolean';
}

/** The number of a value: numbers, and booleans as 0 and 1; NaN for all others. */
export function numberOf(value: Json): number {
  if (typeof value === 'number') return value;
  return typeof value === 'boolean' ? Number(value) : Number.NaN;
}
