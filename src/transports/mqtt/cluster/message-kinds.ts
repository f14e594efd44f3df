// Kinds of MQTT messages between nodes, with their requests and messages as they cross.
import type { EpochMs } from '../../../model/instant.ts';
import type { NodeAddress } from '../../../model/node-messages.ts';
import type { OutboundMessage } from '../mqtt-messages.ts';
import type { MessageProperties } from '../mqtt-properties.ts';
import type { RetainedMessage } from '../mqtt-retained.ts';
import type { KeptSession } from '../mqtt-session.ts';
import type { TopicFilter } from '../mqtt-topic.ts';
import type { Claim } from './client-claims.ts';

/** The first group goes to owners of devices and clients, the second to nodes with their connections. */
export const kinds = {
  publish: 'mqttPublish',
  published: 'mqttPublished',
  send: 'mqttSend',
  doubt: 'mqttDoubt',
  retained: 'mqttRetained',
  watch: 'mqttWatch',
  unwatch: 'mqttUnwatch',
  claim: 'mqttClaim',
  reclaim: 'mqttReclaim',
  release: 'mqttRelease',
  handOver: 'mqttHandOver',
  deliver: 'mqttDeliver',
  evict: 'mqttEvict',
  contact: 'mqttContact',
} as const;

/** A device is named by its service id. A message is in the form of messages.ts. */
export interface PublishRequest {
  readonly id: string;
  readonly message: unknown;
  /** Sub-topic, its levels joined with dots. */
  readonly topic: string | null;
  readonly key: string | null;
  /** Whether subscribers get it. */
  readonly isSpread: boolean;
  readonly isRepeated: boolean;
  readonly at: EpochMs;
}

export interface MessageRequest {
  readonly id: string;
  readonly message: unknown;
}

export interface DeliverRequest extends MessageRequest {
  readonly direction: TopicFilter['direction'];
}

export interface SendRequest {
  readonly id: string;
  readonly topic: string;
  readonly payload: string;
  readonly qos: 0 | 1;
  readonly retain: boolean;
}

export interface RetainedRequest extends Pick<TopicFilter, 'direction' | 'levels'> {
  readonly id: string;
}

export interface WatchRequest {
  readonly node: NodeAddress;
  readonly ids: readonly string[];
  /** Whether the subscribers were there before. */
  readonly isAgain: boolean;
}

export interface UnwatchRequest {
  readonly id: string;
  readonly nodeId: string;
}

export interface ClaimRequest {
  readonly claim: Claim;
  readonly isClean: boolean;
}

export interface ReclaimRequest {
  readonly node: NodeAddress;
  readonly claims: readonly Claim[];
}

export interface ReleaseRequest {
  readonly key: string;
  readonly claim: string;
  readonly kept: KeptSession | null;
}

export interface HandOverRequest {
  readonly retained: readonly DeliverRequest[];
  readonly kept: readonly (readonly [key: string, kept: KeptSession])[];
}

/** Requests as JSON: their types say what they hold. */
export function requestOf<T>(request: T): unknown {
  return request;
}

export function requestAs<T>(request: unknown): T {
  return request as T;
}

// Form of MQTT messages between nodes: as JSON, payloads in base64.

/** Bytes of a message apart from its payload, roughly. */
const overheadBytes = 300;
const base64Factor = 4 / 3;

interface SentMessage extends Omit<OutboundMessage, 'payload' | 'properties'> {
  readonly payload: string;
  readonly properties?: Omit<MessageProperties, 'correlationData'>;
  readonly correlationData?: string;
  readonly expiresAt?: number | undefined;
}

export function sentMessage(message: OutboundMessage | RetainedMessage): unknown {
  const { payload, properties, ...rest } = message;
  const { correlationData, ...others } = properties ?? {};
  const sent: Omit<SentMessage, 'retain'> = {
    ...rest,
    payload: payload.toString('base64'),
    ...(properties !== undefined && { properties: others }),
    ...(correlationData !== undefined && { correlationData: correlationData.toString('base64') }),
  };
  return sent;
}

export function sentBytes({ payload }: Pick<OutboundMessage, 'payload'>): number {
  return payload.length * base64Factor + overheadBytes;
}

/** The message that was sent, with the members that its kind has. */
export function receivedMessage(sent: unknown): OutboundMessage & RetainedMessage {
  const { payload, properties, correlationData, ...rest } = sent as SentMessage;
  const all = {
    ...properties,
    ...(correlationData !== undefined && {
      correlationData: Buffer.from(correlationData, 'base64'),
    }),
  };
  return {
    ...rest,
    payload: Buffer.from(payload, 'base64'),
    ...(Object.keys(all).length > 0 && { properties: all }),
  };
}
