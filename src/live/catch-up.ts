// Sends what was stored before going live: in order, without gap or repetition (contract: live stream resume).
// Devices that are replayed are held: their live samples wait. A replay that cannot hold them all goes on from the store instead.
import type { ReplyTo } from '../contract/live-messages.ts';
import type { EpochMs } from '../model/instant.ts';
import { Problem } from '../model/problem.ts';
import type { StoredSample } from '../model/sample.ts';
import { type Coverage, covers, type ReplayStart, startsBefore, widened } from './coverage.ts';
import type { FanOut, Interest, Subscription } from './fan-out.ts';
import { liveLimits } from './live-limits.ts';
import { refusal } from './live-refusal.ts';
import type { Outbox } from './outbox.ts';
import { mergedReplays } from './replay-merge.ts';
import { sampleFrame } from './text-frame.ts';

/** Samples stored after the start, in order of storing; throws Problem `cursorTooOld` (the sample store's `replay`). */
export type Replay = (
  start: ReplayStart,
  wanted: (sample: StoredSample) => boolean,
) => AsyncIterable<readonly StoredSample[]>;

export interface ReplayRequest {
  readonly subscription: Subscription;
  readonly start: ReplayStart;
  readonly replyTo: ReplyTo | undefined;
}

interface CatchUpOptions {
  readonly replay: Replay;
  readonly fanOut: FanOut;
  readonly outbox: Outbox;
  readonly now: () => EpochMs;
  readonly interest: (assetId: string) => Interest | undefined;
  readonly interests: () => Iterable<Interest>;
  /** Answers an error message; the subscriptions stay live. */
  readonly refuse: (thrown: unknown, replyTo: ReplyTo | undefined) => void;
  /** Ends the connection: samples that were owed cannot be sent any more. */
  readonly end: (reason: string) => void;
}

export interface CatchUp {
  /** Holds the devices of these open subscriptions and replays them. */
  request(requests: readonly ReplayRequest[]): void;
  hold(sample: StoredSample, frame: Buffer, interest: Interest): void;
  /** Holds every device and goes on from the store after the last published sample. */
  spill(): void;
  tick(): void;
}

interface HeldSample {
  readonly sample: StoredSample;
  readonly frame: Buffer;
  readonly interest: Interest;
}

interface Pass {
  /** Interests held when the pass began; only they are its business. */
  readonly members: ReadonlySet<Interest>;
  requests: readonly ReplayRequest[];
  /** What each requested subscription asked for. */
  readonly wanted: Map<Subscription, Coverage>;
  /** Where live samples had to be dropped. */
  readonly resumeFrom: string | undefined;
  starts: readonly ReplayStart[];
  /** The last cursor that was read. */
  reached: string | undefined;
}

/** The replays of one session, one pass over the store after the other. */
export function createCatchUp(options: CatchUpOptions): CatchUp {
  const { fanOut, outbox } = options;
  const held = new Set<Interest>();
  let pending: ReplayRequest[] = [];
  let samples: HeldSample[] = [];
  let heldBytes = 0;
  let overflowed = false;
  let resumeFrom: string | undefined;
  let running = false;
  let ticksBehind = 0;

  function holdInterest(interest: Interest): void {
    if (interest.held) return;
    interest.held = true;
    interest.deliveredTo = latest(interest.deliveredTo, fanOut.lastCursor);
    held.add(interest);
  }

  async function run(): Promise<void> {
    if (running) return;
    running = true;
    try {
      while (!outbox.closed && (pending.length > 0 || resumeFrom !== undefined)) await runPass();
    } catch (thrown) {
      options.refuse(thrown, undefined);
      options.end('internal error');
    }
    running = false;
    ticksBehind = 0;
  }

  async function runPass(): Promise<void> {
    const requests = pending.filter(({ subscription }) => subscription.open);
    const wanted = new Map<Subscription, Coverage>();
    for (const { subscription, start } of requests)
      wanted.set(subscription, widened(wanted.get(subscription), start));
    const pass: Pass = {
      members: new Set(held),
      requests,
      wanted,
      resumeFrom,
      starts: [],
      reached: undefined,
    };
    pending = [];
    resumeFrom = undefined;
    overflowed = false;
    await readStore(pass);
    while (!outbox.writable) await outbox.whenWritable();
    if (!outbox.closed) finishPass(pass);
  }

  async function readStore(pass: Pass): Promise<void> {
    for (;;) {
      pass.starts = startsOf(pass);
      try {
        const replays = pass.starts.map((start) =>
          options.replay(start, (sample) => isOwed(sample, pass)),
        );
        for await (const batch of mergedReplays(replays)) {
          for (const sample of batch) {
            while (!outbox.writable) await outbox.whenWritable();
            if (outbox.closed) return;
            // Asked again: the client may have unsubscribed since the store looked.
            if (isOwed(sample, pass)) outbox.sendSample(sampleFrame(sample, options.now()));
            pass.reached = sample.cursor;
          }
        }
        return;
      } catch (thrown) {
        if (!refuseReplay(pass, thrown)) return;
      }
    }
  }

  /** Whether the session has to get the sample from this pass: once, and only what a subscription covers. */
  function isOwed(sample: StoredSample, { members, wanted }: Pass): boolean {
    const interest = options.interest(sample.deviceId);
    if (interest === undefined || !members.has(interest) || !sample.stored) return false;
    const isNew = sample.cursor > interest.deliveredTo;
    let owed = false;
    for (const subscription of [interest.topics.get(sample.topic), interest.wildcard]) {
      if (subscription === undefined) continue;
      const { coverage } = subscription;
      const covered = coverage !== undefined && covers(coverage, sample, fanOut.firstCursor);
      if (covered && !isNew) return false;
      const asked = wanted.get(subscription);
      // What was stored after the client asked it cannot have, wherever its cursor points.
      const isAsked =
        asked !== undefined &&
        (covers(asked, sample, undefined) || sample.storedAt > interest.settlingUntil);
      owed ||= covered || isAsked;
    }
    return owed;
  }

  function finishPass(pass: Pass): void {
    const kept: HeldSample[] = [];
    let last = pass.reached;
    for (const entry of samples) {
      if (!pass.members.has(entry.interest)) {
        kept.push(entry);
        continue;
      }
      const { sample } = entry;
      const wasRead =
        pass.reached !== undefined && sample.cursor <= pass.reached && isInStream(pass, sample);
      if (!wasRead && isOwed(sample, pass)) outbox.sendSample(entry.frame);
      last = latest(sample.cursor, last);
    }
    for (const [subscription, asked] of pass.wanted) {
      for (const start of startsIn(asked))
        subscription.coverage = widened(subscription.coverage, start);
    }
    if (overflowed) resumeFrom = earliest(samples.at(-1)!.sample.cursor, resumeFrom);
    const waiting = new Set(pending.map(({ subscription }) => subscription.assetId));
    for (const interest of pass.members) {
      interest.deliveredTo = latest(interest.deliveredTo, last);
      if (overflowed || waiting.has(interest.assetId)) continue;
      interest.held = false;
      held.delete(interest);
    }
    samples = kept;
    heldBytes = kept.reduce((bytes, { frame }) => bytes + frame.length, 0);
  }

  /** Answers the requests that cannot be served; they are live from now on. True when the others can be tried again. */
  function refuseReplay(pass: Pass, thrown: unknown): boolean {
    const oldest =
      thrown instanceof Problem && thrown.problem === 'cursorTooOld'
        ? String(thrown.details.oldest)
        : undefined;
    const begun = pass.reached !== undefined;
    const tooOld = pass.requests.filter(
      ({ start }) => 'cursor' in start && start.cursor < (oldest ?? ''),
    );
    const refused = begun || tooOld.length === 0 ? pass.requests : tooOld;
    if (refused.length === 0 || (begun && pass.resumeFrom !== undefined)) {
      options.end('samples can no longer be read; connect again with since');
      return false;
    }
    const answer =
      oldest === undefined ? thrown : refusal('CURSOR_TOO_OLD', { oldestCursor: oldest });
    for (const replyTo of new Set(refused.map((request) => request.replyTo)))
      options.refuse(answer, replyTo);
    for (const { subscription } of refused) {
      pass.wanted.delete(subscription);
      const afterCursor = options.interest(subscription.assetId)?.deliveredTo;
      subscription.coverage ??= afterCursor ? { afterCursor } : {};
    }
    pass.requests = pass.requests.filter((request) => !refused.includes(request));
    return !begun;
  }

  return {
    request(requests) {
      for (const { subscription } of requests) {
        const interest = options.interest(subscription.assetId);
        if (interest === undefined) continue;
        holdInterest(interest);
        interest.settlingUntil = options.now();
      }
      pending.push(...requests);
      void run();
    },
    hold(sample, frame, interest) {
      const full =
        samples.length >= liveLimits.heldSamplesMax || heldBytes > liveLimits.heldBytesMax;
      if (overflowed || full) {
        overflowed = true;
        return;
      }
      samples.push({ sample, frame, interest });
      heldBytes += frame.length;
    },
    spill() {
      const { lastCursor } = fanOut;
      if (lastCursor === undefined) return options.end('slow reader');
      resumeFrom = earliest(lastCursor, resumeFrom);
      for (const interest of options.interests()) holdInterest(interest);
      void run();
    },
    tick() {
      if (running && (overflowed || resumeFrom !== undefined)) ticksBehind++;
      if (ticksBehind > liveLimits.behindTicksMax) options.end('slow reader: too far behind');
    },
  };
}

// At most one start by cursor and one by time: the earliest of each, so the store is read once or twice.
function startsOf(pass: Pass): ReplayStart[] {
  let all: Coverage = {};
  for (const asked of pass.wanted.values())
    for (const start of startsIn(asked)) all = widened(all, start);
  if (pass.resumeFrom !== undefined) all = widened(all, { cursor: pass.resumeFrom });
  // What other subscriptions of a held device are owed must be in the stream as well.
  for (const { wildcard, topics, deliveredTo } of pass.members) {
    for (const subscription of [wildcard, ...topics.values()]) {
      if (subscription?.coverage === undefined) continue;
      // Before anything was published, what is owed begins where the subscription does.
      const owed = deliveredTo === '' ? startsIn(subscription.coverage) : [{ cursor: deliveredTo }];
      for (const start of owed) all = widened(all, start);
    }
  }
  return startsIn(all);
}

function startsIn({ afterCursor, storedSince }: Coverage): ReplayStart[] {
  return [
    ...(afterCursor === undefined ? [] : [{ cursor: afterCursor }]),
    ...(storedSince === undefined ? [] : [{ storedSince }]),
  ];
}

function isInStream({ starts }: Pass, sample: StoredSample): boolean {
  return starts.some((start) => startsBefore(start, sample));
}

function latest(a: string, b: string | undefined): string {
  return b !== undefined && b > a ? b : a;
}

function earliest(a: string, b: string | undefined): string {
  return b !== undefined && b < a ? b : a;
}
