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

/** How long a replay waits for the journals of other nodes, which it has read further. */
const reachedMsMax = 10_000;

/** A node that began to store is known to this one after so long at the latest. */
const unknownMs = 10_000;

export class JournalStream {
  readonly #setTimer: SetTimer;
  readonly #behindMs: number;
  readonly #journals = new Map<string, FollowedJournal>();
  #before: number;
  #isComplete = true;
  readonly #waiting = new Set<() => void>();
  readonly #returning = new Set<(journal: string) => void>();
  #place: JournalPlaces | undefined;

  constructor(parts: {
    /** What was stored earlier is not published. */
    readonly from: EpochMs;
    readonly setTimer: SetTimer;
    readonly behindMs?: number;
  }) {
    const { from, setTimer, behindMs = unknownMs } = parts;
    this.#setTimer = setTimer;
    this.#behindMs = behindMs;
    this.#before = from;
  }

  /**
   * The cursor for a client: everything that was published up to and with the sample, except for
   * what it has of some journals.
   */
  readonly cursorOf = (
    { journal: own = '', cursor, storedAt }: LiveSample,
    has?: ReadonlyMap<string, JournalPlace>,
  ): string => {
    const named = namedPlaces(this.#journals, this.#before);
    named.set(own, { cursor, before: storedAt });
    for (const [name, known] of has ?? []) named.set(name, known);
    return placeText({ before: this.#before, journals: named });
  };

  /** Everything up to here was published, as far as sessions want it. */
  get place(): JournalPlaces {
    this.#place ??= { before: this.#before, journals: placesOf(this.#journals) };
    return this.#place;
  }

  /** Call after each sample that was published, in the order of its journal. */
  published({ journal = '', cursor, storedAt }: LiveSample): void {
    const known = this.#journalOf(journal);
    known.published = { cursor, before: storedAt };
    this.#moveTo(known, known.published);
  }

  /** Everything of the journal up to the cursor was published, or is not wanted. */
  passed(name: string, cursor: string): void {
    this.#moveTo(this.#journalOf(name), { cursor, before: 0 });
  }

  /** Everything of the journal up to the place was published. */
  reached(name: string, reached: JournalPlace): void {
    this.#moveTo(this.#journalOf(name), reached);
    this.#moveTime();
  }

  /**
   * Resolves when all named journals whose nodes work were published up to the place; with false
   * after a limit. Until then, cursors would not say that a session has what it has read further.
   */
  async whenReached(wanted: StreamPlace): Promise<boolean> {
    const isReached = await whenTrue(
      () => covers(this.#journals, wanted),
      this.#waiting,
      this.#setTimer,
    );
    if (isReached) nameRead(this.#journals, wanted);
    return isReached;
  }

  /** Whether the journals of all nodes that work are known. Without that, the time does not move. */
  setComplete(complete: boolean): void {
    this.#isComplete = complete;
  }

  /** Says whether the node of the journal works; without that, cursors name the place in it. */
  setLive(name: string, isLive: boolean): void {
    const wasLive = this.#journals.get(name)?.isLive === true;
    this.#journalOf(name).isLive = isLive;
    this.#moveTime();
    for (const look of this.#waiting) look();
    if (isLive && !wasLive) for (const listener of this.#returning) listener(name);
  }

  /** The journals whose nodes work. */
  live(): ReadonlySet<string> {
    return new Set([...this.#journals].flatMap(([name, { isLive }]) => (isLive ? [name] : [])));
  }

  /**
   * What the place says of the journals that cannot be read, because their nodes are away, and
   * that this node has published further or not as far.
   */
  absent(wanted: JournalPlaces): ReadonlyMap<string, JournalPlace> {
    return absentIn(this.#journals, wanted);
  }

  /** Calls the listener when the node of a journal works again, before it is published further. */
  onReturn(listener: (journal: string) => void): () => void {
    this.#returning.add(listener);
    return () => this.#returning.delete(listener);
  }

  #journalOf(name: string): FollowedJournal {
    const known = this.#journals.get(name);
    if (known !== undefined) return known;
    const added = {
      place: { cursor: '', before: this.#before },
      published: undefined,
      isLive: true,
    };
    this.#journals.set(name, added);
    return added;
  }

  /** The time that all working journals have reached never goes back. */
  #moveTime(): void {
    this.#place = undefined;
    if (!this.#isComplete) return;
    this.#before = Math.max(this.#before, (commonTime(this.#journals) ?? 0) - this.#behindMs);
  }

  #moveTo(journal: FollowedJournal, to: JournalPlace): void {
    journal.place = laterOf(journal.place, to);
    this.#place = undefined;
    for (const look of this.#waiting) look();
  }
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
