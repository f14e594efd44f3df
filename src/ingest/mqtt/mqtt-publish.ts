// MQTT publishes: each is checked, stored in order, and acknowledged when it is durable (contract 18).
import { hash } from 'node:crypto';
import { errorMessage } from '../../model/error-message.ts';
import type { EpochMs } from '../../model/instant.ts';
import { Problem } from '../../model/problem.ts';
import type { FlowControl } from './mqtt-flow-control.ts';
import type { Deliveries, OutboundMessage } from './mqtt-messages.ts';
import type { MqttPeers } from './mqtt-peers.ts';
import type { PublishPacket } from './mqtt-packet-reader.ts';
import { messageProperties } from './mqtt-properties.ts';
import type { RetainedSource } from './mqtt-retained.ts';
import { type FindRoute, type RoutedDevice, routeOf } from './mqtt-route.ts';
import type { SparkplugClients } from './mqtt-sparkplug.ts';
import { isSparkplugTopic } from '../sparkplug/sparkplug-topic.ts';
import { type MqttSession, recordAcknowledgement, takeTurn, type Will } from './mqtt-session.ts';
import { type UpTopic, upTopicOf } from './mqtt-topic.ts';

/** What a device published. */
export interface MqttPayload {
  /** Sub-topic, its levels joined with dots; null without one. */
  readonly topic: string | null;
  readonly payload: Buffer;
  /** Tells repetitions of one packet; absent for QoS 0, which is never repeated. */
  readonly duplicateKey?: string;
  /** The sender says that it sent the packet before. */
  readonly isRepeated: boolean;
}

export interface PublishParts<R extends RoutedDevice> {
  readonly findRoute: FindRoute<R>;
  /**
   * Resolves when the payload is durable; rejects when it is not, and then it is not acknowledged.
   * The message is what subscribers get of it; absent for a will.
   */
  readonly store: (route: R, payload: MqttPayload, message?: OutboundMessage) => Promise<void>;
  readonly peers?: Pick<MqttPeers, 'published'> | undefined;
  readonly retained: RetainedSource;
  readonly now: () => EpochMs;
  readonly refused: (reason: string, about: Readonly<Record<string, string>>) => void;
}

type Incoming = Pick<PublishPacket, 'topic' | 'payload' | 'qos' | 'dup' | 'messageId'>;

/** An error as answer ends the connection, and the packet stays unacknowledged. */
export type PublishHandler = (
  session: MqttSession,
  packet: PublishPacket,
  answer: (error?: Error) => void,
) => void;

/** Takes the publishes of all sessions. */
export function createPublishHandler<R extends RoutedDevice>(
  parts: PublishParts<R>,
  deliveries: Deliveries,
  flowControl: Pick<FlowControl<MqttSession>, 'add' | 'remove'>,
  sparkplug: Pick<SparkplugClients, 'take'>,
): PublishHandler {
  return (session, packet, answer) => {
    const payload = bufferOf(packet.payload);
    const up = upTopicOf(packet.topic);
    const levels = up?.levels ?? [];
    const settle = takeTurn(session, answer);
    flowControl.add(session, payload.length);
    const over = (outcome: Error | 'done') => {
      flowControl.remove(session, payload.length);
      settle(outcome);
    };
    const failed = (error: unknown) => over(refusalOf(session, packet.qos, error, parts));
    if (isSparkplugTopic(packet.topic)) {
      takeSparkplug(() => sparkplug.take(session, packet.topic, payload)).then(
        () => over('done'),
        // An internal error. Edge nodes send their births when they connect again.
        (error: unknown) => over(refusalOf(session, 1, error, parts)),
      );
      return;
    }
    const store = (route: R) => {
      const echo = {
        levels,
        payload,
        qos: packet.qos === 0 ? 0 : 1,
        retain: packet.retain,
        properties: messageProperties(packet.properties),
      } as const;
      // An empty retained message is no payload: it only takes back the one before (MQTT-3.3.1-10).
      const isPayload = !(packet.retain && payload.length === 0);
      const handedOn = payloadOf(session, packet, levels, payload);
      recordAcknowledgement(session, handedOn.duplicateKey, parts.now(), 'in progress');
      const stored = isPayload ? parts.store(route, handedOn, echo) : Promise.resolve();
      stored.then(() => {
        recordAcknowledgement(session, handedOn.duplicateKey, parts.now(), 'acknowledged');
        deliveries.echo(route.device.id, echo, session);
        parts.peers?.published(route.device.id, echo, isPayload);
        over('done');
      }, failed);
    };
    inOrder(session, () => routeOf(session, up, parts.findRoute), store, failed);
  };
}

/**
 * Begins the work at once where it can; behind a look-up that takes time, everything of the session
 * waits, so that order is kept.
 */
function inOrder<R>(
  session: MqttSession,
  find: () => R | Promise<R>,
  store: (route: R) => void,
  failed: (error: unknown) => void,
): void {
  let route: R | Promise<R>;
  try {
    route = find();
  } catch (error) {
    // Foreign topics end the connection; those before it may still be answered.
    failed(new ForeignTopic(error));
    return;
  }
  if (session.begun === undefined && !(route instanceof Promise)) return store(route);
  const found = Promise.resolve(route);
  found.catch(() => undefined);
  const begun = Promise.resolve(session.begun)
    .then(() => found)
    .then(store, (error: unknown) => failed(new ForeignTopic(error)))
    .finally(() => {
      if (session.begun === begun) session.begun = undefined;
    });
  session.begun = begun;
}

/** Rejects with a ForeignTopic for a topic of another client. */
async function takeSparkplug(take: () => Promise<void>): Promise<void> {
  let stored: Promise<void>;
  try {
    stored = take();
  } catch (error) {
    throw new ForeignTopic(error);
  }
  await stored;
}

/** The answer to a publish on a topic that does not belong to the login. */
export class RefusedTopic extends Error {}

class ForeignTopic extends Error {
  constructor(cause: unknown) {
    super(errorMessage(cause));
  }
}

/**
 * What is answered to a publish that was not stored. Nobody waits for the answer to QoS 0, so only
 * a foreign topic matters there.
 */
function refusalOf<R extends RoutedDevice>(
  session: MqttSession,
  qos: number,
  error: unknown,
  parts: PublishParts<R>,
): Error | 'done' {
  const { address, clientId } = session;
  const reason = reasonOf(error);
  parts.refused(reason, {
    address,
    clientId,
    reason: errorMessage(error),
  });
  if (error instanceof ForeignTopic) return new RefusedTopic(reason);
  if (qos > 0) return new Error(reason);
  return 'done';
}

function reasonOf(error: unknown): string {
  if (error instanceof ForeignTopic) return 'foreignTopic';
  if (error instanceof Problem) return error.problem;
  return 'internal';
}

function bufferOf(payload: string | Buffer): Buffer {
  if (typeof payload === 'string') return Buffer.from(payload);
  return payload;
}

function payloadOf(
  { key }: MqttSession,
  packet: Incoming,
  levels: UpTopic['levels'],
  payload: Buffer,
): MqttPayload {
  const topic = levels.join('.') || null;
  if (packet.qos === 0 || packet.messageId === undefined)
    return { topic, payload, isRepeated: false };
  const text = `${key}\n${packet.messageId}\n${packet.topic}\n${payload.toString('latin1')}`;
  return {
    topic,
    payload,
    duplicateKey: `mqtt ${hash('sha1', text, 'base64url')}`,
    isRepeated: packet.dup,
  };
}

/** What a device left to be published when its connection breaks. */
export interface WillHandler {
  /** False for a will on a topic of another client. */
  isPermitted(session: MqttSession): Promise<boolean>;
  /** Never rejects its promise. */
  publish(session: MqttSession, will: Will): Promise<void>;
}

export function createWillHandler<R extends RoutedDevice>(
  parts: PublishParts<R>,
  sparkplug: Pick<SparkplugClients, 'checkWill'>,
): WillHandler {
  return {
    async isPermitted(session: MqttSession): Promise<boolean> {
      if (session.will === undefined) return true;
      try {
        const { topic } = session.will;
        if (isSparkplugTopic(topic)) sparkplug.checkWill(session, topic);
        else await routeOf(session, upTopicOf(topic), parts.findRoute);
        return true;
      } catch (error) {
        parts.refused('foreignTopic', {
          address: session.address,
          clientId: session.clientId,
          reason: String(error),
        });
        return false;
      }
    },
    async publish(session: MqttSession, { topic, payload }: Will): Promise<void> {
      // The end of the connection is the death of an edge node, with or without a will.
      if (isSparkplugTopic(topic)) return;
      try {
        const up = upTopicOf(topic);
        const route = await routeOf(session, up, parts.findRoute);
        const packet = { topic, payload, qos: 0, dup: false } as const;
        await parts.store(route, payloadOf(session, packet, up?.levels ?? [], payload));
      } catch (error) {
        refusalOf(session, 0, error, parts);
      }
    },
  };
}
