// The MQTT broker: connections, logins and packets are aedes's work; what becomes of publishes and subscriptions is decided here.
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Aedes, Client, Subscription } from 'aedes';
import { createDeliveries, type Deliveries } from './mqtt-messages.ts';
import { createGate, type Gate } from './mqtt-flow-control.ts';
import { mqttLimits } from './mqtt-limits.ts';
import type { Login, LoginOutcome } from './mqtt-login.ts';
import { type LoginDesk, loginDesk } from './mqtt-login-limiter.ts';
import { type PublishParts, publishOf, willOf } from './mqtt-publish.ts';
import {
  abandon,
  type DeviceSubscription,
  type MqttSession,
  newSession,
  unheardOf,
} from './mqtt-session.ts';
import { type SessionStore, sessionStore } from './mqtt-session-store.ts';
import { topicFilterOf } from './mqtt-topic.ts';
import { type RoutedDevice, routeOf } from './mqtt-route.ts';
import type { SetTimer } from '../../structures/timers.ts';

export interface BrokerParts<R extends RoutedDevice> extends PublishParts<R> {
  readonly logIn: (address: string, login: Login) => Promise<LoginOutcome>;
  /** Counts a WebSocket until its connection closes; false when the organization may have no more. */
  readonly countWebSocket: (organizationId: string, conn: Duplex) => boolean;
  /** A session can be sent messages of the device from now on; told once per session and device and kind of topic. */
  readonly reachable: (session: MqttSession, subscription: DeviceSubscription) => void;
  readonly refused: (reason: string, about: Readonly<Record<string, string>>) => void;
  readonly ended: (reason: string, about: Readonly<Record<string, string>>) => void;
  /** The client may not have heard that the publish with this key was stored. */
  readonly doubt: (duplicateKey: string) => void;
  readonly schedule: SetTimer;
}

export interface MqttBroker {
  /** Takes over a connection. `request` is the upgrade request of a WebSocket. */
  accept(conn: Duplex, address: string, request?: IncomingMessage): void;
  readonly sessions: ReadonlyMap<Client, MqttSession>;
  readonly deliveries: Deliveries;
  readonly gate: Gate;
  readonly store: SessionStore;
  /** Ends a connection from our side, without its will. */
  end(session: MqttSession, because: string): void;
  /** Ends every connection, once what it has under way is answered. */
  close(): Promise<void>;
}

/** How a question of the broker is answered. */
type Done<T> = (error: Error | null, answer: T | null) => void;

/** Starts the broker; it has no port of its own. */
export async function openMqttBroker<R extends RoutedDevice>(
  parts: BrokerParts<R>,
): Promise<MqttBroker> {
  // Loaded with the first connection: an installation without MQTT devices saves its memory.
  const { Aedes: Broker } = await import('aedes');
  const sessions = new Map<Client, MqttSession>();
  const gate = createGate();
  const deliveries = createDeliveries(parts.retained, parts.schedule);
  const store = sessionStore(parts.now, (client, number) => {
    sessions.get(client)?.unacknowledged.get(number)?.('acknowledged');
  });
  const desk = loginDesk(parts);
  const aedes = new Broker({
    persistence: store.persistence,
    queueLimit: mqttLimits.earlyPacketsMax,
    connectTimeout: mqttLimits.connectWithinMs,
    drainTimeout: mqttLimits.drainWithinMs,
    maxTopicLevels: mqttLimits.topicLevelsMax,
    maxInflightInbound: mqttLimits.halfReceivedPerClientMax,
    maxClientsIdLength: mqttLimits.clientIdLengthMax,
  });
  routeNothing(aedes);
  answerClients(aedes, sessions, deliveries, store, desk, parts);
  await aedes.listen();
  let stopping = false;

  const end = (session: MqttSession, because: string) => {
    if (session.endedBecause !== undefined) return;
    session.endedBecause = because;
    parts.ended(because, about(session));
    session.conn.destroy();
  };

  function accept(conn: Duplex, address: string, request?: IncomingMessage): void {
    if (stopping || sessions.size >= mqttLimits.connectionsMax) {
      parts.refused(stopping ? 'stopping' : 'tooManyConnections', { address });
      conn.on('error', () => undefined).destroy();
      return;
    }
    const passage = gate.stand(conn, (why) => {
      parts.refused(why, { address });
      client.emit('error', new Error(why));
    });
    const client = aedes.handle(conn, request);
    const session = newSession(client, conn, passage, {
      address,
      isWebSocket: request !== undefined,
    });
    sessions.set(client, session);
    conn.once('close', () => {
      passage.close();
      deliveries.removeAll(session);
      abandon(session);
      for (const key of unheardOf(session, parts.now())) parts.doubt(key);
      sessions.delete(client);
    });
  }

  return {
    accept,
    sessions,
    deliveries,
    gate,
    store,
    end,
    async close() {
      stopping = true;
      await gate.close();
      for (const session of [...sessions.values()]) end(session, 'stopping');
      await new Promise<void>((resolve) => aedes.close(resolve));
    },
  };
}

/** The broker's own routing is not used: what devices publish goes to the journal, and messages to them are written directly. */
function routeNothing(aedes: Aedes): void {
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

function answerClients<R extends RoutedDevice>(
  aedes: Aedes,
  sessions: ReadonlyMap<Client, MqttSession>,
  deliveries: Deliveries,
  store: SessionStore,
  desk: LoginDesk,
  parts: BrokerParts<R>,
): void {
  const publish = publishOf(parts, deliveries);
  const will = willOf(parts);
  const nobody = new Error('the connection is gone');

  aedes.preConnect = (client, packet, done) => {
    const session = sessions.get(client);
    if (session === undefined) return done(nobody, false);
    done(desk.greet(session, packet), true);
  };
  const logIn = async (
    session: MqttSession,
    userName: string,
    password: string,
    done: Done<boolean>,
  ) => {
    const refused =
      (await desk.check(session, userName, password)) ?? (await will.refusalOf(session));
    done(refused ?? null, refused === undefined);
  };
  aedes.authenticate = (client, userName, password, done) => {
    const session = sessions.get(client);
    if (session === undefined) done(null, false);
    else void logIn(session, userName ?? '', password?.toString() ?? '', done as Done<boolean>);
  };
  aedes.authorizePublish = (client, packet, done) => {
    const session = client === null ? undefined : sessions.get(client);
    if (session === undefined || session.endedBecause !== undefined) return done(nobody);
    if (!session.client.closed) return publish(session, packet, done);
    // After its end a client has only its will left, and the broker need not hear of that.
    void will.publish(session, packet);
    done(nobody);
  };
  aedes.authorizeForward = (client, packet) => {
    const number = packet.qos > 0 ? sessions.get(client)?.numbers.shift() : undefined;
    if (number !== undefined) packet.messageId = number;
    return packet;
  };
  answerSubscriptions(aedes, sessions, deliveries, store, parts);
  aedes.on('clientError', (client, error) => {
    const session = sessions.get(client);
    if (session !== undefined && session.endedBecause === undefined)
      parts.ended(error.message, about(session));
  });
  aedes.on('connectionError', (client, error) => {
    parts.refused('malformed', {
      reason: error.message,
      address: sessions.get(client)?.address ?? '',
    });
  });
}

function answerSubscriptions<R extends RoutedDevice>(
  aedes: Aedes,
  sessions: ReadonlyMap<Client, MqttSession>,
  deliveries: Deliveries,
  store: SessionStore,
  parts: BrokerParts<R>,
): void {
  async function subscriptionOf(
    session: MqttSession,
    { topic, qos }: Subscription,
  ): Promise<DeviceSubscription> {
    const filter = topicFilterOf(topic);
    if (filter === undefined) throw new Error('not a topic of one device');
    if (session.subscriptions.size >= mqttLimits.subscriptionsPerClientMax)
      throw new Error('too many subscriptions');
    const { device } = await routeOf(session, filter, parts.findRoute);
    return { filter, id: device.id, qos: qos > 0 ? 1 : 0 };
  }

  const subscribe = async (
    session: MqttSession,
    wanted: Subscription,
    done: Done<Subscription>,
  ) => {
    try {
      const subscription = await subscriptionOf(session, wanted);
      if (!session.client.closed) deliveries.add(session, wanted.topic, subscription);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      parts.refused('foreignSubscription', { ...about(session), reason });
      return done(null, null);
    }
    done(null, wanted);
  };
  aedes.authorizeSubscribe = (client, wanted, done) => {
    const session = sessions.get(client);
    if (session === undefined) done(null, null);
    else void subscribe(session, wanted, done);
  };
  const begin = (session: MqttSession, filterText: string, isRestored: boolean) => {
    const subscription = session.subscriptions.get(filterText);
    if (subscription === undefined) return;
    if (!isRestored) deliveries.sendRetained(session, subscription);
    parts.reachable(session, subscription);
  };
  aedes.on('subscribe', (subscriptions, client) => {
    const session = sessions.get(client);
    if (session === undefined) return;
    for (const { topic, qos } of subscriptions) {
      if (!client.clean && session.subscriptions.has(topic))
        store.subscribed(client.id, { topic, qos });
      begin(session, topic, false);
    }
  });
  aedes.on('clientReady', (client) => {
    const session = sessions.get(client);
    if (session !== undefined)
      for (const topic of [...session.subscriptions.keys()]) begin(session, topic, true);
  });
  aedes.on('unsubscribe', (topics, client) => {
    const session = sessions.get(client);
    if (session !== undefined) for (const topic of topics) deliveries.remove(session, topic);
  });
}

function about({ address, clientId, identity }: MqttSession): Readonly<Record<string, string>> {
  const who =
    identity === undefined
      ? {}
      : identity.mode === 'token'
        ? { device: identity.id }
        : { connector: identity.connectorId };
  return { address, clientId, ...who };
}
