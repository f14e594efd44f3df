// From a stored sample to every session that subscribed to it: one index, one serialisation, one message per sample and session.
import type { EpochMs } from '../model/instant.ts';
import type { Principal } from '../model/principal.ts';
import type { StoredSample } from '../model/sample.ts';
import { type Coverage, covers } from './coverage.ts';
import type { Outbox } from './outbox.ts';
import { sampleFrame } from './text-frame.ts';

export interface Subscription {
  readonly assetId: string;
  /** Undefined means all topics. */
  readonly topic: string | undefined;
  /** Undefined until the first replay it was opened with is done. */
  coverage: Coverage | undefined;
  /** Tags it was subscribed by. */
  readonly tagIds: Set<string>;
  open: boolean;
  /** Who was let in: asked again when the device changes. */
  readonly grantedTo: Principal;
}

/** What one session wants of one device. */
export interface Interest {
  readonly assetId: string;
  readonly reader: Reader;
  readonly topics: Map<string, Subscription>;
  wildcard: Subscription | undefined;
  /** Samples up to this cursor are settled: sent, or not wanted. */
  deliveredTo: string;
  /** Time of the last `since`: of what was stored until then and is published only now, the client may have some already. */
  settlingUntil: EpochMs;
  /** While a replay runs, live samples wait with it. */
  held: boolean;
}

export interface Reader {
  readonly outbox: Outbox;
  /** Takes a live sample of a held interest. */
  hold(sample: StoredSample, frame: Buffer, interest: Interest): void;
  /** Ends subscriptions that may not go on, and tells the client. */
  withdraw(subscriptions: readonly Subscription[]): void;
  /** The outbox took no more: this sample and all later ones must come from the store. */
  spill(): void;
}

export interface FanOut {
  /**
   * Sends samples that became durable to all who subscribed, in the order given. Samples that are only forwarded are left out.
   * Call it with every durable entry, in the order of the journal. Work is done in the call: give long entries in slices of about a
   * thousand samples, each in its own turn of the event loop.
   */
  publish(samples: readonly StoredSample[], now: EpochMs): void;
  add(interest: Interest, subscription: Subscription): void;
  remove(interest: Interest, subscription: Subscription): void;
  /** What sessions want of the device. */
  interestsIn(assetId: string): readonly Interest[];
  /** The first and the last cursor published since the start of the process. */
  readonly firstCursor: string | undefined;
  readonly lastCursor: string | undefined;
  /** Devices with subscriptions. */
  readonly size: number;
}

interface Audience {
  readonly byTopic: Map<string, Set<Interest>>;
  readonly wildcard: Set<Interest>;
}

/** An empty index; one per process. */
export function createFanOut(): FanOut {
  const audiences = new Map<string, Audience>();
  let firstCursor: string | undefined;
  let lastCursor: string | undefined;

  function publishOne(sample: StoredSample, now: EpochMs): void {
    const audience = audiences.get(sample.deviceId);
    if (audience === undefined) return;
    const byTopic = audience.byTopic.get(sample.topic);
    if (byTopic === undefined && audience.wildcard.size === 0) return;
    const frame = sampleFrame(sample, now);
    for (const interest of audience.wildcard) deliver(interest, sample, frame, firstCursor);
    if (byTopic === undefined) return;
    for (const interest of byTopic)
      if (interest.wildcard === undefined) deliver(interest, sample, frame, firstCursor);
  }

  return {
    publish(samples, now) {
      for (const sample of samples) {
        if (!sample.stored) continue;
        firstCursor ??= sample.cursor;
        publishOne(sample, now);
        // Only now, so that a reader that spills goes on from the sample before this one.
        if (lastCursor === undefined || sample.cursor > lastCursor) lastCursor = sample.cursor;
      }
    },
    add(interest, { assetId, topic }) {
      let audience = audiences.get(assetId);
      if (audience === undefined)
        audiences.set(assetId, (audience = { byTopic: new Map(), wildcard: new Set() }));
      if (topic === undefined) audience.wildcard.add(interest);
      else audience.byTopic.set(topic, (audience.byTopic.get(topic) ?? new Set()).add(interest));
    },
    remove(interest, { assetId, topic }) {
      const audience = audiences.get(assetId);
      if (audience === undefined) return;
      if (topic === undefined) audience.wildcard.delete(interest);
      else if (
        audience.byTopic.get(topic)?.delete(interest) &&
        audience.byTopic.get(topic)!.size === 0
      )
        audience.byTopic.delete(topic);
      if (audience.byTopic.size === 0 && audience.wildcard.size === 0) audiences.delete(assetId);
    },
    interestsIn(assetId) {
      const audience = audiences.get(assetId);
      if (audience === undefined) return [];
      return [
        ...new Set([
          ...audience.wildcard,
          ...[...audience.byTopic.values()].flatMap((of) => [...of]),
        ]),
      ];
    },
    get firstCursor() {
      return firstCursor;
    },
    get lastCursor() {
      return lastCursor;
    },
    get size() {
      return audiences.size;
    },
  };
}

function deliver(
  interest: Interest,
  sample: StoredSample,
  frame: Buffer,
  firstCursor: string | undefined,
): void {
  const { reader } = interest;
  if (interest.held) reader.hold(sample, frame, interest);
  else if (sample.cursor <= interest.deliveredTo) return;
  else if (sample.storedAt <= interest.settlingUntil && !isCovered(interest, sample, firstCursor))
    return;
  else if (!reader.outbox.sendSample(frame)) reader.spill();
}

function isCovered(
  { topics, wildcard }: Interest,
  sample: StoredSample,
  firstCursor: string | undefined,
): boolean {
  for (const subscription of [topics.get(sample.topic), wildcard]) {
    if (subscription?.coverage !== undefined && covers(subscription.coverage, sample, firstCursor))
      return true;
  }
  return false;
}
