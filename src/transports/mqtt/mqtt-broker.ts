// MQTT broker: reads the packets of thousands of connections at the cost of those that are sent (contract 18).
import { randomUUID } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { errorMessage } from '../../model/problem.ts';
import { ownBytes } from '../../structures/bytes.ts';
import { SharedPool } from '../../structures/shared-pool.ts';
import type { BrokerParts, BrokerState, ClientPlace } from './mqtt-broker-state.ts';
import { Deadlines, mqttLimits } from './mqtt-limits.ts';
import {
  closeSoon,
  cutOff,
  endByPlatform,
  endSession,
  fail,
  finish,
  keepAliveTimeout,
  refusePacket,
} from './mqtt-endings.ts';
import { FlowControl, Pace } from './mqtt-flow-control.ts';
import { LoginLimiter } from './mqtt-login-limiter.ts';
import { createDeliveries, type Deliveries } from './mqtt-messages.ts';
import { MqttOutput, MqttSession, type RoutedDevice, type Will } from './mqtt-session.ts';
import { messageProperties } from './mqtt-properties.ts';
import {
  type ConnectPacket,
  LargePublish,
  MalformedPacket,
  PacketFramer,
  readConnect,
  UnsupportedLevel,
} from './mqtt-packet-reader.ts';
import {
  type ConnackProperties,
  packetWriter,
  reasonCodes,
  type ReturnCode,
  returnCodes,
} from './mqtt-packet-writer.ts';
import { handlePacket, restoreSubscriptions } from './mqtt-subscriptions.ts';
import { createPublishHandler, createWillHandler } from './mqtt-publish.ts';
import { SparkplugClients } from './mqtt-sparkplug.ts';
import type { MqttTransport } from './mqtt-listeners.ts';

const second = 1_000;
const drainWithinSeconds = mqttLimits.drainWithinMs / second;
/** First byte of a CONNECT. */
const connectHeader = 0x10;
const publishType = 3;

/** Serves connections. Its callers listen on the ports. */
export class MqttBroker<R extends RoutedDevice = RoutedDevice> {
  readonly #state: BrokerState<R>;
  #stopTicking: () => void;

  constructor(parts: BrokerParts<R>) {
    const limits = { ...mqttLimits, ...parts.shared };
    const events = {
      readOn: (session: MqttSession) => this.#readOn(session),
      giveWay: (session: MqttSession) => refusePacket(this.#state, session, tooMuchInPart()),
    };
    const flowControl = new FlowControl<MqttSession>(events, limits);
    const deliveries = createDeliveries(parts);
    const sparkplug = new SparkplugClients({
      intake: parts.sparkplug,
      write: deliveries.write,
      end: (session, because) => endByPlatform(this.#state, session, because),
    });
    this.#state = {
      parts,
      sessions: new Set(),
      closing: new Set(),
      strangers: new SharedPool({
        max: limits.strangersMax,
        ownGivesWay: 'newcomer',
        giveWay: (session) => this.#crowdOut(session),
      }),
      members: new SharedPool({
        max: limits.connectionsMax,
        ownGivesWay: 'newcomer',
        giveWay: (session) => this.#crowdOut(session),
      }),
      byKey: new Map(),
      flowControl,
      pace: new Pace<MqttSession>(parts.publishLimit, parts.setTimer, events.readOn),
      deadlines: new Deadlines((session, now) => this.#visit(session, now)),
      deliveries,
      logins: new LoginLimiter(
        parts.logIn,
        parts.countWebSocket,
        (session, organizationId) => this.#admitMember(session, organizationId),
        parts.refused,
      ),
      publish: createPublishHandler(parts, deliveries, flowControl, sparkplug),
      will: createWillHandler(parts, sparkplug),
      sparkplug,
      readOn: (session) => this.#readOn(session),
      isStopping: false,
    };
    this.#stopTicking = this.#tick();
  }

  get sessions(): ReadonlySet<MqttSession> {
    return this.#state.sessions;
  }

  get deliveries(): Deliveries {
    return this.#state.deliveries;
  }

  get flowControl(): FlowControl<MqttSession> {
    return this.#state.flowControl;
  }

  /** Takes over a connection. */
  readonly accept = (conn: MqttTransport, address: string, isWebSocket = false): void => {
    const { parts, sessions, closing, strangers, members, deadlines, isStopping } = this.#state;
    // The client may have left while the broker opened.
    if (conn.destroyed) return;
    const session = new MqttSession({
      owner: parts.networkOf(address),
      conn,
      framer: new PacketFramer(mqttLimits.loginPacketBytesMax),
      output: new MqttOutput(conn, () => this.#noteStall(session)),
      address,
      isWebSocket,
      heardAt: deadlines.now,
    });
    if (isStopping || !strangers.hold(session.owner, session, 1)) {
      parts.refused(isStopping ? 'stopping' : 'tooManyConnections', { address });
      conn.on('error', () => undefined);
      conn.destroy();
      return;
    }
    sessions.add(session);
    deadlines.place(session, deadlines.now + session.silenceMax + 1);
    conn.on('error', (error) => fail(this.#state, session, error.message));
    conn.on('drain', () => {
      session.stalledAt = undefined;
      session.output.drained();
      this.#readOn(session);
    });
    conn.on('close', () => {
      if (session.state === 'open') parts.ended('closed without a DISCONNECT', session.about());
      if (!session.isClosed()) endSession(this.#state, session);
      session.output.drained();
      deadlines.remove(session);
      closing.delete(session);
      strangers.release(session);
      members.release(session);
    });
    conn.on('data', (chunk) => {
      if (session.isClosed()) return;
      session.framer.push(chunk);
      this.#readOn(session);
    });
    conn.on('held', () => this.#readOn(session));
    // A transport may wait for its listener.
    conn.resume();
  };

  /** Ends a connection from the side of the platform, without its will. */
  end(session: MqttSession, because: string): void {
    endByPlatform(this.#state, session, because);
  }

  /**
   * Ends every connection, once its publishes in progress are answered, or after a time without
   * their answers.
   */
  async close(): Promise<void> {
    const { sessions, closing } = this.#state;
    if (this.#state.isStopping) return;
    this.#state.isStopping = true;
    await this.#drained();
    this.#stopTicking();
    for (const { conn } of [...closing]) conn.destroy();
    for (const session of [...sessions]) endByPlatform(this.#state, session, 'stopping');
  }

  #tick(): () => void {
    return this.#state.parts.setTimer(() => {
      this.#stopTicking = this.#tick();
      this.#state.deadlines.tick();
    }, second);
  }

  async #drained() {
    const { parts, flowControl } = this.#state;
    const late = Promise.withResolvers<void>();
    const cancel = parts.setTimer(late.resolve, mqttLimits.stopWithinMs);
    await Promise.race([flowControl.close(), late.promise]);
    cancel();
  }

  /** Takes the room of a client that has logged in, or returns the limit that it would exceed. */
  #admitMember(session: MqttSession, organizationId: string): string | undefined {
    const { parts, strangers, members, byKey, flowControl } = this.#state;
    // The connection that this one takes the place of (MQTT-3.1.4-2) would count besides.
    const before = byKey.get(session.key);
    if (before !== undefined) {
      cutOff(this.#state, before, reasonCodes.takenOver);
      members.release(before);
    }
    if (!parts.connectionCount.take(organizationId, 1)) return 'mqttConnections';
    session.isCounted = true;
    // What it has taken of the share of its network.
    flowControl.leave(session);
    session.owner = organizationId;
    strangers.release(session);
    return members.hold(organizationId, session, 1) ? undefined : 'of all MQTT connections';
  }

  /** Ends a connection that gives way to one of an organization, or a network, with fewer. */
  #crowdOut(session: MqttSession): void {
    this.#state.parts.refused('tooManyConnections', { address: session.address });
    if (session.isClosed()) session.conn.destroy();
    else if (session.identity === undefined)
      cutOff(this.#state, session, reasonCodes.quotaExceeded);
    else {
      this.#state.parts.ended('too many connections of its organization', session.about());
      cutOff(this.#state, session, reasonCodes.quotaExceeded);
    }
  }

  #mayRead(session: MqttSession): boolean {
    const { flowControl, pace } = this.#state;
    const isAwaited = session.state === 'new' || session.state === 'open';
    if (!isAwaited || session.isBusy || session.output.isFull) return false;
    if (isPublish(session.framer.header) && !pace.mayPublish(session)) return false;
    return flowControl.mayRead(session);
  }

  /** Handles the packets that have arrived, as far as they may be read. */
  #readOn(session: MqttSession): void {
    if (session.isReading || session.isClosed()) return;
    const { framer, conn } = session;
    session.isReading = true;
    try {
      while (framer.hasUnread && this.#mayRead(session)) {
        if (session.state === 'new' && framer.header !== connectHeader)
          throw new MalformedPacket('expected CONNECT as the first packet');
        const { header } = framer;
        const bytes = framer.next();
        if (bytes === undefined) break;
        session.partialSince = undefined;
        session.heardAt = this.#state.deadlines.now;
        if (isPublish(header)) this.#state.pace.count(session);
        if (session.state === 'new') this.#connect(session, bytes);
        else handlePacket(this.#state, session, bytes);
      }
      // What is skipped takes no memory, and is a sign of life.
      if (framer.header !== undefined && !framer.isHolding)
        session.heardAt = this.#state.deadlines.now;
      if (
        !session.isClosed() &&
        !this.#state.flowControl.hold(session, framer.heldBytes + heldIn(conn))
      )
        throw tooMuchInPart();
    } catch (error) {
      refusePacket(this.#state, session, error);
    } finally {
      session.isReading = false;
    }
    if (session.isClosed()) return;
    this.#notePartial(session);
    if (session.isPaused === framer.hasUnread) return;
    session.isPaused = framer.hasUnread;
    if (session.isPaused) conn.pause();
    else conn.resume();
  }

  #noteStall(session: MqttSession): void {
    const { deadlines } = this.#state;
    if (session.stalledAt !== undefined || session.isClosed()) return;
    session.stalledAt = deadlines.now;
    deadlines.place(
      session,
      Math.min(session.deadline ?? Number.POSITIVE_INFINITY, drainUntil(session)),
    );
  }

  /** A packet has a time to arrive in, except for that in which the platform does not read. */
  #notePartial(session: MqttSession) {
    const { deadlines } = this.#state;
    const { framer, conn } = session;
    const isHolding = framer.isHolding || heldIn(conn) > 0;
    if (!isHolding || framer.hasUnread) {
      session.partialSince = undefined;
      return;
    }
    if (session.partialSince !== undefined) return;
    session.partialSince = deadlines.now;
    const until = partialUntil(session);
    if (until < (session.deadline ?? Number.POSITIVE_INFINITY)) deadlines.place(session, until);
  }

  /** Ends a session that is past its deadline; returns the second of its next visit otherwise. */
  #visit(session: MqttSession, now: number): number | undefined {
    if (session.isClosed()) {
      session.conn.destroy();
      return undefined;
    }
    // What waits to be read is a sign of life.
    if (session.isPaused) session.heardAt = now;
    const heardUntil = session.heardAt + session.silenceMax + 1;
    if (session.state === 'connecting') return now + session.silenceMax;
    const isStalled = now >= drainUntil(session);
    if (isStalled || now >= heardUntil) {
      const silent = session.state === 'new' ? 'CONNECT timed out' : keepAliveTimeout;
      fail(this.#state, session, isStalled ? 'drain timeout' : silent);
      return undefined;
    }
    if (now >= partialUntil(session)) {
      fail(this.#state, session, 'a packet did not arrive whole in time');
      return undefined;
    }
    session.releaseConfirmed(this.#state.parts.now());
    return Math.min(heardUntil, drainUntil(session), partialUntil(session));
  }

  /**
   * Handles the first packet of a connection, whose answer follows. Throws MalformedPacket for one
   * that is not answered.
   */
  #connect(session: MqttSession, bytes: Buffer | LargePublish): void {
    if (bytes instanceof LargePublish) throw new MalformedPacket('tooLarge');
    const packet = supportedConnect(bytes);
    if (packet instanceof UnsupportedLevel)
      return this.#refuseForm(session, returnCodes.unacceptableLevel, packet.message);
    if (packet.clientId.length > mqttLimits.clientIdLengthMax)
      return this.#refuseForm(session, returnCodes.identifierRejected, 'the client id is too long');
    // MQTT-3.1.3-8.
    if (packet.clientId === '' && packet.clean === false && packet.protocolVersion < 5)
      return this.#refuseForm(session, returnCodes.identifierRejected, 'a client id is required');
    session.level = packet.protocolVersion;
    if (packet.properties?.authenticationMethod !== undefined)
      return this.#refuseForm(
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
    this.#begin(session, login, bytes).catch((error: unknown) =>
      refusePacket(this.#state, session, error),
    );
  }

  /** Logs the client in, or forwards its connection to the node that serves it. */
  async #begin(session: MqttSession, login: ConnectLogin, connectPacket: Buffer): Promise<void> {
    const { placeOf, refused } = this.#state.parts;
    if (placeOf === undefined) return this.#logIn(session, login);
    const { clientId, address } = session;
    let place: ClientPlace | undefined;
    try {
      const { owner: network, address, isWebSocket } = session;
      place = await placeOf({ ...login, clientId }, { address, network, isWebSocket });
    } catch (error) {
      refused('workspaceWithoutNode', { address, clientId, reason: errorMessage(error) });
      if (!session.isClosed()) this.#refuse(session, returnCodes.serverUnavailable);
      return;
    }
    if (session.isClosed()) return void place?.connection?.destroy();
    if (place?.connection !== undefined)
      return this.#forward(session, place.organizationId, place.connection, connectPacket);
    session.workspaceId = place?.workspaceId;
    return this.#logIn(session, login);
  }

  /**
   * From now on, this node copies bytes: each side waits while the other takes nothing. The
   * connection counts for its organization.
   */
  #forward(
    session: MqttSession,
    organizationId: string,
    connection: Duplex,
    connectPacket: Buffer,
  ): void {
    const { deadlines } = this.#state;
    const { conn, framer } = session;
    const unread = framer.takeUnread();
    endSession(this.#state, session);
    deadlines.remove(session);
    this.#state.strangers.release(session);
    if (!this.#state.members.hold(organizationId, session, 1)) {
      this.#state.parts.refused('tooManyConnections', { address: session.address });
      connection.destroy();
      return void conn.destroy();
    }
    conn.on('data', (chunk) => {
      if (!connection.write(chunk)) conn.pause();
    });
    connection.on('drain', () => conn.resume());
    connection.on('data', (chunk: Buffer) => {
      if (conn.destroyed || conn.write(chunk)) return;
      connection.pause();
      deadlines.place(session, deadlines.now + drainWithinSeconds + 1);
    });
    conn.on('drain', () => {
      if (connection.destroyed) return;
      deadlines.remove(session);
      connection.resume();
    });
    // A DISCONNECT may be on its way: without it, the other node would publish the will.
    conn.on('close', () => connection.resume().end());
    // What the other node sent last is still on its way to the client.
    connection.on('close', () => closeSoon(this.#state, session));
    connection.write(connectPacket);
    if (unread !== undefined) connection.write(unread);
    conn.resume();
  }

  async #logIn(session: MqttSession, { userName, password, answer }: ConnectLogin): Promise<void> {
    let refused = await this.#state.logins.logIn(session, userName, password);
    const fault = refused === undefined ? await this.#state.will.check(session) : undefined;
    if (fault === 'foreign') refused = returnCodes.notAuthorized;
    if (fault === 'failed') refused = returnCodes.serverUnavailable;
    if (this.#state.isStopping) refused = returnCodes.serverUnavailable;
    if (session.isClosed()) return;
    if (refused === undefined) await this.#open(session, answer);
    else this.#refuse(session, refused);
  }

  #refuseForm(session: MqttSession, code: ReturnCode, reason: string): void {
    this.#state.parts.refused('malformed', { reason, address: session.address });
    this.#refuse(session, code);
  }

  #refuse(session: MqttSession, code: ReturnCode): void {
    session.output.write(packetWriter(session.level).connack(code, false));
    finish(this.#state, session);
  }

  async #open(session: MqttSession, answer: ConnackProperties | undefined): Promise<void> {
    const { byKey, deadlines, parts } = this.#state;
    const { key } = session;
    const other = byKey.get(key);
    // MQTT-3.1.4-2.
    if (other !== undefined) cutOff(this.#state, other, reasonCodes.takenOver);
    byKey.set(key, session);
    const left = parts.keptSessions.take(key);
    const kept = session.isClean ? undefined : left;
    if (kept !== undefined) {
      await restoreSubscriptions(this.#state, session, kept);
      if (session.isClosed()) return;
      session.halfReceived = new Map(kept.halfReceived.map((number) => [number, 'durable']));
    }
    session.state = 'open';
    session.heardAt = deadlines.now;
    deadlines.place(session, deadlines.now + session.silenceMax + 1);
    const writer = packetWriter(session.level);
    session.output.write(writer.connack(returnCodes.accepted, kept !== undefined, answer));
    for (const subscription of session.subscriptions.values())
      parts.reachable(session, subscription);
    this.#state.readOn(session);
  }
}

function tooMuchInPart(): MalformedPacket {
  return new MalformedPacket('too many packets of its organization have arrived in part');
}

function isPublish(header: number | undefined): boolean {
  return header !== undefined && header >> 4 === publishType;
}

function heldIn({ heldBytes = 0 }: MqttTransport): number {
  return heldBytes;
}

function partialUntil({ partialSince = Number.POSITIVE_INFINITY }: MqttSession): number {
  return partialSince + mqttLimits.packetWithinMs / second + 1;
}

function drainUntil({ stalledAt = Number.POSITIVE_INFINITY }: MqttSession): number {
  return stalledAt + drainWithinSeconds + 1;
}

// MQTT connect: a client logs in, takes over its client id and resumes its session (MQTT 3.1, 3.2).

/** MQTT-3.1.2-24: one and a half times the keep-alive. */
const keepaliveFactor = 1.5;

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
  const payload = ownBytes(Buffer.from(will.payload));
  return { topic: will.topic, payload, properties: messageProperties(will.properties) };
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

interface ConnectLogin {
  readonly userName: string;
  readonly password: string;
  readonly answer: ConnackProperties | undefined;
}
