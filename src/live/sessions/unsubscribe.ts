// `unsubscribe`: removes the given combinations, or all (interface 6 rules 1 and 2, contract 37).
import { UnsubscribeMessage } from '../../contract/live-messages.ts';
import { acknowledge } from './acknowledgement.ts';
import { clientMessage, type MessageContext } from './client-message.ts';
import { refusal } from './live-refusal.ts';
import { type SubscriptionTarget, targetsOf } from './subscription-target.ts';

export const unsubscribe = clientMessage(UnsubscribeMessage, (message, replyTo, context) => {
  const { subscriptions, workspaces: followed } = context;
  // A list that a program made empty by mistake must not end everything.
  if (message.subscriptions?.length === 0) throw refusal('NOTHING_TO_UNSUBSCRIBE');
  const { targets, workspaces } = targetsOf(message.subscriptions ?? []);
  if (targets.length + workspaces.length === 0) {
    subscriptions.clear();
    followed.clear();
  }
  for (const target of targets) removeTarget(target, context);
  for (const target of workspaces) followed.closeTarget(target);
  return acknowledge('unsubscribed', { replyTo, echo: message.echo ?? true, context });
});

/** A tag means what was subscribed by it: later tag changes are not applied (rule 6). */
function removeTarget(
  { assetId, tagId, topic }: SubscriptionTarget,
  { subscriptions }: MessageContext,
): void {
  const found =
    assetId === undefined
      ? subscriptions.ofTag(tagId!, topic)
      : [subscriptions.find(assetId, topic)];
  for (const subscription of found)
    if (subscription !== undefined) subscriptions.remove(subscription);
}
