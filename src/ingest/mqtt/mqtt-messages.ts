// Messages to devices: who is subscribed to topics of which device, sending, and waiting for the acknowledgement (contract 17).
import { mqttLimits } from './mqtt-limits.ts';
import type { Retained } from './mqtt-retained.ts';
import {
  type DeliveryOutcome,
  type DeviceSubscription,
  type MqttSession,
  nextNumber,
} from './mqtt-session.ts';
import { levelsMatch, topicText } from './mqtt-topic.ts';

export interface OutboundMessage {
  readonly levels: readonly string[];
  readonly payload: Buffer;
  readonly qos: 0 | 1;
  readonly retain: boolean;
}

export interface Deliveries {
  add(session: MqttSession, filterText: string, subscription: DeviceSubscription): void;
  remove(session: MqttSession, filterText: string): void;
  removeAll(session: MqttSession): void;
  sessionsOf(id: string): Iterable<MqttSession>;
  /** To everybody who is subscribed to it; the best that became of it. */
  send(id: string, message: OutboundMessage): Promise<DeliveryOutcome>;
  /** To one session, by the best subscription of it. Undefined when none matches. */
  sendTo(
    session: MqttSession,
    id: string,
    message: OutboundMessage,
  ): Promise<DeliveryOutcome> | undefined;
  /** What a device published, to those who subscribed to that topic of the device. */
  echo(id: string, message: OutboundMessage): void;
  /** What was retained before, to a session that has just subscribed. */
  sendRetained(session: MqttSession, subscription: DeviceSubscription): void;
}

type Schedule = (task: () => void, delayMs: number) => () => void;

export function createDeliveries(retained: Retained, schedule: Schedule): Deliveries {
  const byDevice = new Map<string, Set<MqttSession>>();

  function unlist(session: MqttSession, id: string): void {
    const sessions = byDevice.get(id);
    sessions?.delete(session);
    if (sessions?.size === 0) byDevice.delete(id);
  }

  function write(
    session: MqttSession,
    topic: string,
    message: OutboundMessage,
  ): Promise<DeliveryOutcome> {
    const { payload, qos, retain } = message;
    const number = qos === 0 ? 0 : nextNumber(session);
    if (number === undefined || session.client.closed) return Promise.resolve('offline');
    return new Promise((resolve) => {
      const packet = { cmd: 'publish', topic, payload, qos, retain, dup: false } as const;
      if (qos === 0) {
        session.client.publish(packet, () => resolve(session.client.closed ? 'offline' : 'sent'));
        return;
      }
      const settle = (outcome: DeliveryOutcome) => {
        stopWaiting();
        session.unacknowledged.delete(number);
        resolve(outcome);
      };
      const stopWaiting = schedule(() => settle('sent'), mqttLimits.acknowledgedWithinMs);
      session.unacknowledged.set(number, settle);
      session.numbers.push(number);
      session.client.publish(packet, () => undefined);
    });
  }

  function bestOf(
    session: MqttSession,
    id: string,
    levels: readonly string[],
  ): DeviceSubscription | undefined {
    let best: DeviceSubscription | undefined;
    for (const subscription of session.subscriptions.values()) {
      if (subscription.id !== id || !levelsMatch(subscription.filter.levels, levels)) continue;
      if (best === undefined || rank(subscription) > rank(best)) best = subscription;
    }
    return best;
  }

  function sendTo(
    session: MqttSession,
    id: string,
    message: OutboundMessage,
  ): Promise<DeliveryOutcome> | undefined {
    const subscription = bestOf(session, id, message.levels);
    if (subscription === undefined) return undefined;
    const qos = Math.min(message.qos, subscription.qos) as 0 | 1;
    return write(session, topicText(subscription.filter, message.levels), { ...message, qos });
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
    sessionsOf: (id) => byDevice.get(id) ?? [],
    async send(id, message) {
      const { retain, ...now } = message;
      if (retain) retained.keep(id, 'down', message);
      // To those who are subscribed already it is a message like any other (MQTT-3.3.1-9).
      const sent = [...(byDevice.get(id) ?? [])].flatMap(
        (session) => sendTo(session, id, { ...now, retain: false }) ?? [],
      );
      const outcomes = await Promise.all(sent);
      if (outcomes.includes('acknowledged')) return 'acknowledged';
      return outcomes.includes('sent') ? 'sent' : 'offline';
    },
    sendTo,
    echo(id, message) {
      if (message.retain) retained.keep(id, 'up', message);
      for (const session of byDevice.get(id) ?? []) {
        for (const { id: subscribed, filter, qos } of session.subscriptions.values()) {
          if (
            subscribed !== id ||
            filter.direction !== 'up' ||
            !levelsMatch(filter.levels, message.levels)
          )
            continue;
          const lower = Math.min(message.qos, qos) as 0 | 1;
          void write(session, topicText(filter, message.levels), {
            ...message,
            qos: lower,
            retain: false,
          });
          break;
        }
      }
    },
    sendRetained(session, { id, filter, qos }) {
      for (const message of retained.of(id, filter)) {
        const lower = Math.min(message.qos, qos) as 0 | 1;
        void write(session, topicText(filter, message.levels), {
          ...message,
          qos: lower,
          retain: true,
        });
      }
    },
  };
}

/** Messages to devices belong to `down`; `up` takes them where it is all that was subscribed to. */
function rank({ filter, qos }: DeviceSubscription): number {
  return (filter.direction === 'down' ? 2 : 0) + qos;
}
