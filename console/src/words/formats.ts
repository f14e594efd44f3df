// Formats: numbers, times, and durations as the console shows them, always with a 24-hour clock.
import { type Language, plural } from './word-set.ts';

// ISO duration: `P1DT2H` as seconds, for words and fields that have a unit.

const isoDuration = /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$/;

/** Undefined for a duration with other parts, such as months. */
export function secondsOfIso(iso: string): number | undefined {
  const parts = isoDuration.exec(iso);
  if (parts === null) return undefined;
  const [days = 0, hours = 0, minutes = 0, seconds = 0] = parts
    .slice(1)
    .map((part) => Number(part ?? 0));
  return ((days * 24 + hours) * 60 + minutes) * 60 + seconds;
}

export interface Formats {
  /** IANA name of the zone of all times. */
  readonly zone: string;
  /** 12345 -> `12 345`. */
  readonly count: (value: number) => string;
  /** 1234567 -> `1.23 M`: only for counts that stand beside others of their kind, never for values. */
  readonly short: (value: number) => string;
  /** A measured value, the same everywhere: fewer decimals the larger it is, never a prefix. */
  readonly value: (value: number) => string;
  readonly percent: (value: number) => string;
  readonly bytes: (value: number) => string;
  /** `3 minutes ago`; within five seconds `now`. */
  readonly ago: (iso: string, nowMs: number) => string;
  /** Clock time with seconds, in the zone or that of the console. */
  readonly clock: (iso: string, zone?: string) => string;
  /** Day and clock time with seconds. */
  readonly instant: (iso: string, zone?: string) => string;
  readonly day: (iso: string, zone?: string) => string;
  /** Label of a time axis, for epoch milliseconds: the clock time, at midnight the day. */
  readonly tick: (ms: number, zone: string) => string;
  /** Seconds -> `1 h 30 min`, two units at most. */
  readonly duration: (seconds: number) => string;
}

const secondsOf = { minute: 60, hour: 3_600, day: 86_400 } as const;
const narrowSpace = '\u202f';

export const browserZone = new Intl.DateTimeFormat().resolvedOptions().timeZone;

/**
 * Formats of a locale such as `en-GB`, which gives the order of dates and the decimal mark.
 * Thousands are grouped by a narrow space in every locale, so that a number reads the same in all.
 * Times are in `ownZone`, unless a call names another.
 */
export function formatsOf(locale: string, ownZone = browserZone): Formats {
  const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style: 'long' });
  const short = (value: number) => shortened(locale, value);
  const inZone =
    (options: Intl.DateTimeFormatOptions) =>
    (iso: string | number, zone = ownZone) =>
      timeFormat(locale, options, zone).format(new Date(iso));
  const minute = inZone({ hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
  const weekday = inZone({ weekday: 'short', day: 'numeric', month: 'short' });
  return {
    zone: ownZone,
    count: grouped,
    short,
    value: (value) => decimal(locale, digitsOf(value), value),
    percent: (value) => `${grouped(value)}${narrowSpace}%`,
    bytes: (value) => `${short(value)}B`.replace(/(\d)B$/, `$1${narrowSpace}B`),
    ago: (iso, nowMs) => agoOf(relative, (Date.parse(iso) - nowMs) / 1_000),
    clock: inZone({ timeStyle: 'medium', hourCycle: 'h23' }),
    instant: inZone({ dateStyle: 'medium', timeStyle: 'medium', hourCycle: 'h23' }),
    day: inZone({ dateStyle: 'medium' }),
    tick: (ms, zone) => {
      const time = minute(ms, zone);
      return time === '00:00' ? weekday(ms, zone) : time;
    },
    duration,
  };
}

/** The locale that the browser prefers of a language, such as `en-GB` of `en`. */
export function localeOf(language: Language): string {
  return navigator.languages.find((one) => one.slice(0, 2) === language) ?? language;
}

/** 1 -> `1 row`, 1234 -> `1 234 rows`. */
export function counted(count: number, one: string, many: string): string {
  return `${grouped(count)} ${plural(count, one, many)}`;
}

/** Names of regions by their code of ISO 3166; a code without a name stays. */
export function regionNames(language: Language): (code: string) => string {
  const names = new Intl.DisplayNames(language, { type: 'region' });
  return (code) => names.of(code) ?? code;
}

/** A whole number, the same in every language. */
export function grouped(value: number): string {
  return decimal('en', 0, value);
}

function shortened(locale: string, value: number): string {
  const size = Math.abs(value);
  const step = [
    { from: 1e9, unit: 'G' },
    { from: 1e6, unit: 'M' },
    { from: 1e4, unit: 'k', divisor: 1e3 },
  ].find(({ from }) => size >= from);
  if (step === undefined) return grouped(value);
  return `${decimal(locale, 2, value / (step.divisor ?? step.from))}${narrowSpace}${step.unit}`;
}

const numberFormats = new Map<string, Intl.NumberFormat>();
const timeFormats = new Map<string, Intl.DateTimeFormat>();

function decimal(locale: string, digits: number, value: number): string {
  return kept(numberFormats, `${locale} ${digits}`, () => {
    return new Intl.NumberFormat(locale, { maximumFractionDigits: digits, useGrouping: true });
  })
    .formatToParts(value)
    .map((part) => (part.type === 'group' ? narrowSpace : part.value))
    .join('');
}

function timeFormat(
  locale: string,
  options: Intl.DateTimeFormatOptions,
  zone: string,
): Intl.DateTimeFormat {
  return kept(timeFormats, `${locale} ${JSON.stringify(options)} ${zone}`, () => {
    return new Intl.DateTimeFormat(locale, { ...options, timeZone: zone });
  });
}
// Making a format takes far longer than using one.
function kept<T>(known: Map<string, T>, key: string, make: () => T): T {
  let format = known.get(key);
  if (format === undefined) known.set(key, (format = make()));
  return format;
}

function digitsOf(value: number): number {
  const size = Math.abs(value);
  if (size >= 1_000) return 0;
  if (size >= 100) return 1;
  return size >= 1 ? 2 : 4;
}

function agoOf(relative: Intl.RelativeTimeFormat, seconds: number): string {
  const size = Math.abs(seconds);
  if (size < 5) return relative.format(0, 'second');
  if (size < secondsOf.minute) return relative.format(Math.round(seconds), 'second');
  if (size < secondsOf.hour)
    return relative.format(Math.round(seconds / secondsOf.minute), 'minute');
  if (size < secondsOf.day) return relative.format(Math.round(seconds / secondsOf.hour), 'hour');
  return relative.format(Math.round(seconds / secondsOf.day), 'day');
}

/** The same in every language: `1 h 30 min`, two units at most. */
export function duration(seconds: number): string {
  const parts: readonly (readonly [number, string])[] = [
    [Math.floor(seconds / secondsOf.day), 'd'],
    [Math.floor((seconds % secondsOf.day) / secondsOf.hour), 'h'],
    [Math.floor((seconds % secondsOf.hour) / secondsOf.minute), 'min'],
    [Math.round(seconds % secondsOf.minute), 's'],
  ];
  const said = parts.filter(([amount]) => amount > 0).slice(0, 2);
  return said.length === 0 ? '0 s' : said.map(([amount, unit]) => `${amount} ${unit}`).join(' ');
}
