// Formats of a language: numbers, times and durations, always with a 24-hour clock.
import type { Language } from './word-set.ts';

export interface Formats {
  /** 12345 -> `12 345`, with a narrow space, which reads the same in every language. */
  readonly count: (value: number) => string;
  /** 1234567 -> `1.23 M`. */
  readonly short: (value: number) => string;
  /** A measured value, with fewer decimals the larger it is. */
  readonly value: (value: number) => string;
  readonly bytes: (value: number) => string;
  /** `3 min. ago`; within five seconds `now`. */
  readonly ago: (iso: string, nowMs: number) => string;
  /** Clock time with seconds, in the zone or that of the console. */
  readonly clock: (iso: string, zone?: string) => string;
  /** Day and clock time with seconds. */
  readonly instant: (iso: string, zone?: string) => string;
  readonly day: (iso: string, zone?: string) => string;
  /** Seconds -> `1 h 30 min`, two units at most. */
  readonly duration: (seconds: number) => string;
}

const secondsOf = { minute: 60, hour: 3_600, day: 86_400 } as const;
const narrowSpace = '\u202f';

/** Times are in `ownZone`, unless a call names another; without it in the zone of the browser. */
export function formatsOf(language: Language, ownZone?: string): Formats {
  const relative = new Intl.RelativeTimeFormat(language, { numeric: 'auto', style: 'short' });
  const short = (value: number) => shortened(language, value);
  const inZone =
    (options: Intl.DateTimeFormatOptions) =>
    (iso: string, zone = ownZone) =>
      timeFormat(language, options, zone).format(new Date(iso));
  return {
    count,
    short,
    value: (value) => decimals(language, digitsOf(value)).format(value),
    bytes: (value) => `${short(value)}B`.replace(/(\d)B$/, '$1 B'),
    ago: (iso, nowMs) => agoOf(relative, (Date.parse(iso) - nowMs) / 1_000),
    clock: inZone({ timeStyle: 'medium', hourCycle: 'h23' }),
    instant: inZone({ dateStyle: 'medium', timeStyle: 'medium', hourCycle: 'h23' }),
    day: inZone({ dateStyle: 'medium' }),
    duration,
  };
}

function count(value: number): string {
  return decimals('en', 0).format(value).replaceAll(',', narrowSpace);
}

function shortened(language: Language, value: number): string {
  const size = Math.abs(value);
  const step = [
    { from: 1e9, unit: 'G' },
    { from: 1e6, unit: 'M' },
    { from: 1e4, unit: 'k', divisor: 1e3 },
  ].find(({ from }) => size >= from);
  if (step === undefined) return count(value);
  return `${decimals(language, 2).format(value / (step.divisor ?? step.from))}${narrowSpace}${step.unit}`;
}

const numberFormats = new Map<string, Intl.NumberFormat>();
const timeFormats = new Map<string, Intl.DateTimeFormat>();

function decimals(language: Language, digits: number): Intl.NumberFormat {
  return kept(numberFormats, `${language} ${digits}`, () => {
    return new Intl.NumberFormat(language, { maximumFractionDigits: digits });
  });
}

function timeFormat(
  language: Language,
  options: Intl.DateTimeFormatOptions,
  zone: string | undefined,
): Intl.DateTimeFormat {
  return kept(timeFormats, `${language} ${JSON.stringify(options)} ${zone ?? ''}`, () => {
    const inZone = zone === undefined ? options : { ...options, timeZone: zone };
    return new Intl.DateTimeFormat(language, inZone);
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

function duration(seconds: number): string {
  const parts: readonly (readonly [number, string])[] = [
    [Math.floor(seconds / secondsOf.day), 'd'],
    [Math.floor((seconds % secondsOf.day) / secondsOf.hour), 'h'],
    [Math.floor((seconds % secondsOf.hour) / secondsOf.minute), 'min'],
    [Math.round(seconds % secondsOf.minute), 's'],
  ];
  const said = parts.filter(([amount]) => amount > 0).slice(0, 2);
  return said.length === 0 ? '0 s' : said.map(([amount, unit]) => `${amount} ${unit}`).join(' ');
}
