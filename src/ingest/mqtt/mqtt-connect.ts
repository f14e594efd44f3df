// MQTT connect: a client logs in, takes over its client id and resumes its session (MQTT 3.1, 3.2).
import { ownBytes } from '../../structures/own-bytes.ts';
import type { BrokerState } from './mqtt-broker-state.ts';
import { cutOff, finish, refusePacket } from './mqtt-endings.ts';
import { mqttLimits } from './mqtt-limits.ts';
import { type ConnectPacket, readConnect, UnsupportedLevel } from './mqtt-packet-reader.ts';
import { packetWriter, type ReturnCode, returnCodes } from './mqtt-packet-writer.ts';
import type { RoutedDevice } from './mqtt-route.ts';
import { isClosed, type MqttSession, type Will } from './mqtt-session.ts';
import { restoreSubscriptions } from './mqtt-subscriptions.ts';

/** MQTT-3.1.2-24: one and a half times the keep-alive. */
const keepaliveFactor = 1.5;

/**
 * Handles the first packet of a connection, whose answer follows. Throws MalformedPacket for one
 * that is not answered.
 */
export function connect<R extends RoutedDevice>(
  state: BrokerState<R>,
  session: MqttSession,
  bytes: Buffer,
): void {
  const packet = supportedConnect(bytes);
  if (packet instanceof UnsupportedLevel)
    return refuseForm(state, session, returnCodes.unacceptableLevel, packet.message);
  if (packet.clientId.length > mqttLimits.clientIdLengthMax)
    return refuseForm(state, session, returnCodes.identifierRejected, 'the client id is too long');
  // MQTT-3.1.3-8.
  if (packet.clientId === '' && packet.clean === false)
    return refuseForm(state, session, returnCodes.identifierRejected, 'no client id');
  session.state = 'connecting';
  session.level = packet.protocolVersion;
  session.clientId = packet.clientId;
  session.isClean = packet.clean !== false;
  session.will = willOf(packet);
  session.silenceMax = silenceMaxOf(packet);
  const { username = '', password } = packet;
  logIn(state, session, username, password?.toString() ?? '').catch((error: unknown) =>
    refusePacket(state, session, error),
  );
}

function supportedConnect(bytes: Buffer): ConnectPacket | UnsupportedLevel {
  try {
    return readConnect(bytes);
  } catch (error) {
    if (error instanceof UnsupportedLevel) return error;
    throw error;
  }
}

function willOf({ will }: ConnectPacket): Will | undefined {
  if (will === undefined) return undefined;
  return { topic: will.topic, payload: ownBytes(Buffer.from(will.payload)) };
}

function silenceMaxOf({ keepalive }: ConnectPacket): number {
  const { keepaliveSecondsMin, keepaliveSecondsMax } = mqttLimits;
  // 0 means never.
  const seconds = Math.max(keepalive || keepaliveSecondsMax, keepaliveSecondsMin);
  return Math.ceil(keepaliveFactor * seconds);
}

async function logIn<R extends RoutedDevice>(
  state: BrokerState<R>,
  session: MqttSession,
  userName: string,
  password: string,
): Promise<void> {
  let refused = await state.logIn(session, userName, password);
  if (refused === undefined && !(await state.will.isPermitted(session)))
    refused = returnCodes.notAuthorized;
  if (state.isStopping) refused = returnCodes.serverUnavailable;
  if (isClosed(session)) return;
  if (refused === undefined) await open(state, session);
  else refuse(state, session, refused);
}

function refuseForm<R extends RoutedDevice>(
  state: BrokerState<R>,
  session: MqttSession,
  code: ReturnCode,
  reason: string,
): void {
  state.parts.refused('malformed', { reason, address: session.address });
  refuse(state, session, code);
}

function refuse<R extends RoutedDevice>(
  state: BrokerState<R>,
  session: MqttSession,
  code: ReturnCode,
): void {
  session.output.write(packetWriter(session.level).connack(code, false));
  finish(state, session);
}

async function open<R extends RoutedDevice>(
  state: BrokerState<R>,
  session: MqttSession,
): Promise<void> {
  const { byKey, store, deadlines, parts } = state;
  const { key } = session;
  const other = byKey.get(key);
  // MQTT-3.1.4-2.
  if (other !== undefined) cutOff(state, other);
  byKey.set(key, session);
  const kept = session.isClean ? undefined : store.get(key);
  if (kept !== undefined) {
    await restoreSubscriptions(state, session, kept);
    if (isClosed(session)) return;
    session.halfReceived = new Map(kept.halfReceived.map((number) => [number, 'durable']));
  }
  store.delete(key);
  session.state = 'open';
  session.heardAt = deadlines.now;
  deadlines.place(session, deadlines.now + session.silenceMax + 1);
  const { connack } = packetWriter(session.level);
  session.output.write(connack(returnCodes.accepted, kept !== undefined));
  for (const subscription of session.subscriptions.values()) parts.reachable(session, subscription);
  state.readOn(session);
}
