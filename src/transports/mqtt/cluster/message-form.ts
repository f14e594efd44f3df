// Form of MQTT messages between nodes: as JSON, payloads in base64.
import type { Json } from '../../../model/json.ts';
import type { OutboundMessage } from '../mqtt-messages.ts';
import type { MessageProperties } from '../mqtt-properties.ts';
import type { RetainedMessage } from '../mqtt-retained.ts';

/** Bytes of a message apart from its payload, roughly. */
const overheadBytes = 300;
const base64Factor = 4 / 3;

interface SentMessage extends Omit<OutboundMessage, 'payload' | 'properties'> {
  readonly payload: string;
  readonly properties?: Omit<MessageProperties, 'correlationData'>;
  readonly correlationData?: string;
  readonly expiresAt?: number | undefined;
}

export function sentMessage(message: OutboundMessage | RetainedMessage): Json {
  const { payload, properties, ...rest } = message;
  const { correlationData, ...others } = properties ?? {};
  const sent: Omit<SentMessage, 'retain'> = {
    ...rest,
    payload: payload.toString('base64'),
    ...(properties !== undefined && { properties: others }),
    ...(correlationData !== undefined && { correlationData: correlationData.toString('base64') }),
  };
  return sent as unknown as Json;
}

export function sentBytes({ payload }: Pick<OutboundMessage, 'payload'>): number {
  return payload.length * base64Factor + overheadBytes;
}

/** The message that was sent, with the members that its kind has. */
export function receivedMessage(sent: Json): OutboundMessage & RetainedMessage {
  const { payload, properties, correlationData, ...rest } = sent as unknown as SentMessage;
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
