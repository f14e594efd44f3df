// Recent values: what one data key last measured, for formulas that are computed as samples arrive (contract 38.1).
import { dataValue } from '../../model/sample.ts';
import type { EpochMs } from '../../model/instant.ts';
import type { JsonObject } from '../../model/json.ts';
import { type Input, type Value, type ValueSource, valueOf } from './parse.ts';
import { type GrowingNumbers, GrowingWindow, type WindowInput } from './windows.ts';

/** Values that a window counts, of a device and key. */
const recentValuesMax = 1_000;
/** Windows that are kept up to date; further ones are folded from their first value each time. */
const windowsMax = 16;
const bytesPerValue = 24;
const bytesPerList = 400;

/** Values of one key in the order of time, those of one instant as they came. */
export class RecentValues implements GrowingNumbers {
  readonly #times: EpochMs[] = [];
  readonly #values: Value[] = [];
  /** How many were dropped before the first. */
  #dropped = 0;
  /** When the last of them was measured. */
  #droppedUntil = Number.NEGATIVE_INFINITY;
  readonly #windows: GrowingWindow[] = [];

  get bytes(): number {
    let bytes = bytesPerList + this.#times.length * bytesPerValue;
    for (const window of this.#windows) bytes += window.bytes;
    return bytes;
  }

  add(at: EpochMs, value: Value): void {
    // A value before those that were dropped would look like the last one before those that are left.
    if (value === null || at < this.#droppedUntil) return;
    const place = this.#after(at);
    if (place === this.#times.length) {
      this.#times.push(at);
      this.#values.push(value);
      return;
    }
    this.#times.splice(place, 0, at);
    this.#values.splice(place, 0, value);
    // The value is late for windows that ended behind it.
    const end = place + this.#dropped;
    for (let i = this.#windows.length - 1; i >= 0; i--)
      if (this.#windows[i]!.to > end) this.#windows.splice(i, 1);
  }

  timeAt(place: number): EpochMs {
    return this.#times[place - this.#dropped] ?? Number.NaN;
  }

  numberAt(place: number): number {
    const value = this.#values[place - this.#dropped];
    return typeof value === 'number' || typeof value === 'boolean' ? Number(value) : Number.NaN;
  }

  /** Drops the oldest beyond the limit. */
  trim(): void {
    const excess = this.#times.length - recentValuesMax;
    // In steps, because moving a list costs its length.
    if (excess >= recentValuesMax) this.#drop(excess);
  }

  /** Whether no value was dropped that a window counts which begins behind a moment and ends at another, or that is the last one before it. */
  covers(from: EpochMs, to: EpochMs): boolean {
    if (this.#droppedUntil === Number.NEGATIVE_INFINITY) return true;
    return (this.#times[0] ?? 0) <= from || this.#after(to) >= recentValuesMax;
  }

  /** Drops what no window counts that ends at the moment or later. */
  dropBefore(moment: EpochMs): void {
    const excess = this.#after(moment) - recentValuesMax;
    if (excess >= recentValuesMax) this.#drop(excess);
  }

  /** The last value at or before a moment that is not older; `skip` leaves out as many. */
  last(at: EpochMs, maxAgeMs: number, skip: number): Value {
    const place = this.#after(at) - 1 - skip;
    if (place < 0 || at - (this.#times[place] ?? 0) > maxAgeMs) return null;
    return this.#values[place] ?? null;
  }

  /** Of the numbers among the last `recentValuesMax` values of the window. */
  fold(at: EpochMs, input: WindowInput): Value {
    const to = this.#after(at);
    const window = this.#windowFor(input, to + this.#dropped);
    const least = Math.max(0, to - recentValuesMax);
    const from = this.#firstAfter(at - input.windowMs, window.from - this.#dropped, least, to);
    const result = window.fold(this, from + this.#dropped, to + this.#dropped);
    return Number.isFinite(result) ? result : null;
  }

  /** A late sample leaves the window of the newest ones where it is. */
  #windowFor(input: WindowInput, to: number): GrowingWindow {
    const known = this.#windows.find((window) => window.folds(input));
    if (known !== undefined && to >= known.to) return known;
    const window = new GrowingWindow(input);
    if (known === undefined && this.#windows.length < windowsMax) this.#windows.push(window);
    return window;
  }

  /** From `least` on. It is near the guess, where a search would read values far from each other. */
  #firstAfter(moment: EpochMs, guess: number, least: number, to: number): number {
    let place = Math.max(guess, least);
    if (place > least && (this.#times[place - 1] ?? 0) > moment)
      return Math.max(least, this.#after(moment));
    for (let steps = 0; steps < 16; steps++, place++)
      if (place >= to || (this.#times[place] ?? 0) > moment) return place;
    return Math.max(least, this.#after(moment));
  }

  #drop(count: number): void {
    this.#droppedUntil = this.#times[count - 1] ?? this.#droppedUntil;
    this.#times.splice(0, count);
    this.#values.splice(0, count);
    this.#dropped += count;
    // A window behind would have to remove numbers that are gone.
    for (let i = this.#windows.length - 1; i >= 0; i--)
      if (this.#windows[i]!.from < this.#dropped) this.#windows.splice(i, 1);
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
