// Expected range: what is usual for a value at this hour of the week, learned from the hours of eight weeks before (contract 38).
import { setImmediate as nextTurn } from 'node:timers/promises';
import { dayMs, type EpochMs, formatInstant, hourMs } from '../model/instant.ts';
import { problem } from '../model/problem.ts';
import type { TimeZone } from '../model/time-zone.ts';
import type { Tally } from './summaries/facet.ts';
import { accumulators } from './summaries/accumulators.ts';
import { noSlots } from './summaries/occupied-slots.ts';
import { type QueriedDevice, readAccumulation } from './accumulation.ts';
import { bucketRequest } from './bucket-answers.ts';
import type { Calendars } from './calendars.ts';
import type { DeviceQueries } from './device-queries.ts';
import type { BucketRequest } from '../storage/samples/sample-store.ts';

const intervalDaysMax = 92;
const weekHours = 168;
const weeksLearned = 8;
/** Of the hours of two weeks, below which nothing is known, and of four, from which hours of the week differ. */
const knownShare = 0.6;
const hoursOfDayMin = knownShare * 2 * weekHours;
const hoursOfWeekMin = knownShare * 4 * weekHours;
/** Hours of a week that has a level. */
const levelHoursMin = weekHours / 2;
/** Hours of a day that has an effect. */
const dayHoursMin = 12;
/** Pairs of days that follow each other, from which it is told how much of an effect stays. */
const carryingPairsMin = 10;
/** An effect beyond as many times the usual one counts as that. */
const effectsMax = 2.5;
/** Makes the median absolute deviation of normal noise its standard deviation. */
const madScale = 1.4826;
const widths = { LOW: 6, MEDIUM: 4, HIGH: 3 } as const;

export type Sensitivity = keyof typeof widths;
type RangeMethod = 'HOUR_OF_WEEK' | 'HOUR_OF_DAY' | 'NONE';

interface ExpectedRange {
  /** Starts of hours. */
  readonly timestamps: string[];
  /** By hour; null where nothing is known. */
  readonly expected: (number | null)[];
  readonly lower: (number | null)[];
  readonly upper: (number | null)[];
  /** Of the last day of the interval. */
  readonly method: RangeMethod;
  /** Weeks from which the range of the last day was learned. */
  readonly weeks: number;
}

/**
 * The range of each hour of the interval, learned from what was before its day. Refuses (400) a bad
 * interval or one of more than `intervalDaysMax` days, and an unknown zone.
 */
export async function expectedRange(
  device: QueriedDevice,
  body: {
    readonly topic: string;
    readonly dataKey: string;
    readonly interval: { readonly from: string; readonly to: string };
    readonly sensitivity?: Sensitivity | null;
    readonly timeZone?: string | null;
  },
  queries: DeviceQueries,
): Promise<ExpectedRange> {
  const accumulation = readAccumulation(
    { ...body, accumulator: 'AVG' },
    queries.calendars.openZone,
  );
  const { interval } = accumulation;
  // As it was sent: 92 days that do not begin with an hour reach into one hour more.
  if (interval.to - interval.from > intervalDaysMax * dayMs)
    throw problem('badInterval', { reason: `it must have at most ${intervalDaysMax} days` });
  const from = Math.floor(interval.from / hourMs) * hourMs;
  const to = Math.ceil(interval.to / hourMs) * hourMs;
  const zone = await queries.calendars.zoneOf(body.timeZone, device.workspaceId);
  // A day more, because the first day of the interval may have begun before it.
  const first = from - (weeksLearned * 7 + 1) * dayMs;
  const edges = Array.from({ length: (to - first) / hourMs + 1 }, (_, i) => first + i * hourMs);
  const plan = { source: 'hours', starts: [], edges, places: [] } as const;
  const request = bucketRequest([device], accumulation, 'AVG', plan);
  const [tallies = []] = await queries.store.buckets(request);
  return rangeOf(
    hoursOf(tallies, first, zone),
    (from - first) / hourMs,
    body.sensitivity ?? 'MEDIUM',
  );
}

/** Hours that follow each other. */
export interface Hours {
  /** UTC time of the first. */
  readonly first: EpochMs;
  /** NaN for hours without a value. */
  readonly averages: Float64Array;
  readonly minima: Float64Array;
  readonly maxima: Float64Array;
  /** The local hour of each, counted from the epoch. */
  readonly localHours: Float64Array;
}

export function hoursOf(
  tallies: readonly (Tally | undefined)[],
  first: EpochMs,
  zone: TimeZone,
): Hours {
  const answers = (name: 'AVG' | 'MIN' | 'MAX') =>
    Float64Array.from(tallies, (tally) =>
      tally === undefined ? Number.NaN : (accumulators[name].finish(tally, noSlots) ?? Number.NaN),
    );
  return {
    first,
    averages: answers('AVG'),
    minima: answers('MIN'),
    maxima: answers('MAX'),
    localHours: localHoursOf(first, tallies.length, zone),
  };
}

/** The local hour of each UTC hour, counted from the epoch. */
export function localHoursOf(first: EpochMs, count: number, zone: TimeZone): Float64Array {
  const local = new Float64Array(count);
  for (const { start, end, offsetMs } of zone.pieces(first, first + count * hourMs)) {
    const begin = Math.max(0, Math.ceil((start - first) / hourMs));
    const stop = Math.min(count, Math.ceil((end - first) / hourMs));
    for (let i = begin; i < stop; i++)
      local[i] = Math.floor((first + i * hourMs + offsetMs) / hourMs);
  }
  return local;
}

/** The range of the hours from the index on, each day learned from what was before it. */
export async function rangeOf(
  hours: Hours,
  from: number,
  sensitivity: Sensitivity,
): Promise<ExpectedRange> {
  const timestamps: string[] = [];
  const [expected, lower, upper]: (number | null)[][] = [[], [], []];
  let fit: Fit | undefined;
  let day = Number.NaN;
  for (let i = from; i < hours.averages.length; i++) {
    const hour = hours.localHours[i]!;
    if (Math.floor(hour / 24) !== day) {
      // A fit takes some milliseconds; then others have their turn.
      if (fit !== undefined) await nextTurn();
      day = Math.floor(hour / 24);
      let dayStart = i;
      while (dayStart > 0 && hours.localHours[dayStart - 1]! >= day * 24) dayStart--;
      fit = learn(hours, dayStart);
    }
    const range = fit?.rangeAt(hour, sensitivity);
    timestamps.push(formatInstant(hours.first + i * hourMs));
    expected?.push(range?.expected ?? null);
    lower?.push(range?.lower ?? null);
    upper?.push(range?.upper ?? null);
  }
  return {
    timestamps,
    expected: expected ?? [],
    lower: lower ?? [],
    upper: upper ?? [],
    method: fit?.method ?? 'NONE',
    weeks: fit?.weeks ?? 0,
  };
}

interface Range {
  readonly expected: number;
  readonly lower: number;
  readonly upper: number;
}

/** What was learned of a series. */
interface Fit {
  readonly method: RangeMethod;
  readonly weeks: number;
  /** Of the last week. */
  readonly level: number;
  /** The numbers of a slot, as `rangeOfSlot` reads them. */
  readonly numbersAt: (slot: number) => ArrayLike<number>;
  /** Undefined for an hour of which nothing is known. */
  readonly rangeAt: (localHour: number, sensitivity: Sensitivity) => Range | undefined;
}

const slotNumbers = 5;

/**
 * `numbers` are the middles of averages, minima and maxima, and the scales of the latter two, from
 * the level on.
 */
function rangeOfSlot(
  level: number,
  numbers: ArrayLike<number>,
  sensitivity: Sensitivity,
): Range | undefined {
  const middle = numbers[0]!;
  if (Number.isNaN(middle)) return undefined;
  const width = widths[sensitivity];
  return {
    expected: level + middle,
    lower: level + numbers[1]! - width * numbers[3]!,
    upper: level + numbers[2]! + width * numbers[4]!,
  };
}

/** The range of one local day of a series, in little memory. */
class LearnedDay {
  readonly method: RangeMethod;
  /** The local day, counted from the epoch. */
  readonly day: number;
  readonly #zone: TimeZone;
  readonly #level: number;
  /** The numbers of one slot after the other. */
  readonly #slots: Float32Array;

  constructor(day: number, zone: TimeZone, { method, level, numbersAt }: Fit) {
    this.day = day;
    this.#zone = zone;
    this.method = method;
    this.#level = level;
    const count = method === 'HOUR_OF_WEEK' ? weekHours : 48;
    this.#slots = new Float32Array(method === 'NONE' ? 0 : count * slotNumbers);
    for (let at = 0; at < this.#slots.length; at += slotNumbers)
      this.#slots.set(numbersAt(at / slotNumbers), at);
  }

  /** The local day of a moment. */
  readonly dayOf = (at: EpochMs): number => Math.floor(this.#localHour(at) / 24);

  /** Undefined where nothing is known. */
  readonly rangeAt = (at: EpochMs, sensitivity: Sensitivity): Range | undefined => {
    if (this.method === 'NONE') return undefined;
    const slotOf = this.method === 'HOUR_OF_WEEK' ? hourOfWeek : hourOfDay;
    const start = slotOf(this.#localHour(at)) * slotNumbers;
    const numbers = this.#slots.subarray(start, start + slotNumbers);
    return rangeOfSlot(this.#level, numbers, sensitivity);
  };

  /** Whether the value is outside of the range; undefined where nothing is known. */
  readonly isOutside = (
    value: number,
    at: EpochMs,
    sensitivity: Sensitivity,
  ): boolean | undefined => {
    const range = this.rangeAt(at, sensitivity);
    if (range === undefined) return undefined;
    // A value that is always the same must not be outside because its range was rounded.
    const rounding = (bound: number): number =>
      1e-6 * Math.abs(bound - this.#level) + 1e-12 * Math.abs(this.#level);
    const { lower, upper } = range;
    return value < lower - rounding(lower) || value > upper + rounding(upper);
  };

  #localHour(at: EpochMs): number {
    const [piece] = this.#zone.pieces(at, at);
    return Math.floor((at + (piece?.offsetMs ?? 0)) / hourMs);
  }
}

/** Learns the local day of a moment from the eight weeks before it, in the zone of the workspace. */
export async function learnDay(
  device: QueriedDevice,
  { topic, dataKey }: { readonly topic: string; readonly dataKey: string },
  at: EpochMs,
  store: {
    buckets(request: BucketRequest): Promise<readonly (readonly (Tally | undefined)[])[]>;
  },
  calendars: Calendars,
): Promise<LearnedDay> {
  const zone = await calendars.zoneOf(undefined, device.workspaceId);
  const hour = Math.floor(at / hourMs) * hourMs;
  // A day more, because the day began before the moment.
  const first = hour - (weeksLearned * 7 + 1) * dayMs;
  const localHours = localHoursOf(first, (hour - first) / hourMs + 1, zone);
  const day = Math.floor((localHours.at(-1) ?? 0) / 24);
  const before = localHours.findIndex((local) => local >= day * 24);
  const from = first + Math.max(0, before - weeksLearned * weekHours) * hourMs;
  const to = first + before * hourMs;
  const interval = { from: formatInstant(from), to: formatInstant(to) };
  const asked = { topic, dataKey, interval, accumulator: 'AVG' };
  const accumulation = readAccumulation(asked, calendars.openZone);
  const edges = Array.from({ length: (to - from) / hourMs + 1 }, (_, i) => from + i * hourMs);
  const plan = { source: 'hours', starts: [], edges, places: [] } as const;
  const [tallies = []] = await store.buckets(bucketRequest([device], accumulation, 'AVG', plan));
  return new LearnedDay(day, zone, learn(hoursOf(tallies, from, zone), edges.length - 1));
}

/**
 * Learns from the eight weeks of hours before the index. Days of the past are compared with what
 * would have been expected of them: with the week before them, and with the day before them. So the
 * range is as wide as such expectations were wrong, also where whole days differ from others.
 */
function learn(hours: Hours, before: number): Fit {
  const { averages, localHours } = hours;
  const begin = Math.max(0, before - weeksLearned * weekHours);
  const known: number[] = [];
  for (let i = begin; i < before; i++) if (!Number.isNaN(averages[i]!)) known.push(i);
  const method = known.length < hoursOfWeekMin ? 'HOUR_OF_DAY' : 'HOUR_OF_WEEK';
  const slotOf = method === 'HOUR_OF_WEEK' ? hourOfWeek : hourOfDay;
  const shape = shapeOf(known, (i) => slotOf(localHours[i]!), averages);
  const flat = (values: Float64Array): Float64Array =>
    values.map((value, i) => value - shape[slotOf(localHours[i]!)]!);
  const flatAverages = flat(averages);
  const levels = weekLevels(flatAverages, before).filter((each) => !Number.isNaN(each));
  const [level] = levels;
  if (known.length < hoursOfDayMin || level === undefined)
    return { method: 'NONE', weeks: 0, level: 0, numbersAt: () => [], rangeAt: () => undefined };
  const dayLevels = levelsBeforeDays(flatAverages, before);
  /** Days before the index; 0 is the last one. */
  const dayOf = (i: number): number => Math.floor((before - 1 - i) / 24);
  const leveled = known.filter((i) => !Number.isNaN(dayLevels[dayOf(i)]!));
  const learned = {
    slots: leveled.map((i) => slotOf(localHours[i]!)),
    days: leveled.map(dayOf),
    localHours: leveled.map((i) => localHours[i]!),
    circle: method === 'HOUR_OF_WEEK' ? weekHours : 24,
  };
  const residuals = (flatValues: Float64Array): Float64Array =>
    Float64Array.from(leveled, (i) => flatValues[i]! - dayLevels[dayOf(i)]!);
  const ofAverages = residuals(flatAverages);
  const middles = slotMiddles(learned.slots, ofAverages);
  const effects = new DayEffects(learned, ofAverages, middles);
  const minimum = new SlotPart(learned, residuals(flat(hours.minima)), effects);
  const maximum = new SlotPart(learned, residuals(flat(hours.maxima)), effects);
  const dayHourOf = (slot: number): number =>
    method === 'HOUR_OF_WEEK' ? dayHourOfWeekHour(slot) : slot;
  const numbersAt = (slot: number): ArrayLike<number> => [
    shape[slot]! + middles[slot]!,
    shape[slot]! + minimum.middleAt(slot),
    shape[slot]! + maximum.middleAt(slot),
    minimum.scaleAt(slot, dayHourOf(slot)),
    maximum.scaleAt(slot, dayHourOf(slot)),
  ];
  const today = level + effects.carried;
  return {
    method,
    weeks: levels.length,
    level: today,
    numbersAt,
    rangeAt: (localHour, sensitivity) =>
      rangeOfSlot(today, numbersAt(slotOf(localHour)), sensitivity),
  };
}

/**
 * How much the values of each slot differ from all; NaN for a slot without any. Levels are those of
 * what is left: the median of a series with two states would jump when the longer one changes.
 */
function shapeOf(
  known: readonly number[],
  slotAt: (i: number) => number,
  averages: Float64Array,
): Float64Array {
  const all = medianOf(Float64Array.from(known, (i) => averages[i]!));
  const ofSlots = slotMiddles(
    known.map(slotAt),
    Float64Array.from(known, (i) => averages[i]!),
  );
  return ofSlots.map((value) => value - all);
}

/** The median of the hours of a week; NaN for too few hours. */
function levelOf(averages: Float64Array, from: number): number {
  const found = averages
    .subarray(Math.max(0, from), Math.max(0, from + weekHours))
    .filter((value) => !Number.isNaN(value));
  return found.length < levelHoursMin ? Number.NaN : medianOf(found);
}

/** Of each week counted backwards. */
function weekLevels(averages: Float64Array, before: number): number[] {
  return Array.from({ length: weeksLearned }, (_, week) =>
    levelOf(averages, before - (week + 1) * weekHours),
  );
}

/** Of the week before each day counted backwards; of its own week where nothing is known of that. */
function levelsBeforeDays(averages: Float64Array, before: number): Float64Array {
  return Float64Array.from({ length: weeksLearned * 7 }, (_, day) => {
    const start = before - (day + 1) * 24;
    const level = levelOf(averages, start - weekHours);
    return Number.isNaN(level) ? levelOf(averages, Math.min(start, before - weekHours)) : level;
  });
}

/** Monday 0:00 is 0; the epoch was a Thursday. */
function hourOfWeek(localHour: number): number {
  return (((localHour + 3 * 24) % weekHours) + weekHours) % weekHours;
}

/** Hours of the weekend follow those of working days. */
function hourOfDay(localHour: number): number {
  return dayHourOfWeekHour(hourOfWeek(localHour));
}

function dayHourOfWeekHour(weekHour: number): number {
  return (weekHour % 24) + (weekHour < 5 * 24 ? 0 : 24);
}

/** Hours that were learned from, one list for each fact. */
interface LearnedHours {
  readonly slots: readonly number[];
  /** Counted backwards; 0 is the last one. */
  readonly days: readonly number[];
  readonly localHours: readonly number[];
  /** The number of slots after which the first follows again. */
  readonly circle: number;
}

/** The median of the residuals of each slot; NaN without any. */
function slotMiddles(slots: readonly number[], residuals: Float64Array): Float64Array {
  const bySlot: number[][] = Array.from({ length: weekHours }, () => []);
  for (const [i, slot] of slots.entries()) bySlot[slot]?.push(residuals[i]!);
  return Float64Array.from(bySlot, (values) => medianOf(Float64Array.from(values)));
}

/** What whole days differ by: weather and holidays move all of their hours. */
class DayEffects {
  /** By day counted backwards; NaN for one with too few hours. */
  readonly #effects: Float64Array;
  /** Of the differences that the day before did not tell. */
  readonly scale: number;
  /** What the last day leaves for the next one. */
  readonly carried: number;

  constructor({ days, slots }: LearnedHours, residuals: Float64Array, middles: Float64Array) {
    const byDay: number[][] = Array.from({ length: weeksLearned * 7 }, () => []);
    for (const [i, day] of days.entries()) byDay[day]?.push(residuals[i]! - middles[slots[i]!]!);
    this.#effects = Float64Array.from(byDay, (values) =>
      values.length < dayHoursMin ? Number.NaN : medianOf(Float64Array.from(values)),
    );
    const usual = scaleOf(this.#effects);
    // A day of faults is not carried on.
    const limited = this.#effects.map((effect) =>
      Math.max(-effectsMax * usual, Math.min(effectsMax * usual, effect)),
    );
    const share = carriedShare(limited);
    const left = this.#effects.map(
      (effect, day) => effect - share * (limited[day + 1] ?? Number.NaN),
    );
    const scale = scaleOf(left);
    this.scale = Number.isNaN(scale) ? 0 : scale;
    const last = limited[0]!;
    this.carried = Number.isNaN(last) ? 0 : share * last;
  }

  of(day: number): number {
    const effect = this.#effects[day]!;
    return Number.isNaN(effect) ? 0 : effect;
  }
}

/** How much of the effect of a day the next one has, 0 to 1. */
function carriedShare(effects: Float64Array): number {
  let [products, squares, pairs] = [0, 0, 0];
  for (let day = 0; day + 1 < effects.length; day++) {
    const [effect, before] = [effects[day]!, effects[day + 1]!];
    if (Number.isNaN(effect) || Number.isNaN(before)) continue;
    products += effect * before;
    squares += before * before;
    pairs++;
  }
  if (pairs < carryingPairsMin || squares === 0) return 0;
  return Math.max(0, Math.min(1, products / squares));
}

/** The standard deviation of normal noise, from medians; NaN without any value. */
function scaleOf(values: Float64Array): number {
  const known = values.filter((value) => !Number.isNaN(value));
  const middle = medianOf(known);
  return madScale * medianOf(known.map((value) => Math.abs(value - middle)));
}

/** How far values of a slot are from its middle, when what moves the whole day is taken away. */
class Deviations {
  readonly #circle: number;
  readonly #bySlot: readonly number[][];

  /** `circle` is the number of slots after which the first follows again. */
  constructor(slots: readonly number[], deviations: Float64Array, circle: number) {
    this.#circle = circle;
    const bySlot: number[][] = Array.from({ length: weekHours }, () => []);
    for (const [i, slot] of slots.entries()) bySlot[slot]?.push(deviations[i]!);
    this.#bySlot = bySlot;
  }

  countAt(slot: number): number {
    return this.#bySlot[slot]?.length ?? 0;
  }

  /** Of the slot and its neighbors; NaN without any. */
  scaleAt(slot: number): number {
    const circle = this.#circle;
    const base = slot - (slot % circle);
    const found = [-1, 0, 1].flatMap(
      (step) => this.#bySlot[base + ((slot - base + step + circle) % circle)] ?? [],
    );
    return madScale * medianOf(Float64Array.from(found));
  }
}

/** One of the three series, by slot. */
class SlotPart {
  readonly #middles: Float64Array;
  readonly #ofSlots: Deviations;
  /** Of more days: a slot of the week has eight values. */
  readonly #ofHours: Deviations;
  readonly #least: number;
  readonly #ofDays: number;

  constructor(
    { slots, days, localHours, circle }: LearnedHours,
    residuals: Float64Array,
    effects: DayEffects,
  ) {
    const middles = slotMiddles(slots, residuals);
    const deviations = residuals.map((residual, i) =>
      Math.abs(residual - middles[slots[i]!]! - effects.of(days[i]!)),
    );
    this.#middles = middles;
    this.#ofDays = effects.scale;
    this.#ofSlots = new Deviations(slots, deviations, circle);
    this.#ofHours = new Deviations(localHours.map(hourOfDay), deviations, 24);
    this.#least = (madScale * medianOf(deviations)) / 2;
  }

  /** NaN without a value. */
  middleAt(slot: number): number {
    return this.#middles[slot]!;
  }

  /** Of whole days, and of the hour; a slot with eight equal values would have no width. */
  scaleAt(slot: number, dayHour: number): number {
    const ofHour = Math.max(
      this.#least,
      this.#ofSlots.scaleAt(slot),
      this.#ofHours.scaleAt(dayHour),
    );
    // The median of few values is not exactly known either.
    const uncertain = 1 + Math.PI / 2 / this.#ofSlots.countAt(slot);
    return Math.sqrt((ofHour * ofHour + this.#ofDays * this.#ofDays) * uncertain);
  }
}

/** Sorts the values; NaN without any. */
export function medianOf(values: Float64Array): number {
  values.sort();
  const { length } = values;
  if (length === 0) return Number.NaN;
  return (values[(length - 1) >> 1]! + values[length >> 1]!) / 2;
}
