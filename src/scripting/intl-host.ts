// Intl host: answers the Intl calls of scripts, JSON in and out, with a bounded cache of formatters.
import { createBoundedMap } from '../structures/bounded-map.ts';

/** Formatters in the cache. A script that always creates new ones pays for each. */
const formattersMax = 100;
/** Characters of one call. */
const callCharsMax = 100_000;

type Locales = string | string[] | undefined;
type Options = Record<string, unknown>;

const kinds = {
  DateTimeFormat: (locales: Locales, options: Options) =>
    new Intl.DateTimeFormat(locales, inUtc(options)),
  NumberFormat: (locales: Locales, options: Options) => new Intl.NumberFormat(locales, options),
  RelativeTimeFormat: (locales: Locales, options: Options) =>
    new Intl.RelativeTimeFormat(locales, options),
  ListFormat: (locales: Locales, options: Options) => new Intl.ListFormat(locales, options),
  PluralRules: (locales: Locales, options: Options) => new Intl.PluralRules(locales, options),
  Collator: (locales: Locales, options: Options) => new Intl.Collator(locales, options),
} as const;
type Kind = keyof typeof kinds;

const methods: { readonly [K in Kind]: readonly string[] } = {
  DateTimeFormat: [
    'format',
    'formatToParts',
    'formatRange',
    'formatRangeToParts',
    'resolvedOptions',
  ],
  NumberFormat: ['format', 'formatToParts', 'resolvedOptions'],
  RelativeTimeFormat: ['format', 'formatToParts', 'resolvedOptions'],
  ListFormat: ['format', 'formatToParts', 'resolvedOptions'],
  PluralRules: ['select', 'resolvedOptions'],
  Collator: ['compare', 'resolvedOptions'],
};

/** Answers one call. An error is returned as an answer, never thrown. */
export type IntlHost = (kind: string, key: string, method: string, argsJson: string) => string;

/** Creates a host with its own formatters. */
export function createIntlHost(): IntlHost {
  const formatters = createBoundedMap<string, object>(formattersMax);

  const formatterOf = (kind: Kind, key: string): object => {
    const name = kind + key;
    let formatter = formatters.use(name);
    if (formatter === undefined) {
      const [locales, options] = JSON.parse(key) as [Locales | null, Options | null];
      formatter = kinds[kind](locales ?? defaultLocale, options ?? {});
      formatters.set(name, formatter);
    }
    return formatter;
  };

  const valueOf = (kind: string, key: string, method: string, args: unknown[]): unknown => {
    if (kind === 'Date') return dateText(key, method, args[0] as number);
    if (kind === 'Intl')
      return Intl.getCanonicalLocales((JSON.parse(key) as [Locales | null])[0] ?? undefined);
    if (!Object.hasOwn(kinds, kind)) throw new TypeError(`There is no Intl.${kind}`);
    const known = kind as Kind;
    if (method === 'supportedLocalesOf') {
      const { supportedLocalesOf } = Intl[known] as {
        supportedLocalesOf(locales: string[]): string[];
      };
      return supportedLocalesOf((JSON.parse(key) as [string[] | null])[0] ?? []);
    }
    const formatter = formatterOf(known, key) as Record<string, (...args: unknown[]) => unknown>;
    if (method === 'check') return null;
    if (!methods[known].includes(method)) throw new TypeError(`There is no ${method}`);
    return formatter[method]?.(...args.map(numberFrom));
  };

  const dateText = (key: string, method: string, time: number): string => {
    const [locales, options] = JSON.parse(key) as [Locales | null, Options | null];
    const full = withDefaults(options ?? {}, partsOf(method));
    const formatter = formatterOf('DateTimeFormat', JSON.stringify([locales, full]));
    return (formatter as Intl.DateTimeFormat).format(time);
  };

  return (kind, key, method, argsJson) => {
    try {
      if (key.length + argsJson.length > callCharsMax)
        throw new RangeError('Too long a text for Intl');
      return JSON.stringify({
        value: valueOf(kind, key, method, JSON.parse(argsJson) as unknown[]),
      });
    } catch (error) {
      const { name, message } = error as Error;
      return JSON.stringify({ error: name, message });
    }
  };
}

// The answers must not depend on the machine that the platform runs on.
const defaultLocale = 'en-US';

function inUtc(options: Options): Intl.DateTimeFormatOptions {
  return { timeZone: 'UTC', ...options };
}

// Numbers that JSON does not have arrive as an object with their text.
function numberFrom(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if ('bigint' in value) return BigInt(value.bigint as string);
  if ('number' in value) return Number(value.number);
  return value;
}

/**
 * Fields of a Date's text: those that count as given, and the defaults if none is given (ECMA-402,
 * ToDateTimeOptions).
 */
interface DateParts {
  readonly fields: readonly string[];
  readonly defaults: Options;
}

const datePart: DateParts = {
  fields: ['weekday', 'year', 'month', 'day', 'dateStyle'],
  defaults: { year: 'numeric', month: 'numeric', day: 'numeric' },
};
const timePart: DateParts = {
  fields: ['dayPeriod', 'hour', 'minute', 'second', 'fractionalSecondDigits', 'timeStyle'],
  defaults: { hour: 'numeric', minute: 'numeric', second: 'numeric' },
};
const bothParts: DateParts = {
  fields: [...datePart.fields, ...timePart.fields],
  defaults: { ...datePart.defaults, ...timePart.defaults },
};

function partsOf(method: string): DateParts {
  if (method.endsWith('DateString')) return datePart;
  if (method.endsWith('TimeString')) return timePart;
  return bothParts;
}

function withDefaults(options: Options, { fields, defaults }: DateParts): Options {
  const isGiven = ['dateStyle', 'timeStyle', ...fields].some(
    (field) => options[field] !== undefined,
  );
  return isGiven ? options : { ...options, ...defaults };
}
