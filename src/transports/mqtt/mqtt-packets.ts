// MQTT packets: what each packet of a client that has logged in does (MQTT 3.3 to 3.14).
import type { BrokerState } from './mqtt-broker-state.ts';
import { fail, finish, refusePacket } from './mqtt-endings.ts';
import { mqttLimits } from './mqtt-limits.ts';
import { LargePublish, MalformedPacket } from './mqtt-packet-framer.ts';
import { type PublishPacket, readPacket, readPublishStart } from './mqtt-packet-reader.ts';
import { packetWriter, reasonCodes } from './mqtt-packet-writer.ts';
import { FailedPublish, RefusedPublish } from './mqtt-publish.ts';
import { type MqttSession, type RoutedDevice, takeTurn } from './mqtt-session.ts';
import { subscribe, unsubscribe } from './mqtt-subscriptions.ts';

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
    takeTurn(session, () => acknowledge(session, messageId, 'pubrec'))('done');
  if (state !== undefined) return true;
  if (halfReceived.size >= mqttLimits.halfReceivedPerClientMax)
    throw new MalformedPacket('too many QoS 2 packets between their two steps');
  halfReceived.set(messageId, 'in progress');
  return false;
}
