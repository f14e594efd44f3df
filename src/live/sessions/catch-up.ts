// Catch-up: replays stored samples before a session goes live, in order, without gap or repetition (contract: live stream resume).
//
// Each device of a session is in one of two states:
//
//   LIVE --- request of a replay, or spill of a slow reader ---> HELD
//    ^                                                            |
//    |  the pass ends: buffered samples are sent                  |  live samples of the device are buffered,
//    +------------------------------------------------------------+  a pass reads the store and sends what is owed
//
// A pass can end in four ways:
//   complete       Its devices are LIVE, except those with a request that arrived during the pass: the next pass serves them.
//   buffer full    Its devices stay HELD. The next pass reads the store from the last buffered sample on.
//   refused        Nothing was sent and a cursor is too old: the client gets an error, the pass starts again for the other requests.
//   impossible     Samples that are owed cannot be read: the connection ends, and the client resumes with a new one.
import type { ReplyTo } from '../../contract/live-messages.ts';
import type { EpochMs } from '../../model/instant.ts';
import { Problem } from '../../model/problem.ts';
import type { FanOut, Interest } from './fan-out.ts';
import { liveLimits, refusal, type SessionMemory } from './live-limits.ts';
import {
  createReplayPass,
  isAlreadyReplayed,
  isOwed,
  mergedReplays,
  type ReplayPass,
  type ReplayRequest,
  startsOf,
  widenCoverages,
} from './replay-pass.ts';
import { type Outbox, sampleFrame } from './send-buffer.ts';
import {
  advanced,
  earlier,
  earlierOf,
  type JournalPlace,
  later,
  type LiveSample,
  placeIn,
  placeText,
  type ReplayStart,
  type StreamPlace,
} from './stream-position.ts';
import type { JournalStream } from './journal-stream.ts';

// Absent journals: what a session has of journals whose nodes are away, which this node may have published further.

type Places = ReadonlyMap<string, JournalPlace>;

/** What one session has of absent journals; nothing is noted with one journal. */
class AbsentJournals {
  readonly #returned: (has: Places) => void;
  readonly #torn: () => void;
  readonly #stream: JournalStream | undefined;
  #absent: Places = new Map();
  /** During a pass: the journals that it can read. */
  #readable: ReadonlySet<string> | undefined;
  #stop: (() => void) | undefined;
  readonly #comeBack = (journal: string): void => {
    const place = this.#absent.get(journal);
    if (this.#readable !== undefined) {
      if (place !== undefined || this.#readable.has(journal)) this.#torn();
      return;
    }
    if (place === undefined) return;
    this.#absent = new Map([...this.#absent].filter(([name]) => name !== journal));
    this.#returned(new Map([[journal, place]]));
  };

  constructor({
    fanOut,
    returned,
    torn,
  }: {
    readonly fanOut: FanOut;
    /** The journal can be read again, after what the session has of it. */
    readonly returned: (has: Places) => void;
    /** A journal came back while the store was read: what the pass has read of it is not known. */
    readonly torn: () => void;
  }) {
    this.#returned = returned;
    this.#torn = torn;
    const { journals: stream } = fanOut;
    this.#stream = stream;
  }

  readonly close = (): void => this.#stop?.();

  /** The place that this node has published, with what the session has of absent journals. */
  asSessionHas(place: StreamPlace): StreamPlace {
    return withPlaces(place, this.#absent);
  }

  /**
   * Call when the read of the store begins, with where it begins. Returns what the session has
   * then, which is not more than that.
   */
  passStarts(place: StreamPlace | undefined): StreamPlace | undefined {
    const has = place && notBeyond(place, this.#absent);
    this.#note(has);
    this.#readable = this.#stream?.live();
    return has;
  }

  /** Whether the sample is left to the pass that begins when its journal returns. */
  isLater({ journal = '' }: LiveSample): boolean {
    return this.#absent.has(journal);
  }

  /** Call when everything that the pass has read was sent, with what the session has then. */
  passEnds(place: StreamPlace | undefined): void {
    this.#readable = undefined;
    this.#note(place);
  }

  /** The shared frame, or one whose cursor does not include what the session lacks. */
  frameFor(sample: LiveSample, frame: Buffer, now: EpochMs): Buffer {
    if (this.#absent.size === 0 || this.#stream === undefined) return frame;
    return sampleFrame(sample, now, this.#stream.cursorOf(sample, this.#absent));
  }

  #note(place: StreamPlace | undefined): void {
    if (this.#stream === undefined || place === undefined || typeof place === 'string') return;
    this.#stop ??= this.#stream.onReturn(this.#comeBack);
    this.#absent = this.#stream.absent(place);
  }
}

/** The place with these places of some journals. */
function withPlaces(place: StreamPlace, places: Places): StreamPlace {
  if (typeof place === 'string' || places.size === 0) return place;
  return { before: place.before, journals: new Map([...place.journals, ...places]) };
}

function notBeyond(place: StreamPlace, places: Places): StreamPlace {
  if (typeof place === 'string') return place;
  const journals = [...places].map(
    ([name, has]) => [name, earlierOf(placeIn(place, name), has)] as const,
  );
  return withPlaces(place, new Map(journals));
}

/**
 * Samples of the devices that were stored after the start, in order of storage. Throws Problem
 * `cursorTooOld` (the log's `replay`).
 */
export type Replay = (
  start: ReplayStart,
  deviceIds: ReadonlySet<string>,
) => AsyncIterable<readonly LiveSample[]>;

interface CatchUpOptions {
  readonly replay: Replay;
  readonly fanOut: FanOut;
  readonly outbox: Outbox;
  /** Counts buffered samples. */
  readonly memory: SessionMemory;
  readonly now: () => EpochMs;
  readonly interest: (assetId: string) => Interest | undefined;
  readonly interests: () => Iterable<Interest>;
  /** Sends an error message. The subscriptions stay live. */
  readonly refuse: (thrown: unknown, replyTo: ReplyTo | undefined) => void;
  /** Ends the connection, because samples that are owed cannot be sent. */
  readonly end: (reason: string) => void;
}

interface CatchUpState {
  readonly options: CatchUpOptions;
  readonly absent: AbsentJournals;
  readonly held: Set<Interest>;
  /** Requests for the next pass. */
  pending: ReplayRequest[];
  buffer: {
    readonly sample: LiveSample;
    readonly frame: Buffer;
    readonly interest: Interest;
  }[];
  bufferedBytes: number;
  isOverflowed: boolean;
  /** Everything that was published up to here was sent or buffered; set with `isOverflowed`. */
  bufferedTo: StreamPlace | undefined;
  resumeFrom: StreamPlace | undefined;
  isRunning: boolean;
  ticksBehind: number;
}

/** The replays of one session. Passes run one after the other. */
export class CatchUp {
  readonly #options: CatchUpOptions;
  readonly #absent: AbsentJournals;
  readonly #state: CatchUpState;

  constructor(options: CatchUpOptions) {
    this.#options = options;
    this.#absent = new AbsentJournals({
      fanOut: options.fanOut,
      returned: (has) => readReturned(this.#state, has),
      torn: () => options.end('a node has recovered; reconnect with since'),
    });
    this.#state = {
      options,
      absent: this.#absent,
      held: new Set(),
      pending: [],
      buffer: [],
      bufferedBytes: 0,
      isOverflowed: false,
      bufferedTo: undefined,
      resumeFrom: undefined,
      isRunning: false,
      ticksBehind: 0,
    };
  }

  /** Holds the devices of these open subscriptions and replays them. */
  readonly request = (requests: readonly ReplayRequest[]): void => {
    for (const { subscription } of requests) {
      const interest = this.#options.interest(subscription.assetId);
      if (interest === undefined) continue;
      holdInterest(this.#state, interest);
      interest.settlingUntil = this.#options.now();
    }
    this.#state.pending.push(...requests);
    void run(this.#state);
  };

  readonly tick = (): void => {
    const isBehind = this.#state.isOverflowed || this.#state.resumeFrom !== undefined;
    if (this.#state.isRunning && isBehind) this.#state.ticksBehind++;
    if (this.#state.ticksBehind > liveLimits.behindTicksMax)
      this.#options.end('the client is reading too slowly and is too far behind');
  };

  /** Buffers a live sample of a held device. */
  hold(sample: LiveSample, frame: Buffer, interest: Interest): void {
    if (this.#state.isOverflowed) return;
    const isFull =
      this.#state.buffer.length >= liveLimits.heldSamplesMax ||
      this.#state.bufferedBytes > liveLimits.heldBytesMax;
    const isCounted = this.#state.bufferedBytes > liveLimits.sessionBlockBytes;
    if (isFull || (isCounted && !this.#options.memory.hasRoom)) {
      this.#state.isOverflowed = true;
      this.#state.bufferedTo = this.#options.fanOut.lastCursor;
      return;
    }
    this.#state.buffer.push({ sample, frame, interest });
    this.#state.bufferedBytes += frame.length;
    this.#options.memory.change(frame.length);
  }

  /** Holds every device. Continues from the store after the last published sample. */
  spill(): void {
    const { lastCursor } = this.#options.fanOut;
    if (lastCursor === undefined) return this.#options.end('the client is reading too slowly');
    this.#state.resumeFrom = earlier(this.#absent.asSessionHas(lastCursor), this.#state.resumeFrom);
    for (const interest of this.#options.interests()) holdInterest(this.#state, interest);
    void run(this.#state);
  }

  /** See the reader of the fan-out. */
  frameFor(sample: LiveSample, frame: Buffer): Buffer {
    return this.#absent.frameFor(sample, frame, this.#options.now());
  }

  close(): void {
    this.#absent.close();
  }
}

/** Sends what the session lacks of a journal before what its node publishes from now on. */
function readReturned(state: CatchUpState, has: ReadonlyMap<string, JournalPlace>): void {
  const { options, absent } = state;
  for (const interest of options.interests()) {
    holdInterest(state, interest);
    interest.deliveredTo = withPlaces(interest.deliveredTo, has);
  }
  const { lastCursor } = options.fanOut;
  if (lastCursor === undefined) return;
  const from = withPlaces(absent.asSessionHas(lastCursor), has);
  state.resumeFrom = earlier(from, state.resumeFrom);
  void run(state);
}

function holdInterest({ options, held }: CatchUpState, interest: Interest): void {
  if (interest.held) return;
  interest.held = true;
  interest.deliveredTo = later(interest.deliveredTo, options.fanOut.lastCursor);
  held.add(interest);
}

async function run(state: CatchUpState): Promise<void> {
  const { outbox, refuse, end } = state.options;
  if (state.isRunning) return;
  state.isRunning = true;
  try {
    while (!outbox.closed && (state.pending.length > 0 || state.resumeFrom !== undefined))
      await runPass(state);
  } catch (thrown) {
    refuse(thrown, undefined);
    end('internal error');
  }
  state.isRunning = false;
  state.ticksBehind = 0;
}

async function runPass(state: CatchUpState): Promise<void> {
  const { outbox } = state.options;
  const requests = state.pending.filter(({ subscription }) => subscription.open);
  const pass = createReplayPass(state.held, requests, state.resumeFrom);
  state.pending = [];
  state.resumeFrom = undefined;
  state.isOverflowed = false;
  await readStore(state, pass);
  if (!(await isPublished(pass, state.options))) return;
  while (!outbox.writable) await outbox.whenWritable();
  if (!outbox.closed) finishPass(state, pass);
}

async function readStore({ options, absent }: CatchUpState, pass: ReplayPass): Promise<void> {
  for (;;) {
    pass.starts = startsOf(pass);
    pass.first = absent.passStarts(firstPlace(pass, options.fanOut));
    try {
      await sendOwed(options, absent, pass);
      return;
    } catch (thrown) {
      if (!refuseReplay(options, pass, thrown)) return;
    }
  }
}

async function sendOwed(
  options: CatchUpOptions,
  absent: AbsentJournals,
  pass: ReplayPass,
): Promise<void> {
  const { outbox, now } = options;
  // All topics, because one that the client adds meanwhile counts as read by this pass.
  const deviceIds = new Set([...pass.members].map(({ assetId }) => assetId));
  const replays = pass.starts.map((start) => options.replay(start, deviceIds));
  for await (const batch of mergedReplays(replays)) {
    for (const sample of batch) {
      if (absent.isLater(sample)) continue;
      while (!outbox.writable) await outbox.whenWritable();
      if (outbox.closed) return;
      const isSent = isOwedNow(options, pass, sample);
      pass.reached = advanced(pass.reached ?? pass.first ?? '', sample);
      if (isSent) outbox.sendSample(sampleFrame(sample, now(), shownCursor(pass.reached)));
    }
  }
}

function isOwedNow(
  { interest, fanOut }: CatchUpOptions,
  pass: ReplayPass,
  sample: LiveSample,
): boolean {
  return isOwed(pass, sample, interest(sample.deviceId), fanOut.firstCursor);
}

function finishPass(state: CatchUpState, pass: ReplayPass): void {
  const last = sendBuffered(state, pass);
  widenCoverages(pass);
  state.absent.passEnds(last);
  if (state.isOverflowed && state.bufferedTo !== undefined)
    state.resumeFrom = earlier(state.absent.asSessionHas(state.bufferedTo), state.resumeFrom);
  const waiting = new Set(state.pending.map(({ subscription }) => subscription.assetId));
  for (const interest of pass.members) {
    interest.deliveredTo = later(interest.deliveredTo, last);
    if (state.isOverflowed || waiting.has(interest.assetId)) continue;
    interest.held = false;
    state.held.delete(interest);
  }
  state.buffer = state.buffer.filter(({ interest }) => !pass.members.has(interest));
  const before = state.bufferedBytes;
  state.bufferedBytes = state.buffer.reduce((bytes, { frame }) => bytes + frame.length, 0);
  state.options.memory.change(state.bufferedBytes - before);
}

/**
 * Sends the buffered samples of the pass's devices. Returns the last place that was read or
 * buffered.
 */
function sendBuffered(
  { options, buffer }: CatchUpState,
  pass: ReplayPass,
): StreamPlace | undefined {
  let last = pass.reached ?? pass.first;
  for (const { sample, frame, interest } of buffer) {
    if (!pass.members.has(interest)) continue;
    const isSent = !isAlreadyReplayed(pass, sample) && isOwedNow(options, pass, sample);
    last = advanced(last ?? '', sample);
    if (isSent)
      options.outbox.sendSample(shownFrame(frame, sample, { place: last, now: options.now() }));
  }
  return last;
}

// Replay cursors: what a session may say that a client has, while it replays the journals of several nodes.

/** What the client has before the pass; undefined with one journal, whose cursors say it. */
function firstPlace({ starts }: ReplayPass, { journals }: FanOut): StreamPlace | undefined {
  if (journals === undefined || starts.length === 0) return undefined;
  const places = starts.map(
    (start): StreamPlace =>
      'cursor' in start ? start.cursor : { before: start.storedSince, journals: new Map() },
  );
  return places.reduce((place, other) => earlier(other, place), places[0] ?? '');
}

function shownCursor(place: StreamPlace): string {
  return typeof place === 'string' ? place : placeText(place);
}

/** With several journals, the frame of all sessions does not say what this one has read. */
function shownFrame(
  frame: Buffer,
  sample: LiveSample,
  { place, now }: { readonly place: StreamPlace; readonly now: EpochMs },
): Buffer {
  return typeof place === 'string' ? frame : sampleFrame(sample, now, placeText(place));
}

/**
 * Resolves when this node has published what the session has after the pass, so that the next live cursors
 * include it. With false, the session has to end.
 */
async function isPublished(
  { reached, first }: ReplayPass,
  { fanOut, end }: { readonly fanOut: FanOut; readonly end: (reason: string) => void },
): Promise<boolean> {
  // Another node may have published more to the client than this one has.
  const place = reached ?? first;
  if (fanOut.journals === undefined || place === undefined) return true;
  const isReached = await fanOut.journals.whenReached(place);
  if (!isReached) end('samples of another node are delayed; reconnect with since');
  return isReached;
}

// Replay refusal: the requests of a pass that the store cannot serve, each with an error for its client.

/**
 * Rejects the requests that cannot be served, which are live from now on. True if the others can be
 * tried again.
 */
function refuseReplay(
  options: {
    readonly interest: (assetId: string) => Interest | undefined;
    readonly refuse: (thrown: unknown, replyTo: ReplyTo | undefined) => void;
    readonly end: (reason: string) => void;
  },
  pass: ReplayPass,
  thrown: unknown,
): boolean {
  const oldest = oldestCursorOf(thrown);
  const hasStarted = pass.reached !== undefined;
  const refused = refusedRequests(pass, oldest);
  if (refused.length === 0 || (hasStarted && pass.resumeFrom !== undefined)) {
    options.end('stored samples are unavailable; reconnect with since');
    return false;
  }
  const answer = oldest && refusal('CURSOR_TOO_OLD', { oldestCursor: oldest });
  for (const replyTo of new Set(refused.map((request) => request.replyTo)))
    options.refuse(answer ?? thrown, replyTo);
  for (const { subscription } of refused) {
    pass.wanted.delete(subscription);
    const afterCursor = options.interest(subscription.assetId)?.deliveredTo;
    subscription.coverage ??= { ...(afterCursor && { afterCursor }) };
  }
  pass.requests = pass.requests.filter((request) => !refused.includes(request));
  return !hasStarted;
}

function oldestCursorOf(thrown: unknown): string | undefined {
  if (!(thrown instanceof Problem) || thrown.problem !== 'cursorTooOld') return undefined;
  return String(thrown.details.oldest);
}

/**
 * Those with a cursor that is too old. All of them if that does not explain the error, or samples
 * were sent already.
 */
function refusedRequests(
  { requests, reached }: ReplayPass,
  oldest: string | undefined,
): readonly ReplayRequest[] {
  const tooOld = requests.filter(
    ({ start }) => oldest !== undefined && 'cursor' in start && isOlder(start.cursor, oldest),
  );
  return reached !== undefined || tooOld.length === 0 ? requests : tooOld;
}

/** With several journals the oldest cursor is of one of them, so any cursor may be too old. */
function isOlder(place: StreamPlace, oldest: string): boolean {
  return typeof place !== 'string' || place < oldest;
}
