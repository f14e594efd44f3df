// MQTT broker: aedes reads connections and packets; publishes and subscriptions are decided here (contract 18).
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Aedes, Client } from 'aedes';
import { createFlowControl, type FlowControl } from './mqtt-flow-control.ts';
import { mqttLimits } from './mqtt-limits.ts';
import { createLoginLimiter } from './mqtt-login-limiter.ts';
import { createDeliveries, type Deliveries } from './mqtt-messages.ts';
import { createPublishHandler, createWillHandler } from './mqtt-publish.ts';
import type { RoutedDevice } from './mqtt-route.ts';
import {
  aboutSession,
  createMqttSession,
  discardMessages,
  type MqttSession,
  unconfirmedKeys,
} from './mqtt-session.ts';
import { createSessionStore, type SessionStore } from './mqtt-session-store.ts';
import { answerSubscriptions } from './mqtt-subscriptions.ts';
import type { BrokerParts, BrokerState, Done } from './mqtt-broker-state.ts';

export interface MqttBroker {
  /** Takes over a connection. `request` is the upgrade request of a WebSocket. */
  accept(conn: Duplex, address: string, request?: IncomingMessage): void;
  readonly sessions: ReadonlyMap<Client, MqttSession>;
  readonly deliveries: Deliveries;
  readonly flowControl: FlowControl;
  readonly store: SessionStore;
  /** Ends a connection from the side of the platform, without its will. */
  end(session: MqttSession, because: string): void;
  /** Ends every connection, once its publishes in progress are answered. */
  close(): Promise<void>;
}

/** Starts the broker, which has no port of its own. */
export async function openMqttBroker<R extends RoutedDevice>(
  parts: BrokerParts<R>,
): Promise<MqttBroker> {
  const sessions = new Map<Client, MqttSession>();
  const store = createSessionStore(parts.now, (client, number) => {
    sessions.get(client)?.unacknowledged.get(number)?.('acknowledged');
  });
  const aedes = await openAedes(store);
  const flowControl = createFlowControl();
  const deliveries = createDeliveries(parts.retained, parts.setTimer);
  const state = { aedes, parts, sessions, flowControl, deliveries, store, isStopping: false };
  answerClients(state);
  answerSubscriptions(state);
  reportErrors(state);
  await aedes.listen();
  return {
    accept: (conn, address, request) => accept(state, conn, address, request),
    sessions,
    deliveries,
    flowControl,
    store,
    end: (session, because) => end(session, because, parts),
    async close() {
      state.isStopping = true;
      await flowControl.close();
      for (const session of [...sessions.values()]) end(session, 'stopping', parts);
      await new Promise<void>((resolve) => aedes.close(resolve));
    },
  };
}

/** The library is loaded with the first connection, because it uses memory. */
async function openAedes({ persistence }: SessionStore): Promise<Aedes> {
  const { Aedes: Broker } = await import('aedes');
  const aedes = new Broker({
    persistence,
    queueLimit: mqttLimits.earlyPacketsMax,
    connectTimeout: mqttLimits.connectWithinMs,
    drainTimeout: mqttLimits.drainWithinMs,
    maxTopicLevels: mqttLimits.topicLevelsMax,
    maxInflightInbound: mqttLimits.halfReceivedPerClientMax,
    maxClientsIdLength: mqttLimits.clientIdLengthMax,
  });
  switchOffRouting(aedes);
  return aedes;
}

/**
 * Publishes of devices go to the journal, and messages to devices are written directly, so the
 * library's routing is not used.
 */
function switchOffRouting(aedes: Aedes): void {
  const last = (args: readonly unknown[]) => {
    const done = args.findLast((arg) => typeof arg === 'function') as (() => void) | undefined;
    done?.();
  };
  Object.assign(aedes, {
    publish: (...args: unknown[]) => last(args.slice(1)),
    subscribe: (...[, , done]: unknown[]) => last([done]),
    unsubscribe: (...[, , done]: unknown[]) => last([done]),
  });
}

function accept<R extends RoutedDevice>(
  { aedes, parts, sessions, flowControl, deliveries, isStopping }: BrokerState<R>,
  conn: Duplex,
  address: string,
  request?: IncomingMessage,
): void {
  if (isStopping || sessions.size >= mqttLimits.connectionsMax) {
    parts.refused(isStopping ? 'stopping' : 'tooManyConnections', { address });
    conn.on('error', () => undefined).destroy();
    return;
  }
  const inFlight = flowControl.attach(conn, (why) => {
    parts.refused(why, { address });
    client.emit('error', new Error(why));
  });
  const client = aedes.handle(conn, request);
  const isWebSocket = request !== undefined;
  const session = createMqttSession(client, conn, inFlight, { address, isWebSocket });
  sessions.set(client, session);
  conn.once('close', () => {
    inFlight.close();
    deliveries.removeAll(session);
    discardMessages(session);
    for (const key of unconfirmedKeys(session, parts.now())) parts.doubt(key);
    sessions.delete(client);
  });
}

function end<R extends RoutedDevice>(
  session: MqttSession,
  because: string,
  { ended }: Pick<BrokerParts<R>, 'ended'>,
): void {
  if (session.endedBecause !== undefined) return;
  session.endedBecause = because;
  ended(because, aboutSession(session));
  session.conn.destroy();
}

/** Handles logins and publishes. */
function answerClients<R extends RoutedDevice>(state: BrokerState<R>): void {
  const { aedes, parts, sessions, deliveries } = state;
  const limiter = createLoginLimiter(parts);
  const publish = createPublishHandler(parts, deliveries);
  const will = createWillHandler(parts);
  const closed = new Error('the connection is closed');

  async function logIn(session: MqttSession, name: string, password: string): Promise<void> {
    const rejection = await limiter.authenticate(session, name, password);
    const refused = rejection ?? (await will.refusalOf(session));
    if (refused !== undefined) throw refused;
  }

  aedes.preConnect = (client, packet, done) => {
    const session = sessions.get(client);
    if (session === undefined) return done(closed, false);
    done(limiter.readConnect(session, packet), true);
  };
  aedes.authenticate = (client, userName, password, done) => {
    const session = sessions.get(client);
    const answer = done as Done<boolean>;
    if (session === undefined) return answer(null, false);
    logIn(session, userName ?? '', password?.toString() ?? '').then(
      () => answer(null, true),
      (refused: Error) => answer(refused, false),
    );
  };
  aedes.authorizePublish = (client, packet, done) => {
    if (client === null) return done(closed);
    const session = sessions.get(client);
    if (session === undefined || session.endedBecause !== undefined) return done(closed);
    if (!session.client.closed) return publish(session, packet, done);
    // A closed client has only its will left, of which the library gets no answer.
    void will.publish(session, packet);
    done(closed);
  };
  aedes.authorizeForward = (client, packet) => {
    if (packet.qos === 0) return packet;
    const number = sessions.get(client)?.numbers.shift();
    if (number !== undefined) packet.messageId = number;
    return packet;
  };
}

function reportErrors<R extends RoutedDevice>({ aedes, parts, sessions }: BrokerState<R>): void {
  aedes.on('clientError', (client, error) => {
    const session = sessions.get(client);
    if (session !== undefined && session.endedBecause === undefined)
      parts.ended(error.message, aboutSession(session));
  });
  aedes.on('connectionError', (client, error) => {
    const address = sessions.get(client)?.address ?? '';
    parts.refused('malformed', { reason: error.message, address });
  });
}
