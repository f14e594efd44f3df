// Remote publishes: what clients of this node publish for devices of other nodes, in the order they came.
import type { EpochMs } from '../../../model/instant.ts';
import type { NodeMessages } from '../../../model/node-messages.ts';
import { createBoundedMap } from '../../../structures/bounded-map.ts';
import type { OutboundMessage } from '../mqtt-messages.ts';
import type { MqttPayload, PublishParts } from '../mqtt-publish.ts';
import type { RoutedDevice } from '../mqtt-session.ts';
import { kinds, type PublishRequest, requestOf, sentBytes, sentMessage } from './message-kinds.ts';

/** Publishes whose owner is known when their acknowledgement is in doubt. */
const keysMax = 50_000;

interface RemotePublishes<R extends RoutedDevice> {
  /** Resolves when the payload is durable at its owner, which may be this node. */
  readonly store: PublishParts<R>['store'];
  readonly doubt: (duplicateKey: string) => void;
}

interface RemotePublishesParts<R extends RoutedDevice> {
  readonly messages: Pick<NodeMessages, 'beginsHere' | 'toOwner'>;
  /** Stores a payload of a device of this node. */
  readonly storeOwn: (route: R, payload: MqttPayload) => Promise<void>;
  /** The same for a key that this node keeps. */
  readonly doubt: (duplicateKey: string) => void;
  readonly now: () => EpochMs;
  readonly failed: (error: unknown) => void;
}

export function createRemotePublishes<R extends RoutedDevice>({
  messages,
  storeOwn,
  doubt,
  now,
  failed,
}: RemotePublishesParts<R>): RemotePublishes<R> {
  const devices = createBoundedMap<string, string>(keysMax);
  return {
    async store(route, payload, message) {
      const { id } = route.device;
      if (messages.beginsHere(id)) return storeOwn(route, payload);
      if (payload.duplicateKey !== undefined) devices.set(payload.duplicateKey, id);
      const publish = publishOf(id, payload, message, now());
      await messages.toOwner(id, {
        kind: kinds.publish,
        request: requestOf(publish),
        bytes: sentBytes(payload),
        // One without a key has QoS 0 and is sent once at most.
        ...(payload.duplicateKey !== undefined && {
          again: requestOf<PublishRequest>({ ...publish, isRepeated: true }),
          isReceiverBound: true,
        }),
        own: async () => {
          await storeOwn(route, payload);
          return null;
        },
      });
    },
    doubt(key) {
      const id = devices.get(key);
      if (id === undefined) return doubt(key);
      const message = { kind: kinds.doubt, request: key, again: key, bytes: key.length };
      messages
        .toOwner(id, {
          ...message,
          own: async () => {
            doubt(key);
            return null;
          },
        })
        .catch(failed);
    },
  };
}

function publishOf(
  id: string,
  { topic, payload, properties, duplicateKey, isRepeated }: MqttPayload,
  message: OutboundMessage | undefined,
  at: EpochMs,
): PublishRequest {
  const sent = message ?? { levels: [], payload, properties, qos: 0, retain: false };
  return {
    id,
    topic,
    key: duplicateKey ?? null,
    isRepeated,
    at,
    isSpread: message !== undefined,
    message: sentMessage(sent),
  };
}
