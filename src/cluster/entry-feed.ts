// Entry feed: the durable entries of this node's journal, as other nodes follow them from a position on.
import { setImmediate as pause } from 'node:timers/promises';
import type { InterestChange } from '../live/sessions/live-interests.ts';
import type { EntryLog } from '../storage/log/entry-log.ts';
import { cursorAt } from '../model/cursor.ts';
import type { EpochMs } from '../model/instant.ts';
import {
  type DurableEntry,
  type DurableItem,
  type DurableRows,
  isRows,
  isWritten,
  sampleCountOf,
  summaryOf,
} from '../model/journal-entry.ts';
import { problem, Problem } from '../model/problem.ts';
import type { SetTimer } from '../structures/timers.ts';
import type { NodeAddress } from '../model/node-messages.ts';

/** The name of the feed between nodes. */
export const entryFeed = 'entries';

const entryFeedLimits = {
  /** Entries and samples of one message, unless one entry has more samples. */
  entriesMax: 500,
  samplesMax: 1_000,
  /** How often a follower gets a mark while there is nothing for it. */
  markMs: 100,
} as const;

export interface EntryFeedRequest {
  readonly interest: InterestChange;
  /** The first position, and the journal that it is of. */
  readonly from?: number;
  readonly journal?: string;
  /** Without a position: what was stored since then; by default what becomes durable from now on. */
  readonly since?: EpochMs;
  /** The number of the change that the interest includes. */
  readonly number?: number;
  /** Whether only samples are sent, without what else entries have. */
  readonly samplesOnly?: boolean;
}

/** A change of the request, with a number that the feed confirms. */
interface EntryFeedChange {
  readonly number?: number;
  readonly interest?: InterestChange;
}

export interface EntryFeedMessage {
  /** The journal, which is of one data folder. In the first message. */
  readonly journal?: string;
  /** Matching entries, in their order. */
  readonly entries: readonly DurableEntry[];
  /** Every matching entry before this position was sent. */
  readonly next: number;
  /** Every matching entry that was stored before this time was sent. */
  readonly before: EpochMs;
  /** The newest change that applies to everything from `next` on. */
  readonly confirmed: number;
}

interface EntryFeedParts {
  readonly log: Pick<
    EntryLog,
    | 'position'
    | 'nextPosition'
    | 'firstPosition'
    | 'entriesFrom'
    | 'behindLost'
    | 'reachTime'
    | 'positionAt'
  >;
  /** Name of the journal. */
  readonly journal: () => string;
  readonly tail: EntryTail;
  readonly setRepeatingTimer: SetTimer;
  /** Reports entries that the journal cannot give. */
  readonly failed: (error: unknown) => void;
}

interface OpenedEntryFeed {
  readonly request: unknown;
  readonly signal: AbortSignal;
  onChange(listener: (request: unknown) => void): void;
}

interface FeedState {
  readonly request: EntryFeedRequest;
  readonly interest: EntryInterest;
  readonly signal: AbortSignal;
  next: number;
  /** The entry before `next`, if it was read. */
  last: DurableEntry | undefined;
  before: EpochMs;
  confirmed: number;
  isMarkDue: boolean;
  /** Resolves the wait for something new. */
  wake: () => void;
}

/**
 * Offers the journal to other nodes. A feed throws Problem `cursorTooOld` for a position that was
 * released: its follower takes the rows from the sample store.
 */
export function createEntryFeed(
  parts: EntryFeedParts,
): (opened: OpenedEntryFeed) => AsyncGenerator {
  return async function* entries({ request: sent, signal, onChange }) {
    const request = sent as EntryFeedRequest;
    const state: FeedState = {
      request,
      signal,
      interest: new EntryInterest(request.interest),
      next: await firstPosition(parts, request),
      last: undefined,
      before: 0,
      confirmed: request.number ?? 0,
      isMarkDue: false,
      wake: () => undefined,
    };
    refuseReleased(parts, state);
    onChange((change) => applyChange(state, change as EntryFeedChange));
    const stop = wakeWhenNew(parts, state);
    try {
      yield messageOf(parts, state, [], { journal: parts.journal() });
      while (!signal.aborted) yield* nextMessages(parts, state);
    } finally {
      stop();
    }
  };
}

/** Runs the feed again for entries, for marks, and for its end. */
function wakeWhenNew({ tail, setRepeatingTimer }: EntryFeedParts, state: FeedState): () => void {
  const unfollow = tail.follow(() => state.wake());
  const stopMarks = setRepeatingTimer(() => {
    state.isMarkDue = true;
    state.wake();
  }, entryFeedLimits.markMs);
  state.signal.addEventListener('abort', () => state.wake(), { once: true });
  return () => {
    unfollow();
    stopMarks();
  };
}

async function firstPosition(
  { log }: EntryFeedParts,
  { from, since }: EntryFeedRequest,
): Promise<number> {
  if (from !== undefined) return from;
  return since === undefined ? log.position : log.positionAt(since);
}

function refuseReleased({ log, journal }: EntryFeedParts, { next, request }: FeedState): void {
  const oldest = log.firstPosition;
  const isOther = request.journal !== undefined && request.journal !== journal();
  if (next < oldest || isOther) throw problem('cursorTooOld', { oldest: cursorAt(oldest, 0) });
  if (next > log.nextPosition)
    throw problem('invalidRequest', { reason: `${next} is not a valid journal position` });
}

function applyChange(state: FeedState, { number, interest }: EntryFeedChange): void {
  if (interest !== undefined) state.interest.change(interest);
  if (number === undefined) return;
  state.confirmed = number;
  state.isMarkDue = true;
  state.wake();
}

/** What is there, or a mark after a wait. */
async function* nextMessages(parts: EntryFeedParts, state: FeedState): AsyncGenerator {
  const { log, tail } = parts;
  const run = tail.from(state.next);
  if (run.length > 0) yield* messagesOf(parts, state, run);
  else if (state.next < log.position) yield* readJournal(parts, state);
  else if (!state.isMarkDue) await new Promise<void>((resolve) => (state.wake = resolve));
  if (state.isMarkDue) yield messageOf(parts, state, []);
}

/** A message for each part that has matching entries. */
function* messagesOf(
  parts: EntryFeedParts,
  state: FeedState,
  entries: readonly DurableEntry[],
): Generator {
  const { entriesMax, samplesMax } = entryFeedLimits;
  let matching: DurableEntry[] = [];
  let samples = 0;
  for (const entry of entries) {
    if (entry.position < state.next) continue;
    state.next = entry.position + 1;
    state.last = entry;
    if (!state.interest.matches(entry)) continue;
    matching.push(entry);
    samples += entry.samples.length;
    if (matching.length < entriesMax && samples < samplesMax) continue;
    yield messageOf(parts, state, matching);
    [matching, samples] = [[], 0];
  }
  if (matching.length > 0) yield messageOf(parts, state, matching);
}

async function* readJournal(parts: EntryFeedParts, state: FeedState): AsyncGenerator {
  const { log, tail } = parts;
  refuseReleased(parts, state);
  const to = log.position;
  for await (const entries of log.entriesFrom(state.next)) {
    yield* messagesOf(parts, state, entries);
    if (state.isMarkDue) yield messageOf(parts, state, []);
    if (state.signal.aborted || tail.from(state.next).length > 0) return;
    await pause();
  }
  if (state.next >= to) return;
  // It is damage; nothing else can be waited for.
  const behindLost = log.behindLost(state.next);
  if (behindLost > state.next) {
    state.next = behindLost;
    return;
  }
  parts.failed(new Error(`The journal has no entries from ${state.next} to ${to} for other nodes`));
  state.next = to;
}

function messageOf(
  { log }: EntryFeedParts,
  state: FeedState,
  entries: readonly DurableEntry[],
  first?: Pick<EntryFeedMessage, 'journal'>,
): unknown {
  const { next, last, confirmed, request } = state;
  // Entries that are being written have a time already.
  if (log.nextPosition === next) state.before = log.reachTime();
  else state.before = Math.max(state.before, last?.samples[0]?.storedAt ?? 0);
  state.isMarkDue = false;
  const { before } = state;
  const sent = request.samplesOnly === true ? entries.map(onlySamples) : entries.map(whole);
  const message: EntryFeedMessage = { ...first, entries: sent, next, before, confirmed };
  return message;
}

/** An entry may create its samples when they are read, so that it has no member for them. */
function whole(entry: DurableEntry): DurableEntry {
  const { position, deviceId, receivedAt, samples, notes, duplicates } = entry;
  const { state, metrics, trace, replaces } = entry;
  const optional = {
    ...(state && { state }),
    ...(metrics && { metrics }),
    ...(trace && { trace }),
    ...(replaces && { replaces }),
  };
  return { position, deviceId, receivedAt, samples, notes, duplicates, ...optional };
}

/** Samples that came in the place of others are not live. */
function onlySamples({
  position,
  deviceId,
  receivedAt,
  replaces,
  ...entry
}: DurableEntry): DurableEntry {
  const samples = replaces === undefined ? entry.samples : [];
  return { position, deviceId, receivedAt, samples, notes: [], duplicates: 0 };
}

// Entry interest: which entries of a journal another node wants, kept up to date by changes.

class EntryInterest {
  readonly #workspaces = new Set<string>();
  readonly #devices = new Set<string>();
  #isAll = false;

  constructor(first: InterestChange) {
    this.change(first);
  }

  change(changed: InterestChange): void {
    for (const id of changed.withoutWorkspaces ?? []) this.#workspaces.delete(id);
    for (const id of changed.withoutDevices ?? []) this.#devices.delete(id);
    for (const id of changed.workspaces ?? []) this.#workspaces.add(id);
    for (const id of changed.devices ?? []) this.#devices.add(id);
    this.#isAll = changed.all ?? this.#isAll;
  }

  /** An entry without samples is in no workspace. */
  matches(entry: DurableEntry): boolean {
    if (this.#isAll) return true;
    const summary = summaryOf(entry);
    const workspaceId = summary?.workspaceId ?? entry.replaces?.workspaceId;
    if (workspaceId === undefined) return false;
    if (this.#workspaces.has(workspaceId) || this.#devices.has(entry.deviceId)) return true;
    // An entry in columns has samples of its device only, which are not created for this.
    if (this.#devices.size === 0 || entry.summary !== undefined) return false;
    return entry.samples.some(({ deviceId }) => this.#devices.has(deviceId));
  }
}

// Followed entries: the journal of another node, from a position on, without gap or repetition over broken links.

/** A feed of the port between nodes, opened. */
interface OpenFeed extends AsyncIterable<unknown> {
  change(request: unknown): void;
  close(): void;
}

export interface FollowedEntries {
  /**
   * The messages, in order; ends after `close`. After the link was broken, they continue from where
   * they were. Throws Problem `cursorTooOld` when the journal was released beyond that.
   */
  readonly messages: AsyncIterable<EntryFeedMessage>;
  /** Applies to the open feed; later ones get the whole request. */
  change(change: EntryFeedChange): void;
  close(): void;
}

/** Follows the journal of another node, also over broken links, which `broken` reports. */
export type FollowEntriesOf = (
  node: NodeAddress,
  request: () => EntryFeedRequest,
  broken?: () => void,
) => FollowedEntries;

export function followEntries(parts: {
  /** Opens a feed of the other node. */
  readonly follow: (feed: string, request: () => unknown) => OpenFeed;
  /** The request to open with, now and after the link was broken. */
  readonly request: () => EntryFeedRequest;
  /** Reports a broken link; it is opened again. */
  readonly broken: (error: unknown) => void;
  readonly wait: () => Promise<unknown>;
}): FollowedEntries {
  let open: OpenFeed | undefined;
  let isClosed = false;
  let place: Pick<EntryFeedRequest, 'from' | 'journal'> = {};

  async function* messages(): AsyncGenerator<EntryFeedMessage> {
    while (!isClosed) {
      // What is wanted by the time the link is open: a change that follows the request comes too late
      // for what the feed has sent by then.
      open = parts.follow(entryFeed, () => ({ ...parts.request(), ...place }));
      try {
        for await (const item of open) {
          const message = item as EntryFeedMessage;
          yield message;
          place = { ...place, ...journalOf(message), from: message.next };
        }
      } catch (error) {
        if (error instanceof Problem) throw error;
        parts.broken(error);
      } finally {
        open.close();
      }
      if (!isClosed) await parts.wait();
    }
  }

  return {
    messages: messages(),
    change: (change) => open?.change(change),
    close() {
      isClosed = true;
      open?.close();
    },
  };
}

/** The first message names the journal. */
function journalOf({ journal }: EntryFeedMessage): Pick<EntryFeedRequest, 'journal'> {
  return journal === undefined ? {} : { journal };
}

// Entry tail: the newest announced entries, shared by all feeds, so that these rarely read the journal.

const entryTailLimits = {
  entriesMax: 4_096,
  samplesMax: 40_000,
  /** An entry with more samples is read from the journal. */
  entrySamplesMax: 4_000,
  /** Entries that are taken together. */
  takenMax: 500,
} as const;

export class EntryTail {
  readonly #followers = new Set<() => void>();
  /** The item of each position from `first` on; undefined where it is not known. */
  readonly #run: (DurableItem | undefined)[] = [];
  #first = 0;
  #samples = 0;

  readonly announced = (entry: DurableEntry): void => {
    if (this.#followers.size === 0 || !isWritten(entry)) return;
    if (sampleCountOf(entry) <= entryTailLimits.entrySamplesMax)
      this.#keep(entry.position, 1, entry);
    this.#wakeAll();
  };

  readonly announcedRows = (rows: DurableRows): void => {
    if (this.#followers.size === 0) return;
    if (rows.length <= entryTailLimits.entrySamplesMax)
      this.#keep(rows.position, rows.length, rows);
    this.#wakeAll();
  };

  /** The unbroken run of entries from the position on; empty where the journal must be read. */
  from(position: number): readonly DurableEntry[] {
    return entriesFrom(this.#run, this.#first, position);
  }

  /** Keeps entries, and calls the listener after each announcement, until the function is called. */
  follow(listener: () => void): () => void {
    this.#followers.add(listener);
    return () => {
      this.#followers.delete(listener);
      if (this.#followers.size === 0) this.#drop(this.#run.length);
    };
  }

  #drop(positions: number): void {
    for (const item of this.#run.splice(0, positions)) this.#samples -= samplesAt(item);
    this.#first += positions;
  }

  #makeRoom(): void {
    const { entriesMax, samplesMax } = entryTailLimits;
    // In larger steps, because the rest is moved each time.
    if (this.#run.length > entriesMax + entriesMax / 4) this.#drop(this.#run.length - entriesMax);
    while (this.#samples > samplesMax) this.#drop(Math.max(1, this.#run.length >> 2));
  }

  #keep(position: number, length: number, item: DurableItem): void {
    const end = position + length;
    if (
      this.#run.length === 0 ||
      position > this.#first + this.#run.length + entryTailLimits.entriesMax
    ) {
      this.#drop(this.#run.length);
      this.#first = position;
    }
    while (this.#first + this.#run.length < end) this.#run.push(undefined);
    for (let at = Math.max(position, this.#first); at < end; at++) {
      this.#samples += samplesAt(item) - samplesAt(this.#run[at - this.#first]);
      this.#run[at - this.#first] = item;
    }
    this.#makeRoom();
  }

  #wakeAll(): void {
    for (const wake of this.#followers) wake();
  }
}

function entriesFrom(
  run: readonly (DurableItem | undefined)[],
  first: number,
  position: number,
): readonly DurableEntry[] {
  const entries: DurableEntry[] = [];
  if (position < first) return entries;
  while (entries.length < entryTailLimits.takenMax) {
    const at = position + entries.length;
    const item = run[at - first];
    if (item === undefined) break;
    entries.push(isRows(item) ? item.entryAt(at - item.position) : item);
  }
  return entries;
}

/** Of one position. */
function samplesAt(item: DurableItem | undefined): number {
  if (item === undefined) return 0;
  return isRows(item) ? 1 : sampleCountOf(item);
}
