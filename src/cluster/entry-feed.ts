// Entry feed: the durable entries of this node's journal, as other nodes follow them from a position on.
import { setImmediate as pause } from 'node:timers/promises';
import type { InterestChange } from '../live/sessions/live-interests.ts';
import type { EntryLog } from '../storage/log/entry-log.ts';
import { cursorAt } from '../model/cursor.ts';
import type { EpochMs } from '../model/instant.ts';
import { type DurableEntry, summaryOf } from '../model/journal-entry.ts';
import { problem } from '../model/problem.ts';
import type { SetTimer } from '../structures/timers.ts';
import type { EntryTail } from './recent-entries.ts';

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
export interface EntryFeedChange {
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
