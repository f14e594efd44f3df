// MQTT subscribers: the sessions with subscriptions to topics of a device.
import type { DeviceSubscription, MqttSession } from './mqtt-session.ts';
import { levelsMatch } from './mqtt-topic.ts';

export interface Subscribers {
  add(session: MqttSession, filterText: string, subscription: DeviceSubscription): void;
  remove(session: MqttSession, filterText: string): void;
  removeAll(session: MqttSession): void;
  /** `id` is the service device id. */
  of(id: string): Iterable<MqttSession>;
  has(id: string): boolean;
}

/** `left` is called with a device when its last subscriber is removed. */
export function createSubscribers(left: (id: string) => void = () => undefined): Subscribers {
  const byDevice = new Map<string, Set<MqttSession>>();

  function unlist(session: MqttSession, id: string): void {
    const sessions = byDevice.get(id);
    sessions?.delete(session);
    if (sessions?.size !== 0) return;
    byDevice.delete(id);
    left(id);
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
    has: (id) => byDevice.has(id),
  };
}

/**
 * Returns the subscription for a message of the platform: to `down` before `up`, then with the
 * higher QoS.
 */
export function bestSubscription(
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
export function upSubscription(
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
