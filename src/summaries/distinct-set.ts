// A set that can only be counted: exact up to a size, then a HyperLogLog sketch of fixed size.
// It keeps 53-bit hashes instead of texts: two texts share one by chance with odds of 1 to 180
// million in a full exact set.
import {
  emptySketch,
  estimate,
  hashBits,
  mergeSketches,
  type Sketch,
  sketchHash,
} from './hyperloglog.ts';

/** Up to so many different values the count is exact; beyond, its standard error is 0.81 %. */
export const distinctExactMax = 10_000;
const slotsMin = 16;

export interface DistinctSet {
  /** Hashes in the table; of no meaning once there is a sketch. */
  size: number;
  /**
   * Open-addressing table of hashes, 0 where free, at most two thirds full, a power of two long.
   */
  table: Float64Array;
  sketch: Sketch | undefined;
}

export function emptyDistinct(): DistinctSet {
  return { size: 0, table: new Float64Array(slotsMin), sketch: undefined };
}

/** Adds a string. */
export function addDistinct(set: DistinctSet, text: string): void {
  addDistinctHash(set, distinctHash(text));
}

/** Adds a string by its `distinctHash`; dictionaries hash each entry once. */
export function addDistinctHash(set: DistinctSet, hash: number): void {
  if (set.sketch !== undefined) {
    sketchHash(set.sketch, hash);
    return;
  }
  if (!insert(set.table, hash)) return;
  set.size++;
  if (set.size > distinctExactMax) turnIntoSketch(set);
  else if (set.size * 3 > set.table.length * 2) grow(set);
}

/** Joins two sets; `from` stays as it was. */
export function mergeDistinct(into: DistinctSet, from: DistinctSet): void {
  if (from.sketch === undefined) {
    for (const hash of from.table) if (hash !== 0) addDistinctHash(into, hash);
    return;
  }
  mergeSketches(into.sketch ?? turnIntoSketch(into), from.sketch);
}

export function copyDistinct(set: DistinctSet): DistinctSet {
  return { size: set.size, table: set.table.slice(), sketch: set.sketch?.slice() };
}

/** How many different texts were added. */
export function countDistinct(set: DistinctSet): number {
  return set.sketch === undefined ? set.size : Math.round(estimate(set.sketch));
}

function insert(table: Float64Array, hash: number): boolean {
  const mask = table.length - 1;
  let at = hash & mask;
  while (table[at] !== 0) {
    if (table[at] === hash) return false;
    at = (at + 1) & mask;
  }
  table[at] = hash;
  return true;
}

function grow(set: DistinctSet): void {
  const table = new Float64Array(set.table.length * 2);
  for (const hash of set.table) if (hash !== 0) insert(table, hash);
  set.table = table;
}

function turnIntoSketch(set: DistinctSet): Sketch {
  const sketch = emptySketch();
  for (const hash of set.table) if (hash !== 0) sketchHash(sketch, hash);
  set.sketch = sketch;
  set.table = new Float64Array(0);
  return sketch;
}

/**
 * A hash of `hashBits` bits, never 0: two independent multiplicative hashes, each mixed until every
 * bit depends on all.
 */
export function distinctHash(text: string): number {
  let low = 0x9e3779b9 ^ text.length;
  let high = 0x85ebca6b;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    low = Math.imul(low ^ unit, 0x01000193);
    high = Math.imul((high << 5) ^ (high >>> 27) ^ unit, 0x27d4eb2f);
  }
  const mixedLow = mix(low ^ (high >>> 15));
  const mixedHigh = mix(high ^ mixedLow);
  const hash = (mixedHigh >>> (64 - hashBits)) * 2 ** 32 + mixedLow;
  return hash === 0 ? 1 : hash;
}

function mix(hash: number): number {
  let mixed = hash ^ (hash >>> 16);
  mixed = Math.imul(mixed, 0x7feb352d);
  mixed ^= mixed >>> 15;
  mixed = Math.imul(mixed, 0x846ca68b);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
