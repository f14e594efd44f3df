// Subscription target: an asset, a tag or a workspace, and where its replay begins (interface 6, contract 35, 37).
import type { SubscriptionItem } from '../../contract/live-messages.ts';
import { readCursor } from '../../model/cursor.ts';
import { parseInstant } from '../../model/instant.ts';
import { defaultTopic } from '../../model/sample.ts';
import type { ReplayStart } from './coverage.ts';
import { readPlaceText } from './cursor-encoding.ts';
import { refusal } from './live-refusal.ts';
import { inTableOrder, type WorkspaceTarget } from './session-workspaces.ts';

/** Exactly one of `assetId` and `tagId` is set. */
export interface SubscriptionTarget {
  readonly assetId: string | undefined;
  readonly tagId: string | undefined;
  /** Undefined means all topics. */
  readonly topic: string | undefined;
  readonly start: ReplayStart | undefined;
}

export interface Targets {
  readonly targets: readonly SubscriptionTarget[];
  readonly workspaces: readonly WorkspaceTarget[];
}

/**
 * Reads the items of one message. An item without exactly one of `assetId`, `tagId` and
 * `workspaceId`, and a `since` that is neither a cursor nor a time, refuse the whole message. A
 * workspace has no replay: the `since` of the message is for the other items.
 */
export function targetsOf(
  items: readonly SubscriptionItem[],
  sinceOfMessage?: string | null,
): Targets {
  const startOfMessage = startOf(sinceOfMessage ?? undefined, 'The message');
  const targets: SubscriptionTarget[] = [];
  const workspaces: WorkspaceTarget[] = [];
  for (const [index, item] of items.entries()) {
    const what = `Subscription ${index}`;
    const { assetId, tagId, workspaceId } = item;
    if ([assetId, tagId, workspaceId].filter(Boolean).length !== 1) {
      throw refusal('INVALID_SUBSCRIPTION', {
        reason: `${what} must set exactly one of assetId, tagId, and workspaceId`,
      });
    }
    if (workspaceId) workspaces.push(workspaceTargetOf(item, workspaceId, what));
    else targets.push(targetOf(item, what, startOfMessage));
  }
  return { targets, workspaces };
}

function targetOf(
  item: SubscriptionItem,
  what: string,
  startOfMessage: ReplayStart | undefined,
): SubscriptionTarget {
  if (item.kinds || item.perSecond)
    throw refusal('INVALID_SUBSCRIPTION', {
      reason: `${what}: kinds and perSecond require workspaceId`,
    });
  return {
    assetId: item.assetId || undefined,
    tagId: item.tagId || undefined,
    topic: item.topic === '*' ? undefined : item.topic || defaultTopic,
    start: startOf(item.since ?? undefined, what) ?? startOfMessage,
  };
}

function workspaceTargetOf(
  { topic, since, kinds, perSecond }: SubscriptionItem,
  workspaceId: string,
  what: string,
): WorkspaceTarget {
  if (topic || since)
    throw refusal('INVALID_SUBSCRIPTION', {
      reason: `${what}: topic and since cannot be used with workspaceId`,
    });
  return { workspaceId, kinds: inTableOrder(kinds ?? []), perSecond: perSecond ?? undefined };
}

function startOf(since: string | undefined, what: string): ReplayStart | undefined {
  if (since === undefined) return undefined;
  if (readCursor(since) !== undefined) return { cursor: since };
  const place = readPlaceText(since);
  if (place !== undefined) return { cursor: place };
  const storedSince = parseInstant(since);
  if (storedSince !== undefined) return { storedSince };
  throw refusal('INVALID_SUBSCRIPTION', {
    reason: `${what}: since must be a cursor or an ISO-8601 date-time`,
  });
}
