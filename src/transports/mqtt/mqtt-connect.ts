// MQTT connect: a client logs in, takes over its client id and resumes its session (MQTT 3.1, 3.2).
import { randomUUID } from 'node:crypto';
import { errorMessage } from '../../model/errors.ts';
import { ownBytes } from '../../structures/bytes.ts';
import type { BrokerState } from './mqtt-broker-state.ts';
import { cutOff, finish, refusePacket } from './mqtt-endings.ts';
import { mqttLimits } from './mqtt-limits.ts';
import { LargePublish, MalformedPacket } from './mqtt-packet-framer.ts';
import { type ConnectPacket, readConnect, UnsupportedLevel } from './mqtt-packet-reader.ts';
import {
  type ConnackProperties,
  packetWriter,
  reasonCodes,
  type ReturnCode,
  returnCodes,
} from './mqtt-packet-writer.ts';
import type { KeptSession } from './mqtt-session-store.ts';
import { isClosed, type MqttSession, type RoutedDevice, type Will } from './mqtt-session.ts';
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
  bytes: Buffer | LargePublish,
): void {
  if (bytes instanceof LargePublish) throw new MalformedPacket('tooLarge');
  const packet = supportedConnect(bytes);
  if (packet instanceof UnsupportedLevel)
    return refuseForm(state, session, returnCodes.unacceptableLevel, packet.message);
  if (packet.clientId.length > mqttLimits.clientIdLengthMax)
    return refuseForm(state, session, returnCodes.identifierRejected, 'the client id is too long');
  // MQTT-3.1.3-8.
  if (packet.clientId === '' && packet.clean === false && packet.protocolVersion < 5)
    return refuseForm(state, session, returnCodes.identifierRejected, 'a client id is required');
  session.level = packet.protocolVersion;
  if (packet.properties?.authenticationMethod !== undefined)
    return refuseForm(
      state,
      session,
      returnCodes.badAuthentication,
      'unsupported authentication method',
    );
  session.state = 'connecting';
  session.clientId = packet.clientId;
  session.isClean = packet.clean !== false;
  const answer = session.level < 5 ? undefined : takeProperties(session, packet);
  if (session.level < 5 && !session.isClean) session.keptForMs = mqttLimits.sessionKeptMs;
  session.will = willOf(packet);
  session.silenceMax = silenceMaxOf(packet);
  const { username = '', password } = packet;
  const login = { userName: username, password: password?.toString() ?? '', answer };
  logIn(state, session, login).catch((error: unknown) => refusePacket(state, session, error));
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

function silenceMaxOf(packet: ConnectPacket): number {
  return Math.ceil(keepaliveFactor * keepAliveOf(packet));
}

function keepAliveOf({ keepalive }: ConnectPacket): number {
  const { keepaliveSecondsMin, keepaliveSecondsMax } = mqttLimits;
  // 0 means never.
  return Math.max(keepalive || keepaliveSecondsMax, keepaliveSecondsMin);
}

/** Sets what a client of MQTT 5 asks for. Returns what the answer says of the platform. */
function takeProperties(session: MqttSession, packet: ConnectPacket): ConnackProperties {
  const { properties = {}, keepalive = 0 } = packet;
  const { sessionKeptMs, outboundPerClientMax, halfReceivedPerClientMax } = mqttLimits;
  const expiryMs = (properties.sessionExpiryInterval ?? 0) * 1_000;
  session.keptForMs = Math.min(expiryMs, sessionKeptMs);
  session.receiveMax = Math.min(
    properties.receiveMaximum ?? outboundPerClientMax,
    outboundPerClientMax,
  );
  session.packetBytesMax = properties.maximumPacketSize ?? Number.POSITIVE_INFINITY;
  // A client without an id gets one, which it can use again.
  const isNameless = packet.clientId === '';
  if (isNameless) session.clientId = randomUUID();
  const keepAlive = keepAliveOf(packet);
  return {
    receiveMaximum: halfReceivedPerClientMax,
    maximumPacketSize: mqttLimits.packetBytesMax,
    subscriptionIdentifiersAvailable: false,
    sharedSubscriptionAvailable: false,
    ...(isNameless && { assignedClientIdentifier: session.clientId }),
    ...(expiryMs > sessionKeptMs && { sessionExpiryInterval: sessionKeptMs / 1_000 }),
    ...(keepAlive !== keepalive && { serverKeepAlive: keepAlive }),
  };
}

async function logIn<R extends RoutedDevice>(
  state: BrokerState<R>,
  session: MqttSession,
  {
    userName,
    password,
    answer,
  }: {
    readonly userName: string;
    readonly password: string;
    readonly answer: ConnackProperties | undefined;
  },
): Promise<void> {
  let refused = await state.logIn(session, userName, password);
  const fault = refused === undefined ? await state.will.check(session) : undefined;
  if (fault === 'foreign') refused = returnCodes.notAuthorized;
  if (fault === 'failed') refused = returnCodes.serverUnavailable;
  if (state.isStopping) refused = returnCodes.serverUnavailable;
  if (isClosed(session)) return;
  if (refused === undefined) await open(state, session, answer);
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

/** What the client left; `unknown` while no node knows. Other nodes end its other connection. */
function resume<R extends RoutedDevice>(
  { parts, store }: BrokerState<R>,
  session: MqttSession,
): KeptSession | undefined | Promise<KeptSession | 'unknown' | undefined> {
  const { key, isClean, clientId, address } = session;
  if (parts.peers !== undefined)
    return parts.peers.claim(session).catch((error: unknown) => {
      parts.refused('clientWithoutOwner', { address, clientId, reason: errorMessage(error) });
      return 'unknown';
    });
  const kept = isClean ? undefined : store.get(key);
  store.delete(key);
  return kept;
}

async function open<R extends RoutedDevice>(
  state: BrokerState<R>,
  session: MqttSession,
  answer: ConnackProperties | undefined,
): Promise<void> {
  const { byKey, deadlines, parts } = state;
  const { key } = session;
  const other = byKey.get(key);
  // MQTT-3.1.4-2.
  if (other !== undefined) cutOff(state, other, reasonCodes.takenOver);
  byKey.set(key, session);
  const resumed = resume(state, session);
  const kept = resumed instanceof Promise ? await resumed : resumed;
  if (isClosed(session)) return;
  if (kept === 'unknown') return refuse(state, session, returnCodes.serverUnavailable);
  if (kept !== undefined) {
    await restoreSubscriptions(state, session, kept);
    if (isClosed(session)) return;
    session.halfReceived = new Map(kept.halfReceived.map((number) => [number, 'durable']));
  }
  session.state = 'open';
  session.heardAt = deadlines.now;
  deadlines.place(session, deadlines.now + session.silenceMax + 1);
  const { connack } = packetWriter(session.level);
  session.output.write(connack(returnCodes.accepted, kept !== undefined, answer));
  for (const subscription of session.subscriptions.values()) parts.reachable(session, subscription);
  state.readOn(session);
}
