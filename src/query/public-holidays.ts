// The public holidays of a region, from a library that is loaded when the first workspace asks for it.

import { setImmediate as nextTurn } from 'node:timers/promises';

/** Local dates `YYYY-MM-DD` of a region such as `CH` or `CH-ZH` from one year to another; none for an unknown region. */
export type PublicHolidays = (region: string, fromYear: number, toYear: number) => Promise<ReadonlySet<string>>;

interface HolidayOfYear {
  readonly date: string;
  readonly start: Date;
  readonly end: Date;
  readonly type: string;
}

const dayMs = 86_400_000;
const regionsMax = 1_000;

/** Opens the calendar of public holidays; what was asked once is kept. */
export function openPublicHolidays(): PublicHolidays {
  const years = new Map<string, Promise<readonly string[]>>();
  return async (region, fromYear, toYear) => {
    const dates = new Set<string>();
    for (let year = fromYear; year <= toYear; year++) {
      const key = `${region} ${year}`;
      let known = years.get(key);
      if (known === undefined) {
        if (years.size >= regionsMax) years.clear();
        known = readYear(region, year);
        years.set(key, known);
        // A year takes tens of milliseconds.
        await nextTurn();
      }
      for (const date of await known) dates.add(date);
    }
    return dates;
  };
}

async function readYear(region: string, year: number): Promise<readonly string[]> {
  const { default: Holidays } = await import('date-holidays');
  const [country = '', ...parts] = region.split('-');
  // An unknown country has no rules at all, an unknown part those of its country.
  const calendar = new Holidays(country, ...(parts as [string, string]));
  const holidays: readonly HolidayOfYear[] | undefined = calendar.getHolidays(year);
  return (holidays ?? []).filter((holiday) => holiday.type === 'public').flatMap(datesOf);
}

// `date` is the local day on which a holiday begins; the distance of its ends tells how many days it lasts.
function datesOf(holiday: HolidayOfYear): string[] {
  const first = Date.parse(`${holiday.date.slice(0, 10)}T00:00:00Z`);
  const days = Math.max(1, Math.round((holiday.end.getTime() - holiday.start.getTime()) / dayMs));
  return Array.from({ length: days }, (_, i) => new Date(first + i * dayMs).toISOString().slice(0, 10));
}

/** Undefined for a region that exists; else those that do: the countries, or the parts of the named country. */
export async function otherHolidayRegions(region: string): Promise<readonly string[] | undefined> {
  const { default: Holidays } = await import('date-holidays');
  const known = new Holidays();
  const [country = '', state, part, ...rest] = region.split('-');
  const below = (above: string, names: object | undefined) => Object.keys(names ?? {}).map((name) => above + name);
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
