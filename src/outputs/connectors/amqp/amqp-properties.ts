// AMQP properties: schemas and parser (contract 9).
import type { PropertyReader } from '../property-parser.ts';
import { optionalFlag, optionalText, text } from '../property-schemas.ts';
import { parseUri } from '../target-uri.ts';
import {
  parseTls,
  parseUser,
  tlsProperties,
  type TlsProperties,
  userProperties,
  type UserProperties,
} from '../sign-on-properties.ts';

export const amqpPorts = { amqp: 5672, amqps: 5671 } as const;

const exchangeBytesMax = 255;

export type AmqpProperties = UserProperties &
  TlsProperties & {
    /** `amqp://host:port/vhost` or `amqps://host:port/vhost`. */
    readonly uri: string;
    /** Empty for the default exchange, whose routing keys are names of queues. */
    readonly exchange: string;
    /** A template. */
    readonly routingKey: string;
    readonly persistent: boolean;
    /** Whether a message that the broker cannot route to a queue counts as not delivered. */
    readonly mandatory: boolean;
  };

export const amqpProperties = {
  uri: text('Broker URI: `amqp://host:port/vhost` or `amqps://host:port/vhost`.'),
  exchange: optionalText('Exchange name. Defaults to the default exchange.'),
  routingKey: optionalText('Template of the routing key. Required for the default exchange.'),
  persistent: optionalFlag(
    'Whether the broker keeps messages across restarts. Defaults to `true`.',
  ),
  mandatory: optionalFlag(
    'Whether a message that no queue accepts counts as failed. Defaults to `true`.',
  ),
  ...userProperties,
  ...tlsProperties,
};

export function parseAmqp(sent: PropertyReader<keyof AmqpProperties>): AmqpProperties {
  const exchange = sent.text('exchange') ?? '';
  const routingKey = sent.text('routingKey') ?? '';
  if (Buffer.byteLength(exchange) > exchangeBytesMax)
    sent.refuse('exchange', `must be at most ${exchangeBytesMax} bytes`);
  if (exchange === '' && routingKey === '')
    sent.refuse('routingKey', 'is required for the default exchange');
  return {
    uri: parseUri(sent, amqpPorts, 'with path'),
    ...parseUser(sent),
    exchange,
    routingKey,
    persistent: sent.flag('persistent', true),
    mandatory: sent.flag('mandatory', true),
    ...parseTls(sent),
  };
}
