// MQTT subscriptions: each is checked, granted or rejected, and followed by retained messages (contract 17, 18).
import { errorMessage } from '../../model/errors.ts';
import { isLongName } from '../../model/outside-name.ts';
import { isSparkplugTopic, type SparkplugFilter } from '../sparkplug/sparkplug-topic.ts';
import type { BrokerState } from './mqtt-broker-state.ts';
import { mqttLimits } from './mqtt-limits.ts';
import type { SubscribePacket, UnsubscribePacket } from './mqtt-packet-reader.ts';
import { packetWriter, reasonCodes, refusedSubscription } from './mqtt-packet-writer.ts';
import type { KeptSession } from './mqtt-session-store.ts';
import {
  aboutSession,
  type DeviceSubscription,
  isClosed,
  type MqttSession,
  type RoutedDevice,
  routeOf,
} from './mqtt-session.ts';
import { topicFilterOf } from './mqtt-topic.ts';

interface Wanted {
  readonly topic: string;
  readonly qos: 0 | 1 | 2;
  /** Options of MQTT 5, as packets have them. */
  readonly nl?: boolean | undefined;
  readonly rap?: boolean | undefined;
  readonly rh?: number | undefined;
}

/** Answers a SUBSCRIBE; a refused filter with 128 (MQTT 3.9.3). */
export async function subscribe<R extends RoutedDevice>(
  state: BrokerState<R>,
  session: MqttSession,
  { messageId, subscriptions }: SubscribePacket,
): Promise<void> {
  const granted: (Granted | undefined)[] = [];
  const before = new Set(session.subscriptions.keys());
  for (const wanted of subscriptions) granted.push(await grant(state, session, wanted));
  if (state.parts.peers !== undefined) await watchAll(state, session, granted, subscriptions);
  if (isClosed(session)) return;
  const codes = granted.map((one, i) => one?.qos ?? refusedCode(session, subscriptions[i]?.topic));
  session.output.write(packetWriter(session.level).suback(messageId, codes));
  for (const [i, subscription] of granted.entries()) {
    const wanted = subscriptions[i];
    if (subscription === undefined || wanted === undefined) continue;
    if ('sparkplug' in subscription) {
      state.sparkplug.subscribed(session, subscription.sparkplug);
      continue;
    }
    if (wantsRetained(wanted, before)) state.deliveries.sendRetained(session, subscription);
    state.parts.reachable(session, subscription);
  }
}

/** The owners of the devices send their messages here from now on. Revokes what they refuse. */
async function watchAll<R extends RoutedDevice>(
  { parts, deliveries }: BrokerState<R>,
  session: MqttSession,
  granted: (Granted | undefined)[],
  wanted: readonly Wanted[],
): Promise<void> {
  const watch = async (place: number, id: string) => {
    try {
      await parts.peers?.watch(id);
    } catch (error) {
      const reason = errorMessage(error);
      parts.refused('subscriptionWithoutOwner', { ...aboutSession(session), reason });
      granted[place] = undefined;
      if (!isClosed(session)) deliveries.remove(session, wanted[place]?.topic ?? '');
    }
  };
  await Promise.all(
    granted.flatMap((subscription, place) =>
      subscription === undefined || 'sparkplug' in subscription
        ? []
        : [watch(place, subscription.id)],
    ),
  );
}

/** MQTT 3.1.1 has one code for all. */
function refusedCode({ level }: MqttSession, topic = ''): number {
  if (level < 5) return refusedSubscription;
  const isShared = topic.startsWith('$share/');
  return isShared ? reasonCodes.sharedSubscriptions : reasonCodes.notAuthorized;
}

/** MQTT 5, 3.8.3.1: 1 is for new subscriptions, 2 is never. */
function wantsRetained({ topic, rh = 0 }: Wanted, before: ReadonlySet<string>): boolean {
  return rh === 0 || (rh === 1 && !before.has(topic));
}

export function unsubscribe<R extends RoutedDevice>(
  { deliveries }: BrokerState<R>,
  session: MqttSession,
  { messageId, unsubscriptions }: UnsubscribePacket,
): void {
  const reasons = unsubscriptions.map((topic) => {
    if (isLongName(topic)) return reasonCodes.noSubscription;
    const isKnown = session.subscriptions.has(topic);
    deliveries.remove(session, topic);
    if (session.sparkplug?.filters.delete(topic)) return 0;
    return isKnown ? 0 : reasonCodes.noSubscription;
  });
  session.output.write(packetWriter(session.level).unsuback(messageId, reasons));
}

/**
 * Subscribes again to what the client had subscribed to before. Skips what is no longer permitted.
 * Never rejects its promise.
 */
export async function restoreSubscriptions<R extends RoutedDevice>(
  state: BrokerState<R>,
  session: MqttSession,
  { subscriptions }: KeptSession,
): Promise<void> {
  const granted: (Granted | undefined)[] = [];
  for (const { noLocal: nl, retainAsPublished: rap, ...wanted } of subscriptions)
    granted.push(await grant(state, session, { ...wanted, nl, rap }));
  if (state.parts.peers !== undefined) await watchAll(state, session, granted, subscriptions);
}

/** What a filter of Sparkplug is for is with the client: it is not of one device. */
type Granted =
  | DeviceSubscription
  | { readonly sparkplug: SparkplugFilter; readonly qos: DeviceSubscription['qos'] };

/** Undefined for a filter that is refused. */
async function grant<R extends RoutedDevice>(
  { parts, deliveries, sparkplug }: BrokerState<R>,
  session: MqttSession,
  wanted: Wanted,
): Promise<Granted | undefined> {
  try {
    if (isSparkplugTopic(wanted.topic))
      return { sparkplug: sparkplug.grant(session, wanted.topic), qos: 0 };
    const subscription = await subscriptionOf(session, wanted, parts.findRoute);
    if (!isClosed(session)) deliveries.add(session, wanted.topic, subscription);
    return subscription;
  } catch (error) {
    const reason = errorMessage(error);
    parts.refused('foreignSubscription', { ...aboutSession(session), reason });
    return undefined;
  }
}

/** Throws for a topic that does not belong to the login, and beyond the limit of subscriptions. */
async function subscriptionOf<R extends RoutedDevice>(
  session: MqttSession,
  { topic, qos, nl, rap }: Wanted,
  findRoute: BrokerState<R>['parts']['findRoute'],
): Promise<DeviceSubscription> {
  const filter = topicFilterOf(topic);
  if (filter === undefined) throw new Error('the filter must address one device');
  const { subscriptions } = session;
  if (subscriptions.size >= mqttLimits.subscriptionsPerClientMax && !subscriptions.has(topic))
    throw new Error('too many subscriptions');
  const { device } = await routeOf(session, filter, findRoute);
  const options = { ...(nl && { noLocal: true }), ...(rap && { retainAsPublished: true }) };
  return { filter, id: device.id, qos: qos > 0 ? 1 : 0, ...options };
}
