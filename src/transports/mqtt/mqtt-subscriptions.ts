// MQTT subscriptions: each is checked, granted or rejected, and followed by retained messages (contract 17, 18).
import { errorMessage } from '../../model/problem.ts';
import { isLongName } from '../../model/ids.ts';
import { isSparkplugTopic, type SparkplugFilter } from '../sparkplug/sparkplug-topic.ts';
import type { BrokerState } from './mqtt-broker-state.ts';
import { mqttLimits } from './mqtt-limits.ts';
import {
  LargePublish,
  MalformedPacket,
  type PublishPacket,
  readPacket,
  readPublishStart,
  type SubscribePacket,
  type UnsubscribePacket,
} from './mqtt-packet-reader.ts';
import { packetWriter, reasonCodes, refusedSubscription } from './mqtt-packet-writer.ts';
import {
  type DeviceSubscription,
  type KeptSession,
  type MqttSession,
  type RoutedDevice,
  routeOf,
} from './mqtt-session.ts';
import { topicFilterOf } from './mqtt-topic.ts';
import { fail, finish, refusePacket } from './mqtt-endings.ts';
import { FailedPublish, RefusedPublish } from './mqtt-publish.ts';

interface Wanted {
  readonly topic: string;
  readonly qos: 0 | 1 | 2;
  /** Options of MQTT 5, as packets have them. */
  readonly nl?: boolean | undefined;
  readonly rap?: boolean | undefined;
  readonly rh?: number | undefined;
}

/** Answers a SUBSCRIBE; a refused filter with 128 (MQTT 3.9.3). */
async function subscribe<R extends RoutedDevice>(
  state: BrokerState<R>,
  session: MqttSession,
  { messageId, subscriptions }: SubscribePacket,
): Promise<void> {
  const granted: (Granted | undefined)[] = [];
  const before = new Set(session.subscriptions.keys());
  for (const wanted of subscriptions) granted.push(await grant(state, session, wanted));
  if (session.isClosed()) return;
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

function unsubscribe<R extends RoutedDevice>(
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
  for (const { noLocal: nl, retainAsPublished: rap, ...wanted } of subscriptions)
    await grant(state, session, { ...wanted, nl, rap });
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
    if (!session.isClosed()) deliveries.add(session, wanted.topic, subscription);
    return subscription;
  } catch (error) {
    const reason = errorMessage(error);
    parts.refused('foreignSubscription', { ...session.about(), reason });
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

// MQTT packets: what each packet of a client that has logged in does (MQTT 3.3 to 3.14).

/** MQTT 5, 3.14.2.1. */
const disconnectWithWill = 4;

/** Throws MalformedPacket; the connection must end then. */
export function handlePacket<R extends RoutedDevice>(
  state: BrokerState<R>,
  session: MqttSession,
  bytes: Buffer | LargePublish,
): void {
  const { output } = session;
  const writer = packetWriter(session.level);
  if (bytes instanceof LargePublish)
    return receivePublish(state, session, readPublishStart(bytes.start), bytes.bytes);
  const packet = readPacket(bytes, session.level);
  switch (packet.cmd) {
    case 'publish':
      return receivePublish(state, session, packet);
    case 'subscribe':
      return readAfter(state, session, subscribe(state, session, packet));
    case 'unsubscribe':
      return unsubscribe(state, session, packet);
    case 'puback':
      return session.unacknowledged?.get(packet.messageId)?.(
        (packet.reasonCode ?? 0) < reasonCodes.unspecified ? 'acknowledged' : 'sent',
      );
    // Messages have QoS 0 or 1, so this is the answer to none of them.
    case 'pubrec':
      return output.write(writer.acknowledgement('pubrel', packet.messageId));
    case 'pubcomp':
      return;
    case 'pubrel':
      session.halfReceived?.delete(packet.messageId);
      return output.write(writer.acknowledgement('pubcomp', packet.messageId));
    case 'pingreq':
      return output.write(writer.pingresp());
    case 'disconnect':
      // With this reason the client wants its will to be published.
      session.isDisconnected = packet.reasonCode !== disconnectWithWill;
      shortenSession(session, packet.properties?.sessionExpiryInterval);
      return finish(state, session);
  }
}

/** MQTT 5, 3.14.2.2.2: a session that ends with its connection cannot become longer. */
function shortenSession(session: MqttSession, expirySeconds: number | undefined): void {
  if (expirySeconds === undefined || session.keptForMs === 0) return;
  session.keptForMs = Math.min(expirySeconds * 1_000, mqttLimits.sessionKeptMs);
}

/** Reads no further packet until the work is done. */
function readAfter<R extends RoutedDevice>(
  state: BrokerState<R>,
  session: MqttSession,
  work: Promise<void>,
): void {
  session.isBusy = true;
  work.then(
    () => {
      session.isBusy = false;
      state.readOn(session);
    },
    (error: unknown) => refusePacket(state, session, error),
  );
}

function receivePublish<R extends RoutedDevice>(
  state: BrokerState<R>,
  session: MqttSession,
  packet: PublishPacket,
  largeBytes?: number,
): void {
  const { qos, messageId = 0 } = packet;
  if (qos === 2 && isRepeated(session, messageId)) return;
  const answer = (error?: Error) => {
    if (error instanceof FailedPublish && session.level === 5)
      return refusePublish(session, messageId, qos, error.reasonCode);
    // Before MQTT 5, what can never succeed is acknowledged, and dropped (MQTT-3.3.5-2). What may
    // succeed later is not: its client sends it again once it has connected again.
    if (error !== undefined && !(error instanceof RefusedPublish))
      fail(state, session, error.message);
    else if (qos > 0) acknowledge(session, messageId, qos === 1 ? 'puback' : 'pubrec');
    if (qos === 2) session.halfReceived?.set(messageId, 'durable');
  };
  state.publish(session, packet, answer, largeBytes);
}

/** MQTT 5 can refuse one publish. */
function refusePublish(
  session: MqttSession,
  messageId: number,
  qos: number,
  reasonCode: number,
): void {
  if (qos === 0) return;
  const cmd = qos === 1 ? 'puback' : 'pubrec';
  session.halfReceived?.delete(messageId);
  const writer = packetWriter(session.level);
  session.output.write(writer.acknowledgement(cmd, messageId, reasonCode));
}

function acknowledge(session: MqttSession, messageId: number, cmd: 'puback' | 'pubrec'): void {
  session.output.write(packetWriter(session.level).acknowledgement(cmd, messageId));
}

/**
 * MQTT-4.3.3-2: a QoS 2 packet whose second step is due has been stored, or will be. Otherwise its
 * number is stored.
 */
function isRepeated(session: MqttSession, messageId: number): boolean {
  const halfReceived = (session.halfReceived ??= new Map());
  const state = halfReceived.get(messageId);
  if (state === 'durable')
    session.takeTurn(() => acknowledge(session, messageId, 'pubrec'))('done');
  if (state !== undefined) return true;
  if (halfReceived.size >= mqttLimits.halfReceivedPerClientMax)
    throw new MalformedPacket('too many QoS 2 packets between their two steps');
  halfReceived.set(messageId, 'in progress');
  return false;
}
