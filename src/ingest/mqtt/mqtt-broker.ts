// MQTT broker: reads the packets of thousands of connections at the cost of those that are sent (contract 18).
import type { BrokerParts, BrokerState } from './mqtt-broker-state.ts';
import { connect } from './mqtt-connect.ts';
import { createDeadlines } from './mqtt-deadlines.ts';
import {
  cutOff,
  endByPlatform,
  endSession,
  fail,
  keepAliveTimeout,
  refusePacket,
} from './mqtt-endings.ts';
import { createFlowControl, type FlowControl } from './mqtt-flow-control.ts';
import { mqttLimits } from './mqtt-limits.ts';
import { createLoginLimiter } from './mqtt-login-limiter.ts';
import { createDeliveries, type Deliveries } from './mqtt-messages.ts';
import { MqttOutput } from './mqtt-output.ts';
import { MalformedPacket, PacketFramer } from './mqtt-packet-framer.ts';
import { reasonCodes } from './mqtt-packet-writer.ts';
import { handlePacket } from './mqtt-packets.ts';
import { createPublishHandler, createWillHandler } from './mqtt-publish.ts';
import type { RoutedDevice } from './mqtt-route.ts';
import {
  aboutSession,
  createMqttSession,
  isClosed,
  type MqttSession,
  releaseConfirmed,
} from './mqtt-session.ts';
import {
  createSessionStore,
  type KeptSession,
  keptSessionOf,
  type SessionStore,
} from './mqtt-session-store.ts';
import { createSparkplugClients } from './mqtt-sparkplug.ts';
import type { MqttTransport } from './mqtt-transport.ts';

const second = 1_000;
/** First byte of a CONNECT. */
const connectHeader = 0x10;

export interface MqttBroker {
  /** Takes over a connection. */
  accept(conn: MqttTransport, address: string, isWebSocket?: boolean): void;
  readonly sessions: ReadonlySet<MqttSession>;
  readonly deliveries: Deliveries;
  readonly flowControl: Pick<FlowControl<MqttSession>, 'inFlight'>;
  readonly store: Pick<SessionStore, 'size' | 'dropOld'>;
  /** Ends a connection from the side of the platform, without its will. */
  end(session: MqttSession, because: string): void;
  /**
   * Ends the connection that has this claim, because its client connected to another node. Returns
   * what is kept of its session.
   */
  evict(key: string, claim: string): KeptSession | undefined;
  /** Ends every connection, once its publishes in progress are answered. */
  close(): Promise<void>;
}

/** Starts the broker. Its callers listen on the ports. */
export function openMqttBroker<R extends RoutedDevice>(parts: BrokerParts<R>): MqttBroker {
  const state = createState(parts);
  const { sessions, closing, deliveries, flowControl, store, deadlines } = state;
  const tick = (): (() => void) =>
    parts.setTimer(() => {
      stopTicking = tick();
      deadlines.tick();
    }, second);
  let stopTicking = tick();
  return {
    accept: (conn, address, isWebSocket = false) => accept(state, conn, address, isWebSocket),
    sessions,
    deliveries,
    flowControl,
    store,
    end: (session, because) => endByPlatform(state, session, because),
    evict: (key, claim) => evict(state, key, claim),
    async close() {
      state.isStopping = true;
      await flowControl.close();
      stopTicking();
      for (const { conn } of [...closing]) conn.destroy();
      for (const session of [...sessions]) endByPlatform(state, session, 'stopping');
    },
  };
}

function evict<R extends RoutedDevice>(
  state: BrokerState<R>,
  key: string,
  claim: string,
): KeptSession | undefined {
  const session = state.byKey.get(key);
  if (session?.claim !== claim) return undefined;
  const kept = session.state === 'open' ? keptSessionOf(session, state.parts.now()) : undefined;
  // Its owner has given the client to another connection already.
  session.claim = undefined;
  cutOff(state, session, reasonCodes.takenOver);
  return kept;
}

function createState<R extends RoutedDevice>(parts: BrokerParts<R>): BrokerState<R> {
  const flowControl = createFlowControl<MqttSession>((session) => readOn(state, session));
  const deliveries = createDeliveries(parts);
  const sparkplug = createSparkplugClients({
    intake: parts.sparkplug,
    write: deliveries.write,
    end: (session, because) => endByPlatform(state, session, because),
  });
  const state: BrokerState<R> = {
    parts,
    sessions: new Set(),
    closing: new Set(),
    byKey: new Map(),
    flowControl,
    deadlines: createDeadlines((session, now) => visit(state, session, now)),
    deliveries,
    store: createSessionStore(parts.now),
    logIn: createLoginLimiter(parts),
    publish: createPublishHandler(parts, deliveries, flowControl, sparkplug),
    will: createWillHandler(parts, sparkplug),
    sparkplug,
    readOn: (session) => readOn(state, session),
    isStopping: false,
  };
  return state;
}

function accept<R extends RoutedDevice>(
  state: BrokerState<R>,
  conn: MqttTransport,
  address: string,
  isWebSocket: boolean,
): void {
  const { parts, sessions, closing, deadlines, isStopping } = state;
  // The client may have left while the broker opened.
  if (conn.destroyed) return;
  if (isStopping || sessions.size + closing.size >= mqttLimits.connectionsMax) {
    parts.refused(isStopping ? 'stopping' : 'tooManyConnections', { address });
    conn.on('error', () => undefined);
    conn.destroy();
    return;
  }
  const session = createMqttSession({
    conn,
    framer: new PacketFramer(mqttLimits.loginPacketBytesMax),
    output: new MqttOutput(conn, () => noteStall(state, session)),
    address,
    isWebSocket,
    heardAt: deadlines.now,
  });
  sessions.add(session);
  deadlines.place(session, deadlines.now + session.silenceMax + 1);
  conn.on('error', (error) => fail(state, session, error.message));
  conn.on('drain', () => {
    session.stalledAt = undefined;
    session.output.drained();
    readOn(state, session);
  });
  conn.on('close', () => {
    if (session.state === 'open') parts.ended('closed without a DISCONNECT', aboutSession(session));
    if (!isClosed(session)) endSession(state, session);
    session.output.drained();
    deadlines.remove(session);
    closing.delete(session);
  });
  conn.on('data', (chunk) => {
    if (isClosed(session)) return;
    session.framer.push(chunk);
    readOn(state, session);
  });
  // A transport may wait for its listener.
  conn.resume();
}

function mayRead<R extends RoutedDevice>(
  { flowControl }: BrokerState<R>,
  session: MqttSession,
): boolean {
  const isAwaited = session.state === 'new' || session.state === 'open';
  return isAwaited && !session.isBusy && !session.output.isFull && flowControl.mayRead(session);
}

/** Handles the packets that have arrived, as far as they may be read. */
function readOn<R extends RoutedDevice>(state: BrokerState<R>, session: MqttSession): void {
  if (session.isReading || isClosed(session)) return;
  const { framer, conn } = session;
  session.isReading = true;
  try {
    while (framer.hasUnread && mayRead(state, session)) {
      if (session.state === 'new' && framer.header !== connectHeader)
        throw new MalformedPacket('the first packet is not a CONNECT');
      const bytes = framer.next();
      if (bytes === undefined) break;
      session.heardAt = state.deadlines.now;
      if (session.state === 'new') connect(state, session, bytes);
      else handlePacket(state, session, bytes);
    }
    // What is skipped takes no memory, and is a sign of life.
    if (framer.header !== undefined && !framer.isHolding) session.heardAt = state.deadlines.now;
    if (!isClosed(session) && !state.flowControl.hold(session, framer.heldBytes))
      throw new MalformedPacket('too many packets have arrived in part');
  } catch (error) {
    refusePacket(state, session, error);
  } finally {
    session.isReading = false;
  }
  if (isClosed(session) || session.isPaused === framer.hasUnread) return;
  session.isPaused = framer.hasUnread;
  if (session.isPaused) conn.pause();
  else conn.resume();
}

function noteStall<R extends RoutedDevice>(state: BrokerState<R>, session: MqttSession): void {
  const { deadlines } = state;
  if (session.stalledAt !== undefined || isClosed(session)) return;
  session.stalledAt = deadlines.now;
  deadlines.place(
    session,
    Math.min(session.deadline ?? Number.POSITIVE_INFINITY, drainUntil(session)),
  );
}

function drainUntil({ stalledAt = Number.POSITIVE_INFINITY }: MqttSession): number {
  return stalledAt + mqttLimits.drainWithinMs / second + 1;
}

/** Ends a session that is past its deadline; returns the second of its next visit otherwise. */
function visit<R extends RoutedDevice>(
  state: BrokerState<R>,
  session: MqttSession,
  now: number,
): number | undefined {
  if (isClosed(session)) {
    session.conn.destroy();
    return undefined;
  }
  const heardUntil = session.heardAt + session.silenceMax + 1;
  if (session.state === 'connecting') return now + session.silenceMax;
  const isStalled = now >= drainUntil(session);
  if (isStalled || now >= heardUntil) {
    const silent = session.state === 'new' ? 'connect did not arrive in time' : keepAliveTimeout;
    fail(state, session, isStalled ? 'drain timeout' : silent);
    return undefined;
  }
  releaseConfirmed(session, state.parts.now());
  return Math.min(heardUntil, drainUntil(session));
}
