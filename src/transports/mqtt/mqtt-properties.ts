// MQTT properties: what a message of MQTT 5 carries besides its payload, and how long it is valid.
import type { IPublishPacket } from 'mqtt-packet';
import { ownBytes } from '../../structures/bytes.ts';
import type { EpochMs } from '../../model/instant.ts';

type PublishProperties = NonNullable<IPublishPacket['properties']>;

/** Those that are forwarded to subscribers (MQTT 5, 3.3.2.3). */
export type MessageProperties = PublishProperties;

const forwarded = [
  'payloadFormatIndicator',
  'messageExpiryInterval',
  'contentType',
  'responseTopic',
  'userProperties',
] as const satisfies readonly (keyof MessageProperties)[];

/** Undefined without any; nothing of it shares memory with the packet. */
export function messageProperties(
  sent: PublishProperties | undefined,
): MessageProperties | undefined {
  if (sent === undefined) return undefined;
  const { correlationData } = sent;
  const kept = forwarded.filter((name) => sent[name] !== undefined);
  if (kept.length === 0 && correlationData === undefined) return undefined;
  return {
    ...Object.fromEntries(kept.map((name) => [name, sent[name]])),
    ...(correlationData && { correlationData: ownBytes(Buffer.from(correlationData)) }),
  };
}

/** Roughly. */
export function propertyBytes(properties: MessageProperties | undefined): number {
  if (properties === undefined) return 0;
  const { correlationData, ...others } = properties;
  return JSON.stringify(others).length + (correlationData?.length ?? 0);
}

const second = 1_000;

/** Until when a message is valid; undefined without an end. */
export function expiryOf(
  properties: MessageProperties | undefined,
  now: EpochMs,
): EpochMs | undefined {
  const seconds = properties?.messageExpiryInterval;
  return seconds === undefined ? undefined : now + seconds * second;
}

/** The properties of a message that waited (MQTT-3.3.2-6). */
export function remainingProperties(
  properties: MessageProperties | undefined,
  expiresAt: EpochMs | undefined,
  now: EpochMs,
): MessageProperties | undefined {
  if (expiresAt === undefined) return properties;
  const messageExpiryInterval = Math.max(1, Math.ceil((expiresAt - now) / second));
  return { ...properties, messageExpiryInterval };
}
