// Zone times: what the clocks of a zone show at an instant, the instant of such a time, and the zones to choose from.

export const zoneNames: readonly string[] = Intl.supportedValuesOf('timeZone');

const secondMs = 1_000;
const daySeconds = 86_400;

type Clock = (epochSeconds: number) => number;

const clocks = new Map<string, Clock>();

/**
 * Seconds that clocks of the zone show, counted from 1970 as if the zone were UTC. Kept for each
 * zone, because making a format takes far longer than using one.
 */
export function zoneClock(zone: string): Clock {
  let clock = clocks.get(zone);
  if (clock === undefined) clocks.set(zone, (clock = newClock(zone)));
  return clock;
}

function newClock(zone: string): Clock {
  const format = new Intl.DateTimeFormat('en-CA', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  });
  return (epochSeconds) => {
    const parts = format.formatToParts(epochSeconds * secondMs);
    const part = (type: string) => Number(parts.find((one) => one.type === type)?.value ?? 0);
    const [year, month, day] = [part('year'), part('month') - 1, part('day')];
    return Date.UTC(year, month, day, part('hour'), part('minute'), part('second')) / secondMs;
  };
}

/** `2026-11-22T14:05` in the zone, for a field of date and time. */
export function localOf(iso: string, zone: string): string {
  return isoOf(zoneClock(zone)(secondsOf(iso))).slice(0, 'yyyy-mm-ddThh:mm'.length);
}

/**
 * The instant at which clocks in the zone show the time. A time that is skipped in spring counts
 * from before the change; one that is there twice in autumn is the first.
 */
export function instantOfLocal(local: string, zone: string): string {
  const clock = zoneClock(zone);
  const wanted = secondsOf(`${local}:00Z`);
  const offset = (at: number) => clock(at) - at;
  const before = wanted - offset(wanted - daySeconds);
  const after = wanted - offset(wanted + daySeconds);
  return isoOf(clock(before) === wanted || clock(after) !== wanted ? before : after);
}

/** The instant as clocks of the zone show it, with the offset from UTC: `2026-11-22T14:05:00+01:00`. */
export function zonedIso(iso: string, zone: string): string {
  const at = secondsOf(iso);
  const local = zoneClock(zone)(at);
  const offset = local - at;
  const size = isoOf(Math.abs(offset));
  const [hours, seconds] = [size.slice(11, 16), size.slice(16, 19)];
  const sign = offset < 0 ? '-' : '+';
  // Before they had a standard time, some zones were seconds from UTC.
  return `${isoOf(local).slice(0, 19)}${sign}${hours}${seconds === ':00' ? '' : seconds}`;
}

const secondsOf = (iso: string): number => Math.floor(Date.parse(iso) / secondMs);

const isoOf = (seconds: number): string => new Date(seconds * secondMs).toISOString();

/** Names of the days from Monday on. */
export function weekdayNames(locale: string): readonly string[] {
  const format = new Intl.DateTimeFormat(locale, { weekday: 'long', timeZone: 'UTC' });
  const monday = Date.UTC(2024, 0, 1);
  return Array.from({ length: 7 }, (_, at) => format.format(monday + at * daySeconds * secondMs));
}

/** The name of the zone as the browser has it; undefined for one that it does not know. */
export function knownZone(name: string): string | undefined {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}

/** The day after `2026-12-31` begins at this instant in the zone. */
export function endOfDay(day: string, zone: string): string {
  const next = new Date(Date.parse(day) + daySeconds * secondMs).toISOString().slice(0, 10);
  return instantOfLocal(`${next}T00:00`, zone);
}

// Window times: the instant of a time that a field of date and time shows in a zone.

/** What was not changed stays as it was: seconds, and which of two hours when clocks change. */
export function instantOf(local: string, zone: string, before?: string): string {
  if (before !== undefined && localOf(before, zone) === local) return before;
  return instantOfLocal(local, zone);
}

// Zone choices: whose clock times are shown by.

/** That of the device, of its workspace, of the browser, or UTC. */
export const zoneChoices = ['device', 'workspace', 'mine', 'utc'] as const;
export type ZoneChoice = (typeof zoneChoices)[number];
