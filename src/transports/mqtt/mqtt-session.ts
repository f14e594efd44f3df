// MQTT session: one connection, its identity and subscriptions, its devices by topic, and the order of its answers.
import type { MessageProperties } from './mqtt-properties.ts';
import type { EpochMs } from '../../model/instant.ts';
import { problem } from '../../model/problem.ts';
import type { SparkplugClient } from '../sparkplug/sparkplug-topic.ts';
import { type Dated, mqttLimits } from './mqtt-limits.ts';
import type { Flowing } from './mqtt-flow-control.ts';
import type { MqttIdentity } from './mqtt-login.ts';
import type { PacketFramer, ProtocolLevel } from './mqtt-packet-reader.ts';
import { tokenTopicKey, type TopicFilter } from './mqtt-topic.ts';
import type { MqttTransport } from './mqtt-listeners.ts';
import { SharedPool } from '../../structures/shared-pool.ts';

export type DeliveryOutcome = 'sent' | 'acknowledged' | 'offline';

/** A subscription to topics of one device. */
export interface DeviceSubscription {
  readonly filter: TopicFilter;
  /** Service device id. */
  readonly id: string;
  readonly qos: 0 | 1;
  /** Options of MQTT 5: messages of the client itself are not sent to it. */
  readonly noLocal?: boolean | undefined;
  /** Retained messages keep their flag in its messages. */
  readonly retainAsPublished?: boolean | undefined;
}

/** Message that is published when the connection breaks. */
export interface Will {
  readonly topic: string;
  readonly payload: Buffer;
  readonly properties: MessageProperties | undefined;
}

interface Turn {
  readonly answer: (error?: Error) => void;
  outcome: Error | 'done' | undefined;
}

/**
 * `new` until the CONNECT, then `connecting` until its answer. After `closed` nothing more is read
 * or written.
 */
type SessionState = 'new' | 'connecting' | 'open' | 'closed';

/** An idle one must be small: what only some need is created when they need it. */
export class MqttSession implements Dated, Flowing {
  readonly conn: MqttTransport;
  readonly framer: PacketFramer;
  readonly output: MqttOutput;
  /** Remote address. */
  readonly address: string;
  readonly isWebSocket: boolean;
  /** Its network until the login, then its organization. */
  owner: string;
  /** Second of the deadlines in which the last packet was received. */
  heardAt: number;
  state: SessionState = 'new';
  level: ProtocolLevel = 4;
  clientId = '';
  /** Client id that is unique among all connectors. */
  key = '';
  /** Whether the client begins without the session that it had. */
  isClean = true;
  /** How long the session outlives the connection; 0 when it does not. */
  keptForMs = 0;
  /** What a client of MQTT 5 takes. */
  receiveMax: number = mqttLimits.outboundPerClientMax;
  packetBytesMax = Number.POSITIVE_INFINITY;
  will: Will | undefined;
  identity: MqttIdentity | undefined;
  /** With several nodes: the workspace of the client, which this node serves. */
  workspaceId: string | undefined;
  /** Whether the client has sent a DISCONNECT. */
  isDisconnected = false;
  /** Why the platform ended the connection. Its will is not published then. */
  endedBecause: string | undefined;
  /** Whether a packet is in progress before which no further one may be read. */
  isBusy = false;
  isReading = false;
  isPaused = false;
  /** Seconds without a packet after which the connection is ended. */
  silenceMax = mqttLimits.connectWithinMs / 1_000;
  /** Second of the deadlines since which the client has not taken anything. */
  stalledAt: number | undefined;
  deadline: number | undefined;
  inFlight = 0;
  inFlightBytes = 0;
  /** Whether it counts as a connection of its organization. */
  isCounted = false;
  /** Second of the deadlines since which a packet has arrived in part. */
  partialSince: number | undefined;
  /** Subscriptions by topic filter. */
  readonly subscriptions = new Map<string, DeviceSubscription>();
  /** Of a connector for Sparkplug, when the client has named its edge node. */
  sparkplug: SparkplugClient | undefined;
  /** Devices that were sent their configuration over this connection. */
  configured: Set<string> | undefined;
  /** Work that must have begun before the next publish may begin. */
  begun: Promise<unknown> | undefined;
  /** Numbers of QoS 2 packets between their two steps, and whether their payload is durable. */
  halfReceived: Map<number, 'in progress' | 'durable'> | undefined;
  /** Messages written and not acknowledged, by number. */
  unacknowledged: Map<number, (outcome: DeliveryOutcome) => void> | undefined;
  /** Publishes whose answers are due, in the order they came (MQTT-4.6.0-2). */
  #turns: Turn[] | undefined;
  /**
   * Keys of publishes in progress, and of the last acknowledged ones with the time of the
   * acknowledgement.
   */
  #acknowledgedKeys: Map<string, EpochMs | undefined> | undefined;
  #lastNumber = 0;

  constructor(
    from: Pick<
      MqttSession,
      'conn' | 'framer' | 'output' | 'address' | 'owner' | 'isWebSocket' | 'heardAt'
    >,
  ) {
    this.conn = from.conn;
    this.framer = from.framer;
    this.output = from.output;
    this.address = from.address;
    this.isWebSocket = from.isWebSocket;
    this.owner = from.owner;
    this.heardAt = from.heardAt;
  }

  /** For code after an `await`, during which the state may have changed. */
  isOpen(): boolean {
    return this.state === 'open';
  }

  isClosed(): boolean {
    return this.state === 'closed';
  }

  /** Reserves the next answer. The returned function sends it, after all answers before it. */
  takeTurn(answer: Turn['answer']): (outcome: Error | 'done') => void {
    const turn: Turn = { answer, outcome: undefined };
    const turns = (this.#turns ??= []);
    turns.push(turn);
    return (outcome) => {
      turn.outcome = outcome;
      for (let next = turns[0]; next?.outcome !== undefined; next = turns[0]) {
        turns.shift();
        // An answer to a closed connection would only be one more error.
        if (this.isClosed()) continue;
        if (next.outcome === 'done') next.answer();
        else next.answer(next.outcome);
      }
      if (turns.length === 0 && this.#turns === turns) this.#turns = undefined;
    };
  }

  /**
   * A message number that is not in use; undefined when too many messages wait for their
   * acknowledgement.
   */
  nextNumber(): number | undefined {
    const { unacknowledged } = this;
    if ((unacknowledged?.size ?? 0) >= this.receiveMax) return undefined;
    do this.#lastNumber = (this.#lastNumber % 65_535) + 1;
    while (unacknowledged?.has(this.#lastNumber));
    return this.#lastNumber;
  }

  /** Records that a publish is in progress, or that it was acknowledged. */
  recordAcknowledgement(
    key: string | undefined,
    now: EpochMs,
    state: 'in progress' | 'acknowledged',
  ): void {
    if (key === undefined) return;
    const keys = (this.#acknowledgedKeys ??= new Map());
    keys.delete(key);
    keys.set(key, state === 'acknowledged' ? now : undefined);
    for (const [oldest, at] of keys) {
      if (!isConfirmed(at, now) && keys.size <= mqttLimits.unconfirmedPerClientMax) return;
      keys.delete(oldest);
    }
  }

  /** Releases the memory of publishes that are no longer in doubt. */
  releaseConfirmed(now: EpochMs): void {
    for (const at of this.#acknowledgedKeys?.values() ?? []) if (!isConfirmed(at, now)) return;
    this.#acknowledgedKeys = undefined;
  }

  /**
   * Keys of publishes whose acknowledgement the client may not have received. Call after the
   * connection was closed.
   */
  unconfirmedKeys(now: EpochMs): string[] {
    // A client that sends DISCONNECT has received everything before.
    const since = this.isDisconnected ? now : now - mqttLimits.confirmedAfterMs;
    return [...(this.#acknowledgedKeys ?? [])]
      .filter(([, at]) => at === undefined || at > since)
      .map(([key]) => key);
  }

  /** Call after the connection was closed, because then publishes are no longer acknowledged. */
  discardMessages(): void {
    for (const settle of [...(this.unacknowledged?.values() ?? [])]) settle('offline');
    this.unacknowledged = undefined;
  }

  /** What is kept once the connection has ended; undefined when it leaves nothing. */
  kept(now: EpochMs): KeptSession | undefined {
    const { subscriptions, halfReceived, keptForMs } = this;
    if (keptForMs === 0) return undefined;
    const numbers = [...(halfReceived ?? [])]
      .filter(([, state]) => state === 'durable')
      .map(([number]) => number);
    if (subscriptions.size + numbers.length === 0) return undefined;
    return {
      subscriptions: [...subscriptions].map(([topic, { filter: _, id: __, ...options }]) => ({
        topic,
        ...options,
      })),
      halfReceived: numbers,
      keptAt: now,
      until: now + keptForMs,
    };
  }

  /** Fields of a log line about the session. */
  about(): Readonly<Record<string, string>> {
    const { address, clientId, identity } = this;
    if (identity === undefined) return { address, clientId };
    if (identity.mode === 'token') return { address, clientId, device: identity.id };
    return { address, clientId, connector: identity.connectorId };
  }
}

function isConfirmed(acknowledgedAt: EpochMs | undefined, now: EpochMs): boolean {
  return acknowledgedAt !== undefined && acknowledgedAt <= now - mqttLimits.confirmedAfterMs;
}

// MQTT routes: the device of a topic, if the connection may use it (contract 18, 35).

/** Where a device's payloads go; what else it holds is the caller's. */
export interface RoutedDevice {
  readonly device: { readonly id: string; readonly deviceId: string };
}

/** Throws when there is no such device, or when it is another's. */
export type FindRoute<R extends RoutedDevice> = (
  identity: MqttIdentity,
  deviceId: string,
) => R | Promise<R>;

/** The topic has a secret that is not that of the connection, or a token is that of another device. */
export class ForeignSecret extends Error {}

/**
 * Throws or rejects for a topic that is not the connection's: ForeignSecret, or the Problem of what
 * is wrong with it.
 */
export function routeOf<R extends RoutedDevice>(
  { identity }: MqttSession,
  topic: { readonly key: string; readonly deviceId: string } | undefined,
  findRoute: FindRoute<R>,
): R | Promise<R> {
  if (topic === undefined || identity === undefined)
    throw problem('mqttTopicInvalid', { reason: 'it has another form' });
  const { key, deviceId } = topic;
  if (key !== topicKeyOf(identity)) {
    if (key !== tokenTopicKey) throw new ForeignSecret('the topic has another secret');
    const reason = 'its form is that of clients with a token';
    throw problem('mqttTopicInvalid', { reason });
  }
  if (identity.mode === 'token' && deviceId !== identity.deviceId)
    throw new ForeignSecret('the token is that of another device');
  return findRoute(identity, deviceId);
}

function topicKeyOf(identity: MqttIdentity): string {
  if (identity.mode === 'secret') return identity.secret;
  return tokenTopicKey;
}

// MQTT session store: subscriptions and QoS 2 packets of clients whose session outlives their connection.

interface KeptSubscription extends Pick<DeviceSubscription, 'noLocal' | 'retainAsPublished'> {
  readonly topic: string;
  readonly qos: 0 | 1;
}

/** What a client finds again when it reconnects. */
export interface KeptSession {
  /** Topic filters with their QoS. */
  readonly subscriptions: readonly KeptSubscription[];
  /** Numbers of QoS 2 packets whose payload is durable and whose second step is due. */
  readonly halfReceived: readonly number[];
  readonly keptAt: EpochMs;
  /** When it ends, as the client wanted. */
  readonly until: EpochMs;
}

export class SessionStore {
  readonly #now: () => EpochMs;
  // From the oldest to the newest.
  readonly #kept = new Map<string, KeptSession>();
  readonly #shares = new SharedPool<string>({
    max: mqttLimits.sessionsKeptMax * mqttLimits.sessionKeptBytes,
    giveWay: (key) => void this.#kept.delete(key),
  });

  constructor(now: () => EpochMs) {
    this.#now = now;
  }

  get size(): number {
    return this.#kept.size;
  }

  get(key: string): KeptSession | undefined {
    const session = this.#kept.get(key);
    return session !== undefined && session.until > this.#now() ? session : undefined;
  }

  /** `owner` has the share that it takes: without one, the connector of the key. */
  set(key: string, session: KeptSession, owner: string = key.replace(/\/.*/s, '')): void {
    this.delete(key);
    this.#kept.set(key, session);
    if (!this.#shares.hold(owner, key, bytesOf(session))) this.#kept.delete(key);
  }

  delete(key: string): void {
    this.#kept.delete(key);
    this.#shares.release(key);
  }

  keys(): readonly string[] {
    return [...this.#kept.keys()];
  }

  /** Forgets the session and returns it. */
  take(key: string): KeptSession | undefined {
    const session = this.get(key);
    this.delete(key);
    return session;
  }

  /** Drops sessions whose client did not come back in time. */
  dropOld(): void {
    const before = this.#now() - mqttLimits.sessionKeptMs;
    for (const [key, { keptAt }] of this.#kept) {
      if (keptAt > before) return;
      this.delete(key);
    }
  }
}

/** Memory of a subscription apart from its topic, roughly. */
const subscriptionBytes = 150;

function bytesOf({ subscriptions }: KeptSession): number {
  const bytes = subscriptions.reduce((sum, { topic }) => sum + topic.length + subscriptionBytes, 0);
  return Math.max(bytes, mqttLimits.sessionKeptBytes);
}

// MQTT output: packets of one turn of the event loop leave a connection in one write.

/** One for each connection. */
export class MqttOutput {
  readonly #conn: MqttTransport;
  readonly #stalled: () => void;
  #unsent: Buffer[] | undefined;
  #waiting: (() => void)[] | undefined;

  /** `stalled` is called when the client takes nothing more for now. */
  constructor(conn: MqttTransport, stalled: () => void) {
    this.#conn = conn;
    this.#stalled = stalled;
  }

  /** Whether the client should take something before more is read from it. */
  get isFull(): boolean {
    return this.#conn.writableNeedDrain;
  }

  /** Whether no further message may wait for this client. */
  get isOverfull(): boolean {
    const unsent = this.#unsent?.reduce((sum, { length }) => sum + length, 0) ?? 0;
    return this.#conn.writableLength + unsent > mqttLimits.unsentBytesMax;
  }

  write(bytes: Buffer): void {
    if (this.#unsent !== undefined) {
      this.#unsent.push(bytes);
      return;
    }
    this.#unsent = [bytes];
    // Runs after the promises of this turn, which settle more packets.
    process.nextTick(flush, this);
  }

  flush(): void {
    const unsent = this.#unsent;
    this.#unsent = undefined;
    if (unsent === undefined || this.#conn.destroyed) return;
    const bytes = unsent.length === 1 ? unsent[0]! : Buffer.concat(unsent);
    if (!this.#conn.write(bytes)) this.#stalled();
  }

  /** Resolves when the transport has taken everything, or is closed. */
  async written(): Promise<void> {
    this.flush();
    if (!this.#conn.writableNeedDrain || this.#conn.destroyed) return;
    await new Promise<void>((resolve) => {
      this.#waiting ??= [];
      this.#waiting.push(resolve);
    });
  }

  /** Call when the transport has drained or closed. */
  drained(): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    for (const resolve of waiting ?? []) resolve();
  }
}

function flush(output: MqttOutput): void {
  output.flush();
}
