// Sample feed: the samples of this node's journal, as sessions of other nodes follow them from a position on.
import { setImmediate as pause } from 'node:timers/promises';
import type { InterestChange } from '../live/sessions/live-interests.ts';
import { inJournal } from '../live/sessions/journal-stream.ts';
import type { LiveSample } from '../live/sessions/stream-position.ts';
import type { EntryLog } from '../storage/log/entry-log.ts';
import {
  cursorAt,
  type DurableEntry,
  type DurableItem,
  type DurableRows,
  isRows,
  isWritten,
  sampleCountOf,
  summaryOf,
} from '../model/journal-entry.ts';
import type { EpochMs } from '../model/instant.ts';
import { problem } from '../model/problem.ts';
import type { SetTimer } from '../structures/timers.ts';
import type { FeedHandler, OpenedFeed } from './nodes/feeds.ts';

/** The name of the feed between nodes. */
export const sampleFeed = 'samples';

const sampleFeedLimits = {
  /** Entries and samples of one message, unless one entry has more samples. */
  entriesMax: 500,
  samplesMax: 1_000,
  /** How often a follower gets a mark while there is nothing for it. */
  markMs: 100,
} as const;

export interface SampleFeedRequest {
  readonly interest: InterestChange;
  /** The first position, and the journal that it is of. */
  readonly from?: number;
  readonly journal?: string;
  /** Without a position: what was stored since then; by default what becomes durable from now on. */
  readonly since?: EpochMs;
  /** The number of the change that the interest includes. */
  readonly number?: number;
}

/** A change of the request, with a number that the feed confirms. */
export interface SampleFeedChange {
  readonly number: number;
  readonly interest: InterestChange;
}

export interface SampleFeedMessage {
  /** The journal, which is of one data folder. In the first message. */
  readonly journal?: string;
  /** Samples of matching entries, in their order. */
  readonly samples: readonly LiveSample[];
  /** Those of every matching entry before this position were sent. */
  readonly next: number;
  /** Those of every matching entry that was stored before this time were sent. */
  readonly before: EpochMs;
  /** The newest change that applies to everything from `next` on. */
  readonly confirmed: number;
}

interface SampleFeedParts {
  readonly log: EntryLog;
  /** Name of the journal. */
  readonly journal: () => string;
  readonly tail: EntryTail;
  readonly setRepeatingTimer: SetTimer;
  /** Reports entries that the journal cannot give. */
  readonly failed: (error: unknown) => void;
}

/**
 * Offers the journal to other nodes. A feed throws Problem `cursorTooOld` for a position that was
 * released: its follower takes the rows from the sample store.
 */
export function offerSamples(parts: SampleFeedParts): FeedHandler {
  return async function* samples(opened) {
    const request = opened.request as SampleFeedRequest;
    const { from, since } = request;
    const { log } = parts;
    const first = from ?? (since === undefined ? log.position : await log.positionAt(since));
    yield* new SentSamples(parts, request, first).messages(opened);
  };
}

/** What one follower gets. */
class SentSamples {
  readonly #parts: SampleFeedParts;
  readonly #interest: EntryInterest;
  /** The journal that the follower means. */
  readonly #meant: string | undefined;
  #next: number;
  /** The entry before `next`, if it was read. */
  #last: DurableEntry | undefined;
  #before: EpochMs = 0;
  #confirmed: number;
  #isMarkDue = false;
  /** Resolves the wait for something new. */
  #wake: () => void = () => undefined;

  constructor(
    parts: SampleFeedParts,
    { interest, journal, number = 0 }: SampleFeedRequest,
    first: number,
  ) {
    this.#parts = parts;
    this.#interest = new EntryInterest(interest);
    this.#meant = journal;
    this.#next = first;
    this.#confirmed = number;
  }

  async *messages({ signal, onChange }: OpenedFeed): AsyncGenerator<SampleFeedMessage> {
    this.#refuseReleased();
    onChange((change) => this.#apply(change as SampleFeedChange));
    const unfollow = this.#parts.tail.follow(() => this.#wake());
    const stopMarks = this.#parts.setRepeatingTimer(() => {
      this.#isMarkDue = true;
      this.#wake();
    }, sampleFeedLimits.markMs);
    signal.addEventListener('abort', () => this.#wake(), { once: true });
    try {
      yield { journal: this.#parts.journal(), ...this.#message([]) };
      while (!signal.aborted) yield* this.#nextMessages(signal);
    } finally {
      unfollow();
      stopMarks();
    }
  }

  #refuseReleased(): void {
    const { log, journal } = this.#parts;
    const oldest = log.firstPosition;
    const isOther = this.#meant !== undefined && this.#meant !== journal();
    if (this.#next < oldest || isOther)
      throw problem('cursorTooOld', { oldest: cursorAt(oldest, 0) });
    if (this.#next > log.nextPosition)
      throw problem('invalidRequest', { reason: `${this.#next} is not a valid journal position` });
  }

  #apply({ number, interest }: SampleFeedChange): void {
    this.#interest.change(interest);
    this.#confirmed = number;
    this.#isMarkDue = true;
    this.#wake();
  }

  /** What is there, or a mark after a wait. */
  async *#nextMessages(signal: AbortSignal): AsyncGenerator<SampleFeedMessage> {
    const { log, tail } = this.#parts;
    const run = tail.from(this.#next);
    if (run.length > 0) yield* this.#messagesOf(run);
    else if (this.#next < log.position) yield* this.#readJournal(signal);
    else if (!this.#isMarkDue) await new Promise<void>((resolve) => (this.#wake = resolve));
    if (this.#isMarkDue) yield this.#message([]);
  }

  /** A message for each part that has matching entries. */
  *#messagesOf(entries: readonly DurableEntry[]): Generator<SampleFeedMessage> {
    const { entriesMax, samplesMax } = sampleFeedLimits;
    let matching: DurableEntry[] = [];
    let samples = 0;
    for (const entry of entries) {
      if (entry.position < this.#next) continue;
      this.#next = entry.position + 1;
      this.#last = entry;
      if (!this.#interest.matches(entry)) continue;
      matching.push(entry);
      samples += entry.samples.length;
      if (matching.length < entriesMax && samples < samplesMax) continue;
      yield this.#message(matching);
      [matching, samples] = [[], 0];
    }
    if (matching.length > 0) yield this.#message(matching);
  }

  async *#readJournal(signal: AbortSignal): AsyncGenerator<SampleFeedMessage> {
    const { log, tail, failed } = this.#parts;
    this.#refuseReleased();
    const to = log.position;
    for await (const entries of log.entriesFrom(this.#next)) {
      yield* this.#messagesOf(entries);
      if (this.#isMarkDue) yield this.#message([]);
      if (signal.aborted || tail.from(this.#next).length > 0) return;
      await pause();
    }
    if (this.#next >= to) return;
    // It is damage; nothing else can be waited for.
    const behindLost = log.behindLost(this.#next);
    if (behindLost > this.#next) {
      this.#next = behindLost;
      return;
    }
    failed(new Error(`The journal has no entries from ${this.#next} to ${to} for other nodes`));
    this.#next = to;
  }

  #message(entries: readonly DurableEntry[]): SampleFeedMessage {
    const { log, journal } = this.#parts;
    // Entries that are being written have a time already.
    if (log.nextPosition === this.#next) this.#before = log.reachTime();
    else this.#before = Math.max(this.#before, this.#last?.samples[0]?.storedAt ?? 0);
    this.#isMarkDue = false;
    const name = journal();
    // Samples that came in the place of others are not live.
    const samples = entries.flatMap((entry) =>
      entry.replaces === undefined ? entry.samples.map((sample) => inJournal(sample, name)) : [],
    );
    return { samples, next: this.#next, before: this.#before, confirmed: this.#confirmed };
  }
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
