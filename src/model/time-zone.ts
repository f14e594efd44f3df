// Time zones as pieces of constant offset: read once, then used with arithmetic on epoch milliseconds.
import { dayMs, type EpochMs, minuteMs } from './instant.ts';

/** A time during which a zone keeps its clock: local time is UTC plus the offset. */
export interface ZonePiece {
  /** The transition it starts with; -Infinity when there is none before. */
  readonly start: EpochMs;
  /** Exclusive; Infinity when there is none after. */
  readonly end: EpochMs;
  readonly offsetMs: number;
}

export interface TimeZone {
  /** The name in its canonical spelling. */
  readonly id: string;
  /** All pieces that touch `from` to `to`, in order and without gap. */
  pieces(from: EpochMs, to: EpochMs): readonly ZonePiece[];
}

// The years that nearly all queries ask for are read once; others are read anew each time, so that
// the memory of a zone
// is bounded.
const cachedFrom = Date.UTC(2000, 0, 1);
const cachedTo = Date.UTC(2050, 0, 1);
// Looking up transitions takes time, and nobody knows the rules of later centuries: zones keep
// their last offset.
const changesUntil = Date.UTC(2200, 0, 1);
const namePattern = /^(?:[A-Za-z][A-Za-z0-9_+/-]{0,63}|[+-]\d{2}:\d{2})$/;

/**
 * The zone of an IANA name (in any case) or an offset such as +05:30; undefined when there is none
 * of that name.
 */
export function openTimeZone(name: string): TimeZone | undefined {
  if (!namePattern.test(name)) return undefined;
  let id: string;
  try {
    id = new Temporal.ZonedDateTime(0n, name).timeZoneId;
  } catch {
    return undefined;
  }
  let cached: readonly ZonePiece[] | undefined;
  return {
    id,
    pieces(from, to) {
      if (from < cachedFrom || to > cachedTo) return readPieces(id, from, to);
      cached ??= readPieces(id, cachedFrom, cachedTo);
      const first = cached.findIndex((piece) => piece.end > from);
      const last = cached.findLastIndex((piece) => piece.start <= to);
      return cached.slice(first, last + 1);
    },
  };
}

function readPieces(id: string, from: EpochMs, to: EpochMs): ZonePiece[] {
  const pieces: ZonePiece[] = [];
  let at = Temporal.Instant.fromEpochMilliseconds(from).toZonedDateTimeISO(id);
  // A transition at `from` itself would be skipped by looking for the one before it.
  let start =
    at.add({ nanoseconds: 1 }).getTimeZoneTransition('previous')?.epochMilliseconds ?? -Infinity;
  for (;;) {
    const next = start > changesUntil ? null : at.getTimeZoneTransition('next');
    const end = next?.epochMilliseconds ?? Infinity;
    pieces.push({ start, end, offsetMs: at.offsetNanoseconds / 1e6 });
    if (next === null || end > to) return pieces;
    start = end;
    at = next;
  }
}

/** The offset at a moment. */
export function offsetAt(zone: TimeZone, at: EpochMs): number {
  const [piece] = zone.pieces(at, at);
  if (piece === undefined) throw new Error(`The time zone has no offset at ${at} ms`);
  return piece.offsetMs;
}

/**
 * The first moment at which the zone's clock shows at least the given local time (milliseconds as
 * if it were UTC). A time that is skipped in spring is the moment of the jump; one that comes twice
 * in autumn is its first coming. `pieces` must begin before that moment; undefined when it lies
 * beyond them.
 */
export function momentOfLocal(pieces: readonly ZonePiece[], localMs: number): EpochMs | undefined {
  for (const { start, end, offsetMs } of pieces) {
    if (end + offsetMs > localMs) return Math.max(start, localMs - offsetMs);
  }
  return undefined;
}

const zonesMax = 1_000;

/** Opens zones by name and keeps them, so that each reads its transitions once. */
export function openTimeZones(): (name: string) => TimeZone | undefined {
  const zones = new Map<string, TimeZone>();
  return (name) => {
    let zone = zones.get(name);
    if (zone === undefined) {
      zone = openTimeZone(name);
      if (zone === undefined) return undefined;
      // Only odd spellings can fill the table; forgetting all of them is cheap.
      if (zones.size >= zonesMax) zones.clear();
      zones.set(name, zone);
    }
    return zone;
  };
}

// Local times: days of the week and times of a day, as schedules name them.

/** From Monday; `MO` is the first day of a week. */
export const weekdays = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU'] as const;
export type Weekday = (typeof weekdays)[number];

/** The start of a local day, as if it were UTC. */
export function localDayOf(localMs: number): number {
  return Math.floor(localMs / dayMs) * dayMs;
}

/** The place in `weekdays` of a local day. 1970-01-01 was a Thursday. */
export function weekdayOf(day: number): number {
  return (((day / dayMs + 3) % 7) + 7) % 7;
}

/** Milliseconds since midnight of `HH:mm`. */
export function localTimeMs(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return (hours * 60 + minutes) * minuteMs;
}

/** Whether a text is a time of a day, `HH:mm`. */
export function isLocalTime(text: string): boolean {
  return /^\d\d:\d\d$/.test(text) && Number(text.slice(3)) < 60 && localTimeMs(text) < dayMs;
}
