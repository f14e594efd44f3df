// MQTT publishes: each is checked, stored in order, and acknowledged when it is durable (contract 18).
import { hash } from 'node:crypto';
import type { EpochMs } from '../../model/instant.ts';
import { errorMessage, problem, Problem } from '../../model/problem.ts';
import { refusalReasonOf, type SentHints } from '../../model/uplink.ts';
import { isSparkplugTopic } from '../sparkplug/sparkplug-topic.ts';
import type { FlowControl } from './mqtt-flow-control.ts';
import { mqttLimits } from './mqtt-limits.ts';
import type { MqttIdentity } from './mqtt-login.ts';
import type { Deliveries } from './mqtt-messages.ts';
import type { PublishPacket } from './mqtt-packet-reader.ts';
import { reasonCodes } from './mqtt-packet-writer.ts';
import { messageProperties, type MessageProperties } from './mqtt-properties.ts';
import type { Retained } from './mqtt-retained.ts';
import {
  type FindRoute,
  ForeignSecret,
  type MqttSession,
  type RoutedDevice,
  routeOf,
  type Will,
} from './mqtt-session.ts';
import type { SparkplugClients } from './mqtt-sparkplug.ts';
import { type UpTopic, upTopicOf } from './mqtt-topic.ts';

/** What a device published. */
export interface MqttPayload {
  /** Sub-topic, its levels joined with dots; null without one. */
  readonly topic: string | null;
  readonly payload: Buffer;
  /** What a client of MQTT 5 said of it. */
  readonly properties?: MessageProperties | undefined;
  /** Tells repetitions of one packet; absent for QoS 0, which is never repeated. */
  readonly duplicateKey?: string;
  /** The sender says that it sent the packet before. */
  readonly isRepeated: boolean;
  /** Its connection broke before it was stored, so that its repetition can have passed it. */
  readonly isLate?: true;
}

export interface PublishParts<R extends RoutedDevice> {
  readonly findRoute: FindRoute<R>;
  /**
   * Resolves when the payload is durable; rejects when it is not, and then it is not acknowledged.
   * A method, so that brokers are of one type for all who do not route.
   */
  store(route: R, payload: MqttPayload): Promise<void>;
  readonly retained: Retained;
  readonly now: () => EpochMs;
  readonly refused: (reason: string, about: Readonly<Record<string, string>>) => void;
  /** Told of what can never be taken, for the owner of the connection. */
  readonly dropped: (identity: MqttIdentity, publish: DroppedPublish) => void;
}

export interface DroppedPublish {
  readonly failure: Problem;
  /** Physical id in the topic; null without one. */
  readonly deviceId: string | null;
  /** Of the payload. */
  readonly bytes: number;
  /** Its start at least; absent where it was not kept. */
  readonly payload?: Buffer | undefined;
  readonly sent?: SentHints | undefined;
}

type Incoming = Pick<PublishPacket, 'topic' | 'payload' | 'qos' | 'dup' | 'messageId'> &
  Pick<MqttPayload, 'properties'>;

/**
 * With a RefusedPublish the packet is dropped: acknowledged before MQTT 5, and answered with its
 * reason there. With another error it stays unacknowledged, and the connection ends; a FailedPublish
 * has a reason for clients of MQTT 5, which stay.
 */
export type PublishHandler = (
  session: MqttSession,
  packet: PublishPacket,
  answer: (error?: Error) => void,
  /** Of a packet above the limit, whose payload was not kept: the bytes of the whole. */
  largeBytes?: number,
) => void;

/** Takes the publishes of all sessions. */
export function createPublishHandler<R extends RoutedDevice>(
  parts: PublishParts<R>,
  deliveries: Deliveries,
  flowControl: FlowControl<MqttSession>,
  sparkplug: SparkplugClients,
): PublishHandler {
  return (session, packet, answer, largeBytes) => {
    const payload = bufferOf(packet.payload);
    const up = upTopicOf(packet.topic);
    const levels = up?.levels ?? [];
    const settle = session.takeTurn(answer);
    flowControl.add(session, payload.length);
    const over = (outcome: Error | 'done') => {
      flowControl.remove(session, payload.length);
      settle(outcome);
    };
    const hints = () => sentHintsOf(levels, packet.properties);
    const sent = { deviceId: up?.deviceId ?? null, bytes: payload.length, payload, hints };
    const refuse = (error: unknown) => over(refusalOf(session, packet.qos, error, sent, parts));
    if (largeBytes !== undefined) {
      const error = problem('payloadTooLarge', { bytesMax: mqttLimits.packetBytesMax });
      const named = { deviceId: sent.deviceId, bytes: largeBytes };
      return over(refusalOf(session, packet.qos, error, named, parts));
    }
    if (levelsOf(packet.topic) > mqttLimits.topicLevelsMax) {
      const reason = `it has more than ${mqttLimits.topicLevelsMax} levels`;
      return refuse(problem('mqttTopicInvalid', { reason }));
    }
    if (isSparkplugTopic(packet.topic)) {
      takeSparkplug(() => sparkplug.take(session, packet.topic, payload)).then(
        () => over('done'),
        (error: unknown) => {
          const refusal = refusalOf(session, 1, error, sent, parts);
          const isLasting = refusal instanceof RefusedPublish;
          // Edge nodes send their births when they connect again.
          over(isLasting || refusal === 'done' ? refusal : new Error(refusal.message));
        },
      );
      return;
    }
    const properties = messageProperties(packet.properties);
    const handedOn = payloadOf(session, { ...packet, properties }, levels, payload);
    // Also while its device is looked up: its client sends it again when the connection breaks.
    session.recordAcknowledgement(handedOn.duplicateKey, parts.now(), 'in progress');
    const failed = (error: unknown) => {
      // It is not stored, so that nothing of it can be repeated.
      session.recordAcknowledgement(handedOn.duplicateKey, parts.now(), 'acknowledged');
      refuse(error);
    };
    const store = (route: R) => {
      const echo = {
        levels,
        payload,
        qos: packet.qos === 0 ? 0 : 1,
        retain: packet.retain,
        properties,
      } as const;
      // An empty retained message is no payload: it only takes back the one before (MQTT-3.3.1-10).
      const isPayload = !(packet.retain && payload.length === 0);
      const stored = isPayload ? parts.store(route, lateOf(session, handedOn)) : Promise.resolve();
      stored.then(() => {
        session.recordAcknowledgement(handedOn.duplicateKey, parts.now(), 'acknowledged');
        deliveries.echo(route.device.id, echo, session);
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
    failed(error);
    return;
  }
  if (session.begun === undefined && !(route instanceof Promise)) return store(route);
  const found = Promise.resolve(route);
  found.catch(() => undefined);
  const begun = Promise.resolve(session.begun)
    .then(() => found)
    .then(store, failed)
    .finally(() => {
      if (session.begun === begun) session.begun = undefined;
    });
  session.begun = begun;
}

/** Rejects also for a topic that is not the client's. */
async function takeSparkplug(take: () => Promise<void>): Promise<void> {
  await take();
}

function levelsOf(topic: string): number {
  let levels = 1;
  for (let at = topic.indexOf('/'); at !== -1; at = topic.indexOf('/', at + 1)) levels++;
  return levels;
}

/** A publish that was not stored, and what a client of MQTT 5 is told. */
export class FailedPublish extends Error {
  readonly reasonCode: number;

  constructor(reason: string, reasonCode: number) {
    super(reason);
    this.reasonCode = reasonCode;
  }
}

/** It can never succeed. A client that sent it again would stop there for ever. */
export class RefusedPublish extends FailedPublish {}

/**
 * What is answered to a publish that was not stored. Nobody waits for the answer to QoS 0, so only
 * a foreign secret matters there.
 */
function refusalOf<R extends RoutedDevice>(
  session: MqttSession,
  qos: number,
  error: unknown,
  {
    hints,
    ...sent
  }: {
    readonly deviceId: string | null;
    readonly bytes: number;
    readonly payload?: Buffer | undefined;
    readonly hints?: () => SentHints;
  },
  parts: PublishParts<R>,
): Error | 'done' {
  const { address, clientId, identity } = session;
  const failure = failureOf(error);
  const reason = reasonOf(error);
  parts.refused(reason, { address, clientId, reason: errorMessage(error) });
  const isLasting = failure !== undefined && refusalReasonOf(failure.status) !== undefined;
  if (!isLasting) return qos > 0 ? new FailedPublish(reason, passingCodeOf(failure)) : 'done';
  const isForeign = failure.status === 401;
  if (identity !== undefined)
    parts.dropped(identity, {
      ...sent,
      failure,
      ...(isForeign ? { payload: undefined } : { sent: hints?.() }),
    });
  if (isForeign) return new FailedPublish(reason, reasonCodes.notAuthorized);
  return new RefusedPublish(reason, lastingCodeOf(failure));
}

function sentHintsOf(levels: readonly string[], properties: Incoming['properties']): SentHints {
  const port = [properties?.userProperties?.['port']].flat()[0];
  return { topic: levels.join('.'), contentType: properties?.contentType, port };
}

function failureOf(error: unknown): Problem | undefined {
  if (error instanceof ForeignSecret) return problem('uplinkSecretUnknown');
  return error instanceof Problem ? error : undefined;
}

function reasonOf(error: unknown): string {
  if (error instanceof ForeignSecret) return 'foreignTopic';
  return failureOf(error)?.problem ?? 'internal';
}

function passingCodeOf(failure: Problem | undefined): number {
  const isFull = failure?.problem === 'intakeFull' || failure?.status === 429;
  return isFull ? reasonCodes.quotaExceeded : reasonCodes.implementationSpecific;
}

/** MQTT 5, 3.4.2.1; it has none for a payload that is too large. */
function lastingCodeOf({ problem: name, status }: Problem): number {
  if (name === 'mqttTopicInvalid') return reasonCodes.topicInvalid;
  return status === 403 || status === 404 ? reasonCodes.notAuthorized : reasonCodes.unspecified;
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
  const { properties } = packet;
  if (packet.qos === 0 || packet.messageId === undefined)
    return { topic, payload, properties, isRepeated: false };
  const text = `${key}\n${packet.messageId}\n${packet.topic}\n${payload.toString('latin1')}`;
  return {
    topic,
    payload,
    properties,
    duplicateKey: `mqtt ${hash('sha1', text, 'base64url')}`,
    isRepeated: packet.dup,
  };
}

/**
 * A client whose connection broke sends again over its next one what was not acknowledged. The
 * repetition can pass what still waits here for a look-up.
 */
function lateOf(session: MqttSession, payload: MqttPayload): MqttPayload {
  if (!session.isClosed() || session.isDisconnected) return payload;
  return { ...payload, isRepeated: true, isLate: true };
}

/** What a device left to be published when its connection breaks. */
export interface WillHandler {
  /**
   * The reason why the client may not connect with this will, or undefined: `foreign` for a topic
   * that is none of the client, `failed` when that is not known now. A will for a device that does
   * not exist is dropped, because its client may have others.
   */
  check(session: MqttSession): Promise<'foreign' | 'failed' | undefined>;
  /** Never rejects its promise. */
  publish(session: MqttSession, will: Will): Promise<void>;
}

export function createWillHandler<R extends RoutedDevice>(
  parts: PublishParts<R>,
  sparkplug: SparkplugClients,
): WillHandler {
  return {
    async check(session) {
      if (session.will === undefined) return undefined;
      const { topic, payload } = session.will;
      const up = upTopicOf(topic);
      try {
        if (isSparkplugTopic(topic)) sparkplug.checkWill(session, topic);
        else await routeOf(session, up, parts.findRoute);
        return undefined;
      } catch (error) {
        const sent = { deviceId: up?.deviceId ?? null, bytes: payload.length, payload };
        const refusal = refusalOf(session, 1, error, sent, parts);
        const status = failureOf(error)?.status;
        if (status === 403 || status === 404) {
          session.will = undefined;
          return undefined;
        }
        const isLasting = refusal instanceof RefusedPublish || status === 401;
        return isLasting ? 'foreign' : 'failed';
      }
    },
    async publish(session: MqttSession, { topic, payload, properties }: Will): Promise<void> {
      // The end of the connection is the death of an edge node, with or without a will.
      if (isSparkplugTopic(topic)) return;
      try {
        const up = upTopicOf(topic);
        const route = await routeOf(session, up, parts.findRoute);
        const packet = { topic, payload, qos: 0, dup: false, properties } as const;
        await parts.store(route, payloadOf(session, packet, up?.levels ?? [], payload));
      } catch (error) {
        const sent = {
          deviceId: upTopicOf(topic)?.deviceId ?? null,
          bytes: payload.length,
          payload,
        };
        refusalOf(session, 0, error, sent, parts);
      }
    },
  };
}
