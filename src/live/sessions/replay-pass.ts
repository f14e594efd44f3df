// Replay pass: one read of the store for the held devices of a session, for replays with different starts.
import type { ReplyTo } from '../../contract/live-messages.ts';
import type { Interest, Subscription } from './fan-out.ts';
import {
  compareStored,
  type Coverage,
  covers,
  type LiveSample,
  reaches,
  type ReplayStart,
  startsBefore,
  type StreamPlace,
  widened,
} from './stream-position.ts';

export interface ReplayRequest {
  readonly subscription: Subscription;
  readonly start: ReplayStart;
  readonly replyTo: ReplyTo | undefined;
}

export interface ReplayPass {
  /** Interests that were held when the pass started. The pass serves only them. */
  readonly members: ReadonlySet<Interest>;
  requests: readonly ReplayRequest[];
  /** What the client requested, by subscription. */
  readonly wanted: Map<Subscription, Coverage>;
  /** The place after which live samples were not buffered. */
  readonly resumeFrom: StreamPlace | undefined;
  starts: readonly ReplayStart[];
  /** With several journals: the client has everything up to here. */
  first: StreamPlace | undefined;
  /** The last place that was read. */
  reached: StreamPlace | undefined;
}

export function createReplayPass(
  members: ReadonlySet<Interest>,
  requests: readonly ReplayRequest[],
  resumeFrom: StreamPlace | undefined,
): ReplayPass {
  const wanted = new Map<Subscription, Coverage>();
  for (const { subscription, start } of requests)
    wanted.set(subscription, widened(wanted.get(subscription), start));
  return {
    members: new Set(members),
    requests,
    wanted,
    resumeFrom,
    starts: [],
    first: undefined,
    reached: undefined,
  };
}

/** True if the pass must send the sample: at most once, and only if a subscription covers it. */
export function isOwed(
  { members, wanted }: ReplayPass,
  sample: LiveSample,
  interest: Interest | undefined,
  firstCursor: string | undefined,
): boolean {
  if (interest === undefined || !members.has(interest) || !sample.stored) return false;
  const isNew = !reaches(interest.deliveredTo, sample);
  let isWanted = false;
  for (const subscription of [interest.topics.get(sample.topic), interest.wildcard]) {
    if (subscription === undefined) continue;
    const { coverage } = subscription;
    const isCovered = coverage !== undefined && covers(coverage, sample, firstCursor);
    if (isCovered && !isNew) return false;
    isWanted ||= isCovered || isRequested(wanted.get(subscription), sample, interest);
  }
  return isWanted;
}

function isRequested(
  request: Coverage | undefined,
  sample: LiveSample,
  { settlingUntil }: Interest,
): boolean {
  if (request === undefined) return false;
  // The client cannot have what was stored after its request, regardless of the cursor.
  return covers(request, sample, undefined) || sample.storedAt > settlingUntil;
}

/** True if the pass read the sample from the store. */
export function isAlreadyReplayed({ reached, starts }: ReplayPass, sample: LiveSample): boolean {
  if (reached === undefined || !reaches(reached, sample)) return false;
  return starts.some((start) => startsBefore(start, sample));
}

/**
 * At most one start by cursor and one by time, the earliest of each, so that the store is read once
 * or twice.
 */
export function startsOf({ wanted, resumeFrom, members }: ReplayPass): ReplayStart[] {
  let all: Coverage = {};
  for (const requested of wanted.values())
    for (const start of startsIn(requested)) all = widened(all, start);
  if (resumeFrom !== undefined) all = widened(all, { cursor: resumeFrom });
  // The stream must include what other subscriptions of a held device are owed.
  for (const interest of members)
    for (const start of owedStarts(interest)) all = widened(all, start);
  return startsIn(all);
}

/** Before anything was published, what is owed starts where the subscription does. */
function owedStarts({ wildcard, topics, deliveredTo }: Interest): readonly ReplayStart[] {
  const coverages = [wildcard, ...topics.values()].flatMap(
    (subscription) => subscription?.coverage ?? [],
  );
  if (coverages.length === 0) return [];
  return deliveredTo === '' ? coverages.flatMap(startsIn) : [{ cursor: deliveredTo }];
}

/** The requested subscriptions now cover what they requested. */
export function widenCoverages({ wanted }: ReplayPass): void {
  for (const [subscription, requested] of wanted) {
    for (const start of startsIn(requested))
      subscription.coverage = widened(subscription.coverage, start);
  }
}

function startsIn({ afterCursor, storedSince }: Coverage): ReplayStart[] {
  const starts: ReplayStart[] = [];
  if (afterCursor !== undefined) starts.push({ cursor: afterCursor });
  if (storedSince !== undefined) starts.push({ storedSince });
  return starts;
}

// Replay merge: joins replays with different starts into one, in order of storage and without repetition.

interface Head {
  readonly batches: AsyncIterator<readonly LiveSample[]>;
  batch: readonly LiveSample[];
  at: number;
}

/** Batches in the order of storing. A sample of several replays occurs once. */
export async function* mergedReplays(
  replays: readonly AsyncIterable<readonly LiveSample[]>[],
): AsyncGenerator<readonly LiveSample[]> {
  let heads: Head[] = replays.map((replay) => ({
    batches: replay[Symbol.asyncIterator](),
    batch: [],
    at: 0,
  }));
  const opened = heads;
  try {
    while (heads.length > 0) {
      heads = (await Promise.all(heads.map(refilled))).filter((head) => head !== undefined);
      const batch: LiveSample[] = [];
      for (let sample = takeFirst(heads); sample !== undefined; sample = takeFirst(heads))
        batch.push(sample);
      yield batch;
    }
  } finally {
    for (const head of opened) await head.batches.return?.();
  }
}

async function refilled(head: Head): Promise<Head | undefined> {
  while (head.at >= head.batch.length) {
    const next = await head.batches.next();
    if (next.done === true) return undefined;
    head.batch = next.value;
    head.at = 0;
  }
  return head;
}

/** Undefined when a head has no sample left: its next one may be the first. */
function takeFirst(heads: readonly Head[]): LiveSample | undefined {
  let first: LiveSample | undefined;
  for (const { batch, at } of heads) {
    const sample = batch[at];
    if (sample === undefined) return undefined;
    if (first === undefined || compareStored(sample, first) < 0) first = sample;
  }
  if (first === undefined) return undefined;
  for (const head of heads) {
    const sample = head.batch[head.at];
    if (sample !== undefined && compareStored(sample, first) === 0) head.at++;
  }
  return first;
}
