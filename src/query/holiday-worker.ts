// Holiday worker: the calendar library on a separate thread, because it takes tens of milliseconds.
import { parentPort } from 'node:worker_threads';
import Holidays from 'date-holidays';
import { dayMs } from '../model/instant.ts';
import { missing } from '../structures/missing.ts';

export interface HolidayQuestion {
  readonly id: number;
  readonly region: string;
  /** Without it the question is which regions there are. */
  readonly year: number | undefined;
}

export interface HolidayAnswer {
  readonly id: number;
  /** Local dates of the year, or `otherRegions`. */
  readonly names?: readonly string[] | undefined;
  readonly error?: string;
}

interface HolidayOfYear {
  readonly date: string;
  readonly start: Date;
  readonly end: Date;
  readonly type: string;
}

function datesOfYear(region: string, year: number): readonly string[] {
  const [country = '', ...parts] = region.split('-');
  // An unknown country has no rules at all, an unknown part those of its country.
  const calendar = new Holidays(country, ...(parts as [string, string]));
  const holidays: readonly HolidayOfYear[] | undefined = calendar.getHolidays(year);
  return (holidays ?? []).filter((holiday) => holiday.type === 'public').flatMap(datesOf);
}

// `date` is the local day on which a holiday begins; the distance of its ends tells how many days
// it lasts.
function datesOf(holiday: HolidayOfYear): string[] {
  const first = Date.parse(`${holiday.date.slice(0, 10)}T00:00:00Z`);
  const days = Math.max(1, Math.round((holiday.end.getTime() - holiday.start.getTime()) / dayMs));
  return Array.from({ length: days }, (_, i) =>
    new Date(first + i * dayMs).toISOString().slice(0, 10),
  );
}

/**
 * Undefined for a region that exists; else those that do: the countries, or the parts of the named
 * country.
 */
function otherRegions(region: string): readonly string[] | undefined {
  const known = new Holidays();
  const [country = '', state, part, ...rest] = region.split('-');
  const below = (above: string, names: object | undefined) =>
    Object.keys(names ?? {}).map((name) => above + name);
  const countries = below('', known.getCountries());
  if (!isAmong(country, countries)) return countries;
  if (state === undefined) return undefined;
  const states = below(`${country}-`, known.getStates(country));
  if (!isAmong(`${country}-${state}`, states)) return states.length === 0 ? [country] : states;
  if (part === undefined) return undefined;
  const parts = below(`${country}-${state}-`, known.getRegions(country, state));
  const isKnown = rest.length === 0 && isAmong(region, parts);
  if (isKnown) return undefined;
  return parts.length === 0 ? [`${country}-${state}`] : parts;
}

function isAmong(name: string, names: readonly string[]): boolean {
  return names.some((known) => known.toUpperCase() === name.toUpperCase());
}

function answer({ id, region, year }: HolidayQuestion): HolidayAnswer {
  try {
    return { id, names: year === undefined ? otherRegions(region) : datesOfYear(region, year) };
  } catch (error) {
    return { id, error: error instanceof Error ? error.message : String(error) };
  }
}

const port = parentPort ?? missing('port to the parent thread');
port.on('message', (question: HolidayQuestion) => port.postMessage(answer(question)));
