// What a subscription item means: an asset or a tag, one topic or all, and where its replay begins (interface 6, contract 35).
import type { SubscriptionItem } from '../contract/live-messages.ts';
import { readCursor } from '../model/cursor.ts';
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

/**
 * Reads the items of one message. An item with both or neither of `assetId` and `tagId`, and a
 * `since` that is neither a cursor nor a time, refuse the whole message.
 */
export function targetsOf(
  items: readonly SubscriptionItem[],
  sinceOfMessage?: string | null,
): SubscriptionTarget[] {
  const startOfMessage = startOf(sinceOfMessage ?? undefined, 'The message');
  return items.map((item, index) => {
    const what = `Subscription ${index}`;
    const assetId = item.assetId || undefined;
    const tagId = item.tagId || undefined;
    if ((assetId === undefined) === (tagId === undefined)) {
      throw refusal('INVALID_SUBSCRIPTION', {
        reason: `${what} must have exactly one of assetId and tagId`,
      });
    }
    const topic = item.topic === '*' ? undefined : item.topic || defaultTopic;
    return {
      assetId,
      tagId,
      topic,
      start: startOf(item.since ?? undefined, what) ?? startOfMessage,
    };
  });
}

function startOf(since: string | undefined, what: string): ReplayStart | undefined {
  if (since === undefined) return undefined;
  if (readCursor(since) !== undefined) return { cursor: since };
  const storedSince = parseInstant(since);
  if (storedSince !== undefined) return { storedSince };
  throw refusal('INVALID_SUBSCRIPTION', {
    reason: `${what} has a since that is neither a cursor nor an ISO-8601 time`,
  });
}
