// `subscribe`: opens the subscriptions that are allowed, acknowledges all that are open, then replays (interface 6, contract 30 and 35).
import { type AcknowledgedItem, SubscribeMessage } from '../contract/live-messages.ts';
import { formatInstant } from '../model/instant.ts';
import type { Principal } from '../model/principal.ts';
import type { ReplayRequest } from './catch-up.ts';
import { clientMessage, type MessageContext } from './client-message.ts';
import { liveLimits } from './live-limits.ts';
import { refusal } from './live-refusal.ts';
import { type SubscriptionTarget, targetsOf } from './subscription-target.ts';

interface Allowed {
  /** A target with the assets it stands for; undefined when it is unknown or forbidden. */
  readonly target: SubscriptionTarget;
  readonly assetIds: readonly string[] | undefined;
}

export const subscribe = clientMessage(SubscribeMessage, async (message, replyTo, context) => {
  const { subscriptions, reply, now } = context;
  const targets = targetsOf(message.subscriptions ?? [], message.since);
  if (targets.length === 0) throw refusal('NO_SUBSCRIPTIONS');
  const changesBefore = context.access.changes();
  const principal = await context.authorize(message.accessToken || undefined);
  const allowed = await allowedTargets(targets, principal, context);
  if (context.closed()) return;
  refuseTooMany(allowed, context);
  const requests: ReplayRequest[] = [];
  const refused: AcknowledgedItem[] = [];
  for (const { target, assetIds } of allowed) {
    if (assetIds === undefined) refused.push(refusedItem(target));
    for (const assetId of assetIds ?? []) {
      const subscription = opened(assetId, target, context, principal);
      if (target.start !== undefined) requests.push({ subscription, start: target.start, replyTo });
    }
  }
  reply({
    type: 'subscribed',
    ...(replyTo !== undefined && { replyTo }),
    subscriptions: subscriptions.acknowledged(refused),
    timestamp: formatInstant(now()),
  });
  if (requests.length > 0) context.catchUp.request(requests);
  // A device may have moved between the check and here.
  if (context.access.changes() !== changesBefore) {
    context.access.check(allowed.flatMap(({ assetIds }) => assetIds ?? []));
  }
});

async function allowedTargets(
  targets: readonly SubscriptionTarget[],
  principal: Principal,
  { findAssets, assetsOfTag }: MessageContext,
): Promise<Allowed[]> {
  const asked = new Set(targets.flatMap(({ assetId }) => assetId ?? []));
  const found = asked.size === 0 ? asked : await findAssets(principal, [...asked]);
  const tagged = new Map<string, readonly string[] | undefined>();
  for (const { tagId } of targets) {
    if (tagId !== undefined && !tagged.has(tagId)) tagged.set(tagId, await assetsOfTag(principal, tagId));
  }
  return targets.map((target) => {
    const { assetId, tagId } = target;
    if (assetId === undefined) return { target, assetIds: tagged.get(tagId!) };
    return { target, assetIds: found.has(assetId) ? [assetId] : undefined };
  });
}

function refuseTooMany(allowed: readonly Allowed[], { subscriptions }: MessageContext): void {
  const max = liveLimits.subscriptionsMax;
  let size = subscriptions.size;
  const asked = allowed.reduce((sum, { assetIds }) => sum + (assetIds?.length ?? 0), 0);
  // Counting what is really new is needed only near the limit.
  if (size + asked <= max) return;
  const fresh = new Set<string>();
  for (const { target, assetIds } of allowed) {
    for (const assetId of assetIds ?? []) {
      if (subscriptions.find(assetId, target.topic) === undefined) fresh.add(JSON.stringify([assetId, target.topic]));
    }
  }
  size += fresh.size;
  if (size > max) throw refusal('TOO_MANY_SUBSCRIPTIONS', { max });
}

// With a replay to come it covers nothing yet: the replay does, and the device is held until then.
function opened(
  assetId: string,
  { tagId, topic, start }: SubscriptionTarget,
  context: MessageContext,
  grantedTo: Principal,
) {
  const coverage = start === undefined ? context.liveCoverage(assetId) : undefined;
  const subscription =
    context.subscriptions.find(assetId, topic) ??
    context.subscriptions.add({ id: assetId, topic }, coverage, grantedTo);
  if (tagId !== undefined) subscription.tagIds.add(tagId);
  return subscription;
}

function refusedItem({ assetId, tagId, topic }: SubscriptionTarget): AcknowledgedItem {
  return {
    ...(assetId !== undefined && { assetId }),
    ...(tagId !== undefined && { tagId }),
    ...(topic !== undefined && { topic }),
    valid: false,
  };
}
