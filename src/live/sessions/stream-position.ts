// Stream position: how far a stream of samples has come, as a cursor of clients too, and what a subscription has sent.
import { cursorAt, readCursor } from '../../model/journal-entry.ts';
import type { EpochMs } from '../../model/instant.ts';
import type { StoredSample } from '../../model/sample.ts';

/** A sample of one of several journals; cursors are only in order within their journal. */
export interface LiveSample extends StoredSample {
  /** Undefined with one process, whose only journal needs no name. */
  readonly journal?: string;
}

/** Everything up to the cursor, and everything that was stored before the time. */
export interface JournalPlace {
  readonly cursor: string;
  readonly before: EpochMs;
}

/** A place in each journal. Those that are not named are at the time `before`. */
export interface JournalPlaces {
  readonly before: EpochMs;
  readonly journals: ReadonlyMap<string, JournalPlace>;
}

/** The cursor of one process, of which the empty one is before everything; or several journals. */
export type StreamPlace = string | JournalPlaces;

export function placeIn({ before, journals }: JournalPlaces, journal: string): JournalPlace {
  return journals.get(journal) ?? { cursor: '', before };
}

/** Whether the sample is at the place or before it. */
export function reaches(place: StreamPlace, sample: LiveSample): boolean {
  if (typeof place === 'string') return sample.cursor <= place;
  const { cursor, before } = placeIn(place, sample.journal ?? '');
  return sample.cursor <= cursor || sample.storedAt < before;
}

/** The place that also includes the sample and everything before it in its journal. */
export function advanced(place: StreamPlace, sample: LiveSample): StreamPlace {
  const { cursor, journal, storedAt } = sample;
  if (typeof place === 'string' && journal === undefined) return place > cursor ? place : cursor;
  const known = typeof place === 'string' ? { before: 0, journals: new Map() } : place;
  const journals = new Map(known.journals);
  const own = journal ?? '';
  journals.set(own, laterOf(placeIn(known, own), { cursor, before: storedAt }));
  return { before: known.before, journals };
}

/** Includes what either includes. */
export function later(a: StreamPlace, b: StreamPlace | undefined): StreamPlace {
  if (b === undefined || b === '') return a;
  if (a === '') return b;
  if (typeof a !== 'string' && typeof b !== 'string') return combined(a, b, laterOf, Math.max);
  return a > b ? a : b;
}

/** Includes nothing that one of them does not include. */
export function earlier(a: StreamPlace, b: StreamPlace | undefined): StreamPlace {
  if (b === undefined) return a;
  if (a === '' || b === '') return '';
  if (typeof a !== 'string' && typeof b !== 'string') return combined(a, b, earlierOf, Math.min);
  return a < b ? a : b;
}

function combined(
  a: JournalPlaces,
  b: JournalPlaces,
  choose: (a: JournalPlace, b: JournalPlace) => JournalPlace,
  chooseTime: (a: EpochMs, b: EpochMs) => EpochMs,
): JournalPlaces {
  const journals = new Map<string, JournalPlace>();
  for (const journal of new Set([...a.journals.keys(), ...b.journals.keys()]))
    journals.set(journal, choose(placeIn(a, journal), placeIn(b, journal)));
  return { before: chooseTime(a.before, b.before), journals };
}

export function laterOf(a: JournalPlace, b: JournalPlace): JournalPlace {
  const cursor = a.cursor > b.cursor ? a.cursor : b.cursor;
  return { cursor, before: Math.max(a.before, b.before) };
}

export function earlierOf(a: JournalPlace, b: JournalPlace): JournalPlace {
  const cursor = a.cursor < b.cursor ? a.cursor : b.cursor;
  return { cursor, before: Math.min(a.before, b.before) };
}

/** The order of storing: by cursor, and between journals by time. */
export function compareStored(a: LiveSample, b: LiveSample): number {
  if (a.journal !== b.journal) {
    if (a.storedAt !== b.storedAt) return a.storedAt - b.storedAt;
    return (a.journal ?? '') < (b.journal ?? '') ? -1 : 1;
  }
  if (a.cursor === b.cursor) return 0;
  return a.cursor < b.cursor ? -1 : 1;
}

// Place cursor: the cursor of samples of several journals, as clients get it and send it back.
// Layout: c1~TIME[~JOURNAL.POSITION.INDEX.TIME]..., numbers to the base 36, times of journals relative to the first.

const version = 'c1';
/** More journals than a cluster has nodes; a longer cursor is refused. */
const journalsMax = 200;
const head = /^[0-9a-z]{1,9}$/;
const part = /^([0-9a-f]{1,32})\.([0-9a-z]{1,9})\.([0-9a-z]{1,4})\.(-?[0-9a-z]{1,9})$/;

export function placeText({ before, journals }: JournalPlaces): string {
  const parts = [...journals].map(([journal, place]) => journalText(journal, place, before));
  return [version, before.toString(36), ...parts].join('~');
}

function journalText(journal: string, { cursor, before }: JournalPlace, first: number): string {
  const { position, index } = readCursor(cursor) ?? { position: 0, index: 0 };
  const numbers = [position, index, before - first].map((value) => value.toString(36));
  return [journal, ...numbers].join('.');
}

/** Undefined for a string that is not such a cursor. */
export function readPlaceText(sent: string): JournalPlaces | undefined {
  const [sentVersion, time = '', ...parts] = sent.split('~', journalsMax + 3);
  if (sentVersion !== version || !head.test(time) || parts.length > journalsMax) return undefined;
  const before = Number.parseInt(time, 36);
  const journals = new Map<string, JournalPlace>();
  for (const each of parts) {
    const [, journal, ...numbers] = part.exec(each) ?? [];
    const [position = 0, index = 0, behind = 0] = numbers.map((digits) =>
      Number.parseInt(digits, 36),
    );
    if (journal === undefined || position >= 1e14 || index >= 1e6) return undefined;
    // Before its first entry, only the time says what a client has.
    const cursor = position === 0 && index === 0 ? '' : cursorAt(position, index);
    journals.set(journal, { cursor, before: before + behind });
  }
  return { before, journals };
}

// Coverage: the samples that a subscription has sent or will send, so that each is sent exactly once.

/** Start of a replay: after a place, or at a time of storage. */
export type ReplayStart = { readonly cursor: StreamPlace } | { readonly storedSince: EpochMs };

/**
 * A sample is covered by either property. Without both, it is covered if it was published in this
 * process.
 */
export interface Coverage {
  readonly afterCursor?: StreamPlace;
  readonly storedSince?: EpochMs;
}

export function startsBefore(start: ReplayStart, sample: LiveSample): boolean {
  if ('cursor' in start) return !reaches(start.cursor, sample);
  return sample.storedAt >= start.storedSince;
}

export function covers(
  coverage: Coverage,
  sample: LiveSample,
  firstCursor: string | undefined,
): boolean {
  const { afterCursor, storedSince } = coverage;
  if (afterCursor === undefined && storedSince === undefined) {
    return firstCursor !== undefined && sample.cursor >= firstCursor;
  }
  return (
    (afterCursor !== undefined && !reaches(afterCursor, sample)) ||
    (storedSince !== undefined && sample.storedAt >= storedSince)
  );
}

/** The coverage that also includes everything since the start. */
export function widened(coverage: Coverage | undefined, start: ReplayStart): Coverage {
  if ('cursor' in start) {
    return { ...coverage, afterCursor: earlier(start.cursor, coverage?.afterCursor) };
  }
  const known = coverage?.storedSince ?? Infinity;
  return { ...coverage, storedSince: Math.min(known, start.storedSince) };
}
