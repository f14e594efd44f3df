// Recent values: what one data key last measured, for formulas that are computed as samples arrive (contract 38.1).
import { dataValue } from '../../model/data-value.ts';
import type { EpochMs } from '../../model/instant.ts';
import type { JsonObject } from '../../model/json.ts';
import { type Input, type Value, type ValueSource, valueOf } from './parse.ts';
import { foldValues } from './windows.ts';

/** Values that a window counts, of a device and key. */
const recentValuesMax = 1_000;
/** The numbers of the window that is folded at the moment. */
const foldedTimes = new Float64Array(recentValuesMax);
const folded = new Float64Array(recentValuesMax);

/** Values of one key in the order of time, those of one instant as they came. */
export class RecentValues {
  readonly #times: EpochMs[] = [];
  readonly #values: Value[] = [];

  get length(): number {
    return this.#times.length;
  }

  add(at: EpochMs, value: Value): void {
    if (value === null) return;
    const place = this.#after(at);
    if (place === this.#times.length) {
      this.#times.push(at);
      this.#values.push(value);
    } else {
      this.#times.splice(place, 0, at);
      this.#values.splice(place, 0, value);
    }
  }

  /** Drops the oldest beyond the limit; returns the time of the last that was dropped. */
  trim(): EpochMs | undefined {
    const excess = this.#times.length - recentValuesMax;
    // In steps, because moving a list costs its length.
    if (excess < recentValuesMax) return undefined;
    const dropped = this.#times[excess - 1];
    this.#times.splice(0, excess);
    this.#values.splice(0, excess);
    return dropped;
  }

  /** Drops what no window counts that ends at the moment or later. */
  dropBefore(moment: EpochMs): void {
    const excess = this.#after(moment) - recentValuesMax;
    if (excess < recentValuesMax) return;
    this.#times.splice(0, excess);
    this.#values.splice(0, excess);
  }

  /** The last value at or before a moment that is not older; `skip` leaves out as many. */
  last(at: EpochMs, maxAgeMs: number, skip: number): Value {
    const place = this.#after(at) - 1 - skip;
    if (place < 0 || at - (this.#times[place] ?? 0) > maxAgeMs) return null;
    return this.#values[place] ?? null;
  }

  /** Of the numbers among the last `valuesMax` values of the window. */
  fold(at: EpochMs, input: Extract<Input, { kind: 'window' }>): Value {
    const to = this.#after(at);
    let from = Math.max(0, to - recentValuesMax, this.#after(at - input.windowMs));
    let count = 0;
    for (; from < to; from++) {
      const value = this.#values[from];
      if (typeof value !== 'number' && typeof value !== 'boolean') continue;
      foldedTimes[count] = this.#times[from] ?? 0;
      folded[count++] = Number(value);
    }
    const result = foldValues(input, foldedTimes, folded, 0, count);
    return Number.isFinite(result) ? result : null;
  }

  /** The first place behind a moment. */
  #after(at: EpochMs): number {
    let high = this.#times.length;
    if (high === 0 || (this.#times[high - 1] ?? 0) <= at) return high;
    let low = 0;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#times[middle] ?? 0) <= at) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** What an input reads for a sample. `listOf` has the values of a source up to the sample's time. */
export function inputValue(
  input: Input,
  sample: { readonly topic: string; readonly timestamp: EpochMs; readonly data: JsonObject },
  fields: JsonObject,
  listOf: (source: ValueSource) => RecentValues,
): Value {
  const { topic, timestamp, data } = sample;
  if (input.kind === 'key') return valueOf(dataValue(data, input.source.key));
  if (input.kind === 'timestamp') return timestamp;
  if (input.kind === 'field') return valueOf(fields[input.name]);
  if (input.kind === 'unusual') throw new Error('What is unusual is computed by rules');
  const source = { ...input.source, topic: input.source.topic ?? topic };
  const list = listOf(source);
  if (input.kind === 'window') return list.fold(timestamp, input);
  if (input.kind === 'last') return list.last(timestamp, input.maxAgeMs, 0);
  const isOwn = source.deviceId === null && source.topic === topic;
  const isHere = !isOwn || valueOf(dataValue(data, source.key)) !== null;
  return list.last(timestamp, Number.POSITIVE_INFINITY, Number(isHere));
}
