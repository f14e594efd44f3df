// `unsubscribe`: removes the given asset-topic combinations, or all (interface 6 rules 1 and 2).
import { UnsubscribeMessage } from '../contract/live-messages.ts';
import { formatInstant } from '../model/instant.ts';
import { clientMessage } from './client-message.ts';
import { targetsOf } from './subscription-target.ts';

export const unsubscribe = clientMessage(
  UnsubscribeMessage,
  (message, replyTo, { subscriptions, reply, now }) => {
    const targets = targetsOf(message.subscriptions ?? []);
    if (targets.length === 0) subscriptions.clear();
    for (const { assetId, tagId, topic } of targets) {
      // A tag stands for what was subscribed by it: later tag changes are not applied (rule 6).
      const found =
        assetId === undefined
          ? subscriptions.ofTag(tagId!, topic)
          : [subscriptions.find(assetId, topic)];
      for (const subscription of found)
        if (subscription !== undefined) subscriptions.remove(subscription);
    }
    reply({
      type: 'unsubscribed',
      ...(replyTo !== undefined && { replyTo }),
      subscriptions: subscriptions.acknowledged(),
      timestamp: formatInstant(now()),
    });
  },
);
