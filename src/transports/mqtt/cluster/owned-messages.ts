// Owned messages: retained messages and messages of the platform, which the owner of their device keeps and sends.
import type { NodeMessages } from '../../../model/node-messages.ts';
import type { MqttPeers } from '../mqtt-peers.ts';
import type { PublishToDevice } from '../mqtt-publisher.ts';
import type { Retained, RetainedSource } from '../mqtt-retained.ts';
import type { DeliveryOutcome } from '../mqtt-session.ts';
import {
  kinds,
  receivedMessage,
  requestAs,
  requestOf,
  type SendRequest,
  sentBytes,
  sentMessage,
} from './message-kinds.ts';
import type { OwnerNode } from './owner-node.ts';

/** Retained messages of devices of this node are here, others are asked of their owner. */
export function retainedAtOwners(messages: NodeMessages, retained: Retained): RetainedSource {
  return {
    keep(id, direction, message) {
      if (messages.isOwn(id)) retained.keep(id, direction, message);
    },
    of(id, { direction, levels }) {
      if (messages.isOwn(id)) return retained.of(id, { direction, levels });
      const request = requestOf({ id, direction, levels });
      const own = async (): Promise<unknown> =>
        retained.of(id, { direction, levels }).map(sentMessage);
      return messages
        .toOwner(id, { kind: kinds.retained, request, again: request, bytes: id.length, own })
        .then((found) => (found as readonly unknown[]).map(receivedMessage));
    },
  };
}

/** The owner has a payload already, and sends it on. */
export function publishedBy(messages: NodeMessages, owner: OwnerNode): MqttPeers['published'] {
  return (id, message, isPayload) => {
    const spread = () => owner.spread(id, message, messages.node.id);
    if (messages.isOwn(id)) return spread();
    if (isPayload) return;
    const request = requestOf({ id, message: sentMessage(message) });
    const own = async () => {
      spread();
      return null;
    };
    messages
      .toOwner(id, {
        kind: kinds.published,
        request,
        again: request,
        bytes: sentBytes(message),
        own,
      })
      .catch(() => undefined);
  };
}

export function publishAtOwner(messages: NodeMessages, publish: PublishToDevice): PublishToDevice {
  messages.handle(kinds.send, async (request) => {
    const { id, topic, payload, ...options } = requestAs<SendRequest>(request);
    return publish(id, topic, Buffer.from(payload, 'base64'), options);
  });
  return async (id, topic, payload, options) => {
    if (messages.isOwn(id)) return publish(id, topic, payload, options);
    const sent: SendRequest = { id, topic, payload: payload.toString('base64'), ...options };
    const request = requestOf(sent);
    const own = () => publish(id, topic, payload, options);
    const bytes = sentBytes({ payload });
    const outcome = await messages.toOwner(id, {
      kind: kinds.send,
      request,
      again: request,
      bytes,
      own,
    });
    return outcome as DeliveryOutcome;
  };
}
