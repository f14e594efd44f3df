// Journal stream: how far this node has published the journals of all nodes, and the cursors of what it publishes.
import type { EpochMs } from '../../model/instant.ts';
import type { StoredSample } from '../../model/sample.ts';
import type { SetTimer } from '../../structures/timers.ts';
import {
  type JournalPlace,
  type JournalPlaces,
  laterOf,
  type LiveSample,
  placeIn,
  placeText,
  type StreamPlace,
} from './stream-position.ts';

interface FollowedJournal {
  place: JournalPlace;
  /** The newest sample that was published, or that a session has read; sessions have all before it. */
  published: JournalPlace | undefined;
  /** Whether the node of the journal works, so that its time counts. */
  isLive: boolean;
}

export interface JournalStream {
  /** Everything up to here was published, as far as sessions want it. */
  readonly place: JournalPlaces;
  /** Call after each sample that was published, in the order of its journal. */
  published(sample: LiveSample): void;
  /** Everything of the journal up to the cursor was published, or is not wanted. */
  passed(journal: string, cursor: string): void;
  /** Everything of the journal up to the place was published. */
  reached(journal: string, place: JournalPlace): void;
  /** Says whether the node of the journal works; without that, cursors name the place in it. */
  setLive(journal: string, isLive: boolean): void;
  /**
   * Resolves when all named journals whose nodes work were published up to the place; with false
   * after a limit. Until then, cursors would not say that a session has what it has read further.
   */
  whenReached(place: StreamPlace): Promise<boolean>;
  /** Whether the journals of all nodes that work are known. Without that, the time does not move. */
  setComplete(isComplete: boolean): void;
  /**
   * The cursor for a client: everything that was published up to and with the sample, except for
   * what it has of some journals.
   */
  cursorOf(sample: LiveSample, has?: ReadonlyMap<string, JournalPlace>): string;
  /** The journals whose nodes work. */
  live(): ReadonlySet<string>;
  /**
   * What the place says of the journals that cannot be read, because their nodes are away, and that
   * this node has published further or not as far.
   */
  absent(place: JournalPlaces): ReadonlyMap<string, JournalPlace>;
  /** Calls the listener when the node of a journal works again, before it is published further. */
  onReturn(listener: (journal: string) => void): () => void;
}

/** How long a replay waits for the journals of other nodes, which it has read further. */
const reachedMsMax = 10_000;

/** A node that began to store is known to this one after so long at the latest. */
const unknownMs = 10_000;

export interface JournalStreamParts {
  /** What was stored earlier is not published. */
  readonly from: EpochMs;
  readonly setTimer: SetTimer;
  readonly behindMs?: number;
}

export function createJournalStream(parts: JournalStreamParts): JournalStream {
  const { from, setTimer, behindMs = unknownMs } = parts;
  const journals = new Map<string, FollowedJournal>();
  let before = from;
  let isComplete = true;
  const waiting = new Set<() => void>();
  const returning = new Set<(journal: string) => void>();
  let place: JournalPlaces | undefined;

  function journalOf(name: string): FollowedJournal {
    const known = journals.get(name);
    if (known !== undefined) return known;
    const added = { place: { cursor: '', before }, published: undefined, isLive: true };
    journals.set(name, added);
    return added;
  }

  /** The time that all working journals have reached never goes back. */
  function moveTime(): void {
    place = undefined;
    if (!isComplete) return;
    before = Math.max(before, (commonTime(journals) ?? 0) - behindMs);
  }

  function moveTo(journal: FollowedJournal, to: JournalPlace): void {
    journal.place = laterOf(journal.place, to);
    place = undefined;
    for (const look of waiting) look();
  }

  return {
    get place() {
      place ??= { before, journals: placesOf(journals) };
      return place;
    },
    published({ journal = '', cursor, storedAt }) {
      const known = journalOf(journal);
      known.published = { cursor, before: storedAt };
      moveTo(known, known.published);
    },
    passed: (name, cursor) => moveTo(journalOf(name), { cursor, before: 0 }),
    reached(name, reached) {
      moveTo(journalOf(name), reached);
      moveTime();
    },
    async whenReached(wanted) {
      const isReached = await whenTrue(() => covers(journals, wanted), waiting, setTimer);
      if (isReached) nameRead(journals, wanted);
      return isReached;
    },
    setComplete(complete) {
      isComplete = complete;
    },
    setLive(name, isLive) {
      const wasLive = journals.get(name)?.isLive === true;
      journalOf(name).isLive = isLive;
      moveTime();
      for (const look of waiting) look();
      if (isLive && !wasLive) for (const listener of returning) listener(name);
    },
    cursorOf({ journal: own = '', cursor, storedAt }, has) {
      const named = namedPlaces(journals, before);
      named.set(own, { cursor, before: storedAt });
      for (const [name, known] of has ?? []) named.set(name, known);
      return placeText({ before, journals: named });
    },
    live: () => new Set([...journals].flatMap(([name, { isLive }]) => (isLive ? [name] : []))),
    absent: (wanted) => absentIn(journals, wanted),
    onReturn(listener) {
      returning.add(listener);
      return () => returning.delete(listener);
    },
  };
}

function absentIn(
  journals: ReadonlyMap<string, FollowedJournal>,
  place: JournalPlaces,
): Map<string, JournalPlace> {
  const absent = new Map<string, JournalPlace>();
  for (const [name, named] of place.journals) if (!journals.has(name)) absent.set(name, named);
  for (const [name, { isLive, place: published }] of journals) {
    const has = placeIn(place, name);
    // Without a cursor, only the time says it, which continues without the journal.
    const hasAll = has.cursor === '' && has.before > published.before;
    const isSame =
      has.cursor === published.cursor && (has.cursor !== '' || has.before === published.before);
    if (!isLive && !isSame && !hasAll) absent.set(name, has);
  }
  return absent;
}

function placesOf(journals: ReadonlyMap<string, FollowedJournal>): Map<string, JournalPlace> {
  return new Map([...journals].map(([name, { place }]) => [name, place]));
}

/** Resolves with true when the condition holds after a change, and with false after a limit. */
function whenTrue(
  isTrue: () => boolean,
  waiting: Set<() => void>,
  setTimer: SetTimer,
): Promise<boolean> {
  if (isTrue()) return Promise.resolve(true);
  return new Promise((resolve) => {
    const look = () => isTrue() && end(true);
    const cancel = setTimer(() => end(false), reachedMsMax);
    waiting.add(look);
    function end(isReached: boolean): void {
      cancel();
      waiting.delete(look);
      resolve(isReached);
    }
  });
}

/** What a client has of each journal, where the common time does not say it. */
function namedPlaces(
  journals: ReadonlyMap<string, FollowedJournal>,
  before: EpochMs,
): Map<string, JournalPlace> {
  const named = new Map<string, JournalPlace>();
  for (const [name, { published, isLive, place }] of journals)
    if (!isLive) named.set(name, place);
    else if (published !== undefined && published.before >= before) named.set(name, published);
  return named;
}

/**
 * The next cursors name what a session has read, also where this node published none of it, because
 * no session wanted it then. The session cannot say more than this node knows.
 */
function nameRead(journals: ReadonlyMap<string, FollowedJournal>, read: StreamPlace): void {
  if (typeof read === 'string') return;
  for (const [name, { cursor }] of read.journals) {
    const known = journals.get(name);
    if (known?.isLive === true && cursor > (known.published?.cursor ?? ''))
      known.published = known.place;
  }
}

/** The earliest time of the journals whose nodes work; undefined without any. */
function commonTime(journals: ReadonlyMap<string, FollowedJournal>): EpochMs | undefined {
  const times = journals.values().filter(({ isLive }) => isLive);
  const earliest = times.reduce((time, { place }) => Math.min(time, place.before), Infinity);
  return earliest === Infinity ? undefined : earliest;
}

function covers(journals: ReadonlyMap<string, FollowedJournal>, place: StreamPlace): boolean {
  if (typeof place === 'string') return true;
  for (const [name, { cursor }] of place.journals) {
    const known = journals.get(name);
    if (known?.isLive === true && cursor > known.place.cursor) return false;
  }
  return true;
}

/** The sample as one of the journal. Samples of columns have no own members. */
export function inJournal(sample: StoredSample, journal: string): LiveSample {
  const { deviceId, topic, timestamp, data, meta, organizationId, workspaceId } = sample;
  const { dataFlowId, correlationId, storedAt, stored, cursor } = sample;
  return {
    deviceId,
    topic,
    timestamp,
    data,
    organizationId,
    workspaceId,
    dataFlowId,
    correlationId,
    storedAt,
    stored,
    cursor,
    journal,
    ...(meta !== undefined && { meta }),
  };
}
