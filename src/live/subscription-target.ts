// What a subscription item means: an asset or a tag, one topic or all, and where its replay begins (interface 6, contract 35).
import type { SubscriptionItem } from '../contract/live-messages.ts';
import { parseInstant } from '../model/instant.ts';
import { defaultTopic } from '../model/sample.ts';
import type { ReplayStart } from './coverage.ts';
import { refusal } from './live-refusal.ts';

/** Exactly one of `assetId` and `tagId` is set. */
export interface SubscriptionTarget {
  readonly assetId: string | undefined;
  readonly tagId: string | undefined;
  /** Undefined means all topics. */
  readonly topic: string | undefined;
  readonly start: ReplayStart | undefined;
}

/** Reads the items of one message; an item with both or neither of `assetId` and `tagId` refuses the whole message. */
export function targetsOf(items: readonly SubscriptionItem[], sinceOfMessage?: string | null): SubscriptionTarget[] {
  return items.map((item, index) => {
    const assetId = item.assetId || undefined;
    const tagId = item.tagId || undefined;
    if ((assetId === undefined) === (tagId === undefined)) throw refusal('INVALID_SUBSCRIPTION', { index });
    const topic = item.topic === '*' ? undefined : item.topic || defaultTopic;
    return { assetId, tagId, topic, start: startOf(item.since ?? sinceOfMessage ?? undefined) };
  });
}

// Cursors are opaque; whatever reads as an ISO-8601 time is one.
function startOf(since: string | undefined): ReplayStart | undefined {
  if (since === undefined) return undefined;
  const storedSince = parseInstant(since);
  return storedSince === undefined ? { cursor: since } : { storedSince };
}
