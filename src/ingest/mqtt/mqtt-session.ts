// One MQTT connection: who it is, what it subscribed to, and the order in which its publishes are answered.
import type { Duplex } from 'node:stream';
import type { Client } from 'aedes';
import type { Passage } from './mqtt-flow-control.ts';
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
  readonly passage: Passage;
  /** Remote address. */
  readonly address: string;
  readonly isWebSocket: boolean;
  clientId: string;
  /** Topic of the message that is published when the connection breaks. */
  willTopic: string | undefined;
  identity: MqttIdentity | undefined;
  /** Why we ended it; then its will is no news of the device. */
  endedBecause: string | undefined;
  /** By the filter's text. */
  readonly subscriptions: Map<string, DeviceSubscription>;
  /** Devices that were sent their configuration over this connection. */
  readonly configured: Set<string>;
  /** What must have begun before the next publish may begin. */
  begun: Promise<unknown> | undefined;
  /** Publishes whose answers are due, in the order they came (MQTT-4.6.0-2). */
  readonly turns: Turn[];
  /** Keys of publishes under way, and of those acknowledged last with the time of it. */
  readonly heard: Map<string, EpochMs | undefined>;
  /** Message numbers for the messages that are about to be written. */
  readonly numbers: number[];
  /** Messages written and not acknowledged, by number. */
  readonly unacknowledged: Map<number, (outcome: DeliveryOutcome) => void>;
  lastNumber: number;
}

export function newSession(
  client: Client,
  conn: Duplex,
  passage: Passage,
  from: Pick<MqttSession, 'address' | 'isWebSocket'>,
): MqttSession {
  return {
    client,
    conn,
    passage,
    ...from,
    clientId: '',
    willTopic: undefined,
    identity: undefined,
    endedBecause: undefined,
    subscriptions: new Map(),
    configured: new Set(),
    begun: undefined,
    turns: [],
    heard: new Map(),
    numbers: [],
    unacknowledged: new Map(),
    lastNumber: 0,
  };
}

/** Reserves the next answer; the returned function gives it, once those before it were given. */
export function takeTurn(
  session: MqttSession,
  answer: Turn['answer'],
): (outcome: Error | 'done') => void {
  const turn: Turn = { answer, outcome: undefined };
  session.turns.push(turn);
  return (outcome) => {
    turn.outcome = outcome;
    while (session.turns[0]?.outcome !== undefined) {
      const next = session.turns.shift()!;
      // Nobody listens any more, and an answer would only be one more error.
      if (session.client.closed) continue;
      if (next.outcome === 'done') next.answer();
      else next.answer(next.outcome);
    }
  };
}

/** A message number that is not in use; undefined when too many messages wait for their acknowledgement. */
export function nextNumber(session: MqttSession): number | undefined {
  if (session.unacknowledged.size >= mqttLimits.outboundPerClientMax) return undefined;
  do session.lastNumber = (session.lastNumber % 65_535) + 1;
  while (session.unacknowledged.has(session.lastNumber));
  return session.lastNumber;
}

/** Notes that a publish is under way, or that it was acknowledged. */
export function noteHeard(
  { heard }: MqttSession,
  key: string | undefined,
  now: EpochMs,
  what: 'under way' | 'acknowledged',
): void {
  if (key === undefined) return;
  heard.delete(key);
  heard.set(key, what === 'acknowledged' ? now : undefined);
  for (const [oldest, at] of heard) {
    const isSettled = at !== undefined && at <= now - mqttLimits.heardWithinMs;
    if (!isSettled && heard.size <= mqttLimits.heardPerClientMax) return;
    heard.delete(oldest);
  }
}

/** The keys of publishes of which the client may not know that they were stored, once its connection is gone. */
export function unheardOf({ heard, client }: MqttSession, now: EpochMs): string[] {
  // Whoever takes leave has heard what was said to it.
  const tookLeave = (client as { readonly _disconnected?: boolean })._disconnected === true;
  const since = tookLeave ? now : now - mqttLimits.heardWithinMs;
  return [...heard].filter(([, at]) => at === undefined || at > since).map(([key]) => key);
}

/** To be called when the connection is gone: nobody will acknowledge what is still out. */
export function abandon(session: MqttSession): void {
  for (const settle of [...session.unacknowledged.values()]) settle('offline');
  session.unacknowledged.clear();
}
