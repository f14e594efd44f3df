// Stream place: how far a stream of samples has come, in one journal or in those of several nodes.
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
