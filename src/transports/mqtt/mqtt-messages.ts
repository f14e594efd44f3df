// MQTT messages: what the platform and other clients send to the subscribers of a device (contract 17).
import type { EpochMs } from '../../model/instant.ts';
import type { SetTimer } from '../../structures/timers.ts';
import { createMessageWriter, type WriteMessage } from './mqtt-packet-writer.ts';
import { expiryOf, type MessageProperties, remainingProperties } from './mqtt-properties.ts';
import type { Retained, RetainedMessage } from './mqtt-retained.ts';
import type { DeliveryOutcome, DeviceSubscription, MqttSession } from './mqtt-session.ts';
import { levelsMatch, topicText } from './mqtt-topic.ts';

interface OutboundMessage {
  readonly levels: readonly string[];
  readonly payload: Buffer;
  readonly qos: 0 | 1;
  readonly retain: boolean;
  readonly properties?: MessageProperties | undefined;
}

export interface Deliveries extends Pick<Subscribers, 'add' | 'remove' | 'removeAll'> {
  /** Sends to all subscribers. Resolves with the best outcome. `id` is the service device id. */
  send(id: string, message: OutboundMessage): Promise<DeliveryOutcome>;
  /** Sends to one session, by its best subscription. Returns undefined when none matches. */
  sendTo(
    session: MqttSession,
    id: string,
    message: OutboundMessage,
  ): Promise<DeliveryOutcome> | undefined;
  readonly write: WriteMessage;
  /** Sends what the device published to the subscribers of that topic. */
  echo(id: string, message: OutboundMessage, from?: MqttSession): void;
  /** Sends retained messages to a session that has just subscribed. */
  sendRetained(session: MqttSession, subscription: DeviceSubscription): void;
}

/** From the worst to the best. */
const outcomesInOrder = ['offline', 'sent', 'acknowledged'] as const;

/** Of a message to several subscribers; `offline` without any. */
function bestOutcome(outcomes: readonly DeliveryOutcome[]): DeliveryOutcome {
  return outcomesInOrder.findLast((outcome) => outcomes.includes(outcome)) ?? 'offline';
}

export function createDeliveries({
  retained,
  setTimer,
  now,
}: {
  readonly retained: Retained;
  readonly setTimer: SetTimer;
  readonly now: () => EpochMs;
}): Deliveries {
  const subscribers = createSubscribers();
  const write = createMessageWriter(setTimer);

  function writeFor(
    session: MqttSession,
    { filter, qos }: DeviceSubscription,
    { levels, ...message }: OutboundMessage,
  ): Promise<DeliveryOutcome> {
    const granted = lowerOf(message.qos, qos);
    return write(session, topicText(filter, levels), { ...message, qos: granted });
  }

  function sendTo(
    session: MqttSession,
    id: string,
    message: OutboundMessage,
  ): Promise<DeliveryOutcome> | undefined {
    const subscription = bestSubscription(session, id, message.levels);
    return subscription && writeFor(session, subscription, message);
  }

  return {
    ...subscribers,
    write,
    sendTo,
    async send(id, message) {
      if (message.retain) retained.keep(id, 'down', { ...message, ...expiring(message, now()) });
      // To clients that are subscribed already it is a message like any other (MQTT-3.3.1-9).
      const live = { ...message, retain: false };
      const sent = [...subscribers.of(id)].flatMap((session) => sendTo(session, id, live) ?? []);
      const outcomes = await Promise.all(sent);
      return bestOutcome(outcomes);
    },
    echo(id, message, from) {
      if (message.retain) retained.keep(id, 'up', { ...message, ...expiring(message, now()) });
      for (const session of subscribers.of(id)) {
        const subscription = upSubscription(session, id, message.levels);
        if (subscription === undefined || (subscription.noLocal && session === from)) continue;
        const retain = message.retain && subscription.retainAsPublished === true;
        void writeFor(session, subscription, { ...message, retain });
      }
    },
    sendRetained(session, subscription) {
      const found = retained.of(subscription.id, subscription.filter);
      for (const message of found.flatMap((kept) => retainedNow(kept, now())))
        void writeFor(session, subscription, message);
    },
  };
}

function lowerOf(a: 0 | 1, b: 0 | 1): 0 | 1 {
  if (a === 0) return 0;
  return b;
}

function expiring({ properties }: OutboundMessage, now: EpochMs) {
  const expiresAt = expiryOf(properties, now);
  return expiresAt === undefined ? {} : { expiresAt };
}

/** Nothing of a message that has expired. */
function retainedNow(
  { expiresAt, properties, ...kept }: RetainedMessage,
  now: EpochMs,
): readonly OutboundMessage[] {
  if (expiresAt !== undefined && expiresAt <= now) return [];
  const left = remainingProperties(properties, expiresAt, now);
  return [{ ...kept, properties: left, retain: true }];
}

// MQTT subscribers: the sessions with subscriptions to topics of a device.

interface Subscribers {
  add(session: MqttSession, filterText: string, subscription: DeviceSubscription): void;
  remove(session: MqttSession, filterText: string): void;
  removeAll(session: MqttSession): void;
  /** `id` is the service device id. */
  of(id: string): Iterable<MqttSession>;
}

function createSubscribers(): Subscribers {
  const byDevice = new Map<string, Set<MqttSession>>();

  function unlist(session: MqttSession, id: string): void {
    const sessions = byDevice.get(id);
    sessions?.delete(session);
    if (sessions?.size === 0) byDevice.delete(id);
  }

  return {
    add(session, filterText, subscription) {
      session.subscriptions.set(filterText, subscription);
      const sessions = byDevice.get(subscription.id) ?? new Set();
      byDevice.set(subscription.id, sessions.add(session));
    },
    remove(session, filterText) {
      const removed = session.subscriptions.get(filterText);
      session.subscriptions.delete(filterText);
      if (removed === undefined) return;
      const others = [...session.subscriptions.values()].some(({ id }) => id === removed.id);
      if (!others) unlist(session, removed.id);
    },
    removeAll(session) {
      for (const { id } of session.subscriptions.values()) unlist(session, id);
      session.subscriptions.clear();
    },
    of: (id) => byDevice.get(id) ?? [],
  };
}

/**
 * Returns the subscription for a message of the platform: to `down` before `up`, then with the
 * higher QoS.
 */
function bestSubscription(
  { subscriptions }: MqttSession,
  id: string,
  levels: readonly string[],
): DeviceSubscription | undefined {
  let best: DeviceSubscription | undefined;
  for (const subscription of subscriptions.values()) {
    if (subscription.id !== id || !levelsMatch(subscription.filter.levels, levels)) continue;
    if (best === undefined || rank(subscription) > rank(best)) best = subscription;
  }
  return best;
}

function rank({ filter, qos }: DeviceSubscription): number {
  return 2 * Number(filter.direction === 'down') + qos;
}

/** Returns the first subscription to what the device itself publishes on these levels. */
function upSubscription(
  { subscriptions }: MqttSession,
  id: string,
  levels: readonly string[],
): DeviceSubscription | undefined {
  for (const subscription of subscriptions.values()) {
    const { filter } = subscription;
    const isOwn = subscription.id === id && filter.direction === 'up';
    if (isOwn && levelsMatch(filter.levels, levels)) return subscription;
  }
  return undefined;
}
