// MQTT subscriptions: each is checked, granted or rejected, and followed by retained messages (contract 17, 18).
import type { Subscription } from 'aedes';
import { errorMessage } from '../../model/error-message.ts';
import type { BrokerState, Done } from './mqtt-broker-state.ts';
import { mqttLimits } from './mqtt-limits.ts';
import { type RoutedDevice, routeOf } from './mqtt-route.ts';
import { aboutSession, type DeviceSubscription, type MqttSession } from './mqtt-session.ts';
import { topicFilterOf } from './mqtt-topic.ts';

export function answerSubscriptions<R extends RoutedDevice>(state: BrokerState<R>): void {
  const { aedes, sessions, deliveries, store } = state;
  aedes.authorizeSubscribe = (client, wanted, done) => {
    const session = sessions.get(client);
    if (session === undefined) done(null, null);
    else void subscribe(state, session, wanted, done);
  };
  aedes.on('subscribe', (subscriptions, client) => {
    const session = sessions.get(client);
    if (session === undefined) return;
    for (const { topic, qos } of subscriptions) {
      if (!client.clean && session.subscriptions.has(topic))
        store.subscribed(client.id, { topic, qos });
      begin(state, session, topic, false);
    }
  });
  aedes.on('clientReady', (client) => {
    const session = sessions.get(client);
    for (const topic of [...(session?.subscriptions.keys() ?? [])])
      if (session !== undefined) begin(state, session, topic, true);
  });
  aedes.on('unsubscribe', (topics, client) => {
    const session = sessions.get(client);
    if (session !== undefined) for (const topic of topics) deliveries.remove(session, topic);
  });
}

/** Grants the subscription; a rejected one is answered with 128 (MQTT 3.9.3). */
async function subscribe<R extends RoutedDevice>(
  { parts, deliveries }: BrokerState<R>,
  session: MqttSession,
  wanted: Subscription,
  done: Done<Subscription>,
): Promise<void> {
  try {
    const subscription = await subscriptionOf(session, wanted, parts.findRoute);
    if (!session.client.closed) deliveries.add(session, wanted.topic, subscription);
  } catch (error) {
    const reason = errorMessage(error);
    parts.refused('foreignSubscription', { ...aboutSession(session), reason });
    return done(null, null);
  }
  done(null, wanted);
}

/** Throws for a topic that does not belong to the login, and beyond the limit of subscriptions. */
async function subscriptionOf<R extends RoutedDevice>(
  session: MqttSession,
  { topic, qos }: Subscription,
  findRoute: BrokerState<R>['parts']['findRoute'],
): Promise<DeviceSubscription> {
  const filter = topicFilterOf(topic);
  if (filter === undefined) throw new Error('not a topic of one device');
  if (session.subscriptions.size >= mqttLimits.subscriptionsPerClientMax)
    throw new Error('too many subscriptions');
  const { device } = await routeOf(session, filter, findRoute);
  return { filter, id: device.id, qos: qos > 0 ? 1 : 0 };
}

function begin<R extends RoutedDevice>(
  { parts, deliveries }: BrokerState<R>,
  session: MqttSession,
  topic: string,
  isRestored: boolean,
): void {
  const subscription = session.subscriptions.get(topic);
  if (subscription === undefined) return;
  if (!isRestored) deliveries.sendRetained(session, subscription);
  parts.reachable(session, subscription);
}
