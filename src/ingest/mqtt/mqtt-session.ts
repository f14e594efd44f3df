// MQTT session: identity and subscriptions of one connection, and the order in which its publishes are answered.
import type { Duplex } from 'node:stream';
import type { Client } from 'aedes';
import type { InFlightTracker } from './mqtt-flow-control.ts';
import { mqttLimits } from './mqtt-limits.ts';
import type { EpochMs } from '../../model/instant.ts';
import type { MqttIdentity } from './mqtt-login.ts';
import type { TopicFilter } from './mqtt-topic.ts';

export type DeliveryOutcome = 'sent' | 'acknowledged' | 'offline';

/** A subscription to topics of one device. */
export interface DeviceSubscription {
  readonly filter: TopicFilter;
  /** Service device id. */
  readonly id: string;
  readonly qos: 0 | 1;
}

interface Turn {
  readonly answer: (error?: Error) => void;
  outcome: Error | 'done' | undefined;
}

export interface MqttSession {
  readonly client: Client;
  readonly conn: Duplex;
  readonly inFlight: InFlightTracker;
  /** Remote address. */
  readonly address: string;
  readonly isWebSocket: boolean;
  clientId: string;
  /** Topic of the message that is published when the connection breaks. */
  willTopic: string | undefined;
  identity: MqttIdentity | undefined;
  /** Why the platform ended the connection. Its will is not published then. */
  endedBecause: string | undefined;
  /** Subscriptions by topic filter. */
  readonly subscriptions: Map<string, DeviceSubscription>;
  /** Devices that were sent their configuration over this connection. */
  readonly configured: Set<string>;
  /** Work that must have begun before the next publish may begin. */
  begun: Promise<unknown> | undefined;
  /** Publishes whose answers are due, in the order they came (MQTT-4.6.0-2). */
  readonly turns: Turn[];
  /**
   * Keys of publishes in progress, and of the last acknowledged ones with the time of the
   * acknowledgement.
   */
  readonly acknowledgedKeys: Map<string, EpochMs | undefined>;
  /** Message numbers for the messages that are about to be written. */
  readonly numbers: number[];
  /** Messages written and not acknowledged, by number. */
  readonly unacknowledged: Map<number, (outcome: DeliveryOutcome) => void>;
  lastNumber: number;
}

export function createMqttSession(
  client: Client,
  conn: Duplex,
  inFlight: InFlightTracker,
  from: Pick<MqttSession, 'address' | 'isWebSocket'>,
): MqttSession {
  return {
    client,
    conn,
    inFlight,
    ...from,
    clientId: '',
    willTopic: undefined,
    identity: undefined,
    endedBecause: undefined,
    subscriptions: new Map(),
    configured: new Set(),
    begun: undefined,
    turns: [],
    acknowledgedKeys: new Map(),
    numbers: [],
    unacknowledged: new Map(),
    lastNumber: 0,
  };
}

/** Reserves the next answer. The returned function sends it, after all answers before it. */
export function takeTurn(
  session: MqttSession,
  answer: Turn['answer'],
): (outcome: Error | 'done') => void {
  const turn: Turn = { answer, outcome: undefined };
  session.turns.push(turn);
  return (outcome) => {
    turn.outcome = outcome;
    for (let next = session.turns[0]; next?.outcome !== undefined; next = session.turns[0]) {
      session.turns.shift();
      // An answer to a closed connection would only be one more error.
      if (session.client.closed) continue;
      if (next.outcome === 'done') next.answer();
      else next.answer(next.outcome);
    }
  };
}

/**
 * A message number that is not in use; undefined when too many messages wait for their
 * acknowledgement.
 */
export function nextNumber(session: MqttSession): number | undefined {
  if (session.unacknowledged.size >= mqttLimits.outboundPerClientMax) return undefined;
  do session.lastNumber = (session.lastNumber % 65_535) + 1;
  while (session.unacknowledged.has(session.lastNumber));
  return session.lastNumber;
}

/** Records that a publish is in progress, or that it was acknowledged. */
export function recordAcknowledgement(
  { acknowledgedKeys }: MqttSession,
  key: string | undefined,
  now: EpochMs,
  state: 'in progress' | 'acknowledged',
): void {
  if (key === undefined) return;
  acknowledgedKeys.delete(key);
  acknowledgedKeys.set(key, state === 'acknowledged' ? now : undefined);
  for (const [oldest, at] of acknowledgedKeys) {
    const isSettled = at !== undefined && at <= now - mqttLimits.confirmedAfterMs;
    if (!isSettled && acknowledgedKeys.size <= mqttLimits.unconfirmedPerClientMax) return;
    acknowledgedKeys.delete(oldest);
  }
}

/**
 * Keys of publishes whose acknowledgement the client may not have received. Call after the
 * connection was closed.
 */
export function unconfirmedKeys({ acknowledgedKeys, client }: MqttSession, now: EpochMs): string[] {
  // A client that sends DISCONNECT has received everything before.
  const { _disconnected: hasDisconnected } = client as { readonly _disconnected?: boolean };
  const since = hasDisconnected ? now : now - mqttLimits.confirmedAfterMs;
  return [...acknowledgedKeys]
    .filter(([, at]) => at === undefined || at > since)
    .map(([key]) => key);
}

/** Call after the connection was closed, because then nothing is acknowledged any more. */
export function discardMessages(session: MqttSession): void {
  for (const settle of [...session.unacknowledged.values()]) settle('offline');
  session.unacknowledged.clear();
}

/** Fields of a log line about the session. */
export function aboutSession(session: MqttSession): Readonly<Record<string, string>> {
  const { address, clientId, identity } = session;
  if (identity === undefined) return { address, clientId };
  if (identity.mode === 'token') return { address, clientId, device: identity.id };
  return { address, clientId, connector: identity.connectorId };
}
