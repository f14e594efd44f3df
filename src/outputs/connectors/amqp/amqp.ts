// AMQP 0-9-1, for brokers such as RabbitMQ: one message per delivery (contract 9).
import type { ChannelModel, ConfirmChannel } from 'amqplib';
import { connectorType } from '../connector-type.ts';
import { createTargetName, type OutboundMessage, type Target } from '../target.ts';
import { parseUri, targetUri, type TargetUri } from '../target-uri.ts';
import {
  optionalFlag,
  optionalText,
  parseTls,
  parseUser,
  type PropertyReader,
  text,
  tlsProperties,
  type TlsProperties,
  userProperties,
  type UserProperties,
} from '../properties.ts';
import type { EgressGuard } from '../../egress/guard.ts';
import { tlsMaterial } from '../guarded-socket.ts';
import { attempt, PermanentRefusal } from '../send-failure.ts';
import { type ConnectionKind, SharedConnection } from '../shared-connection.ts';

const amqpPorts = { amqp: 5672, amqps: 5671 } as const;

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

const amqpProperties = {
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

function parseAmqp(sent: PropertyReader<keyof AmqpProperties>): AmqpProperties {
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

export const amqp = connectorType({
  vendorName: null,
  propertiesKey: 'amqpProperties',
  properties: amqpProperties,
  secrets: ['password', 'clientKey'],
  alsoNeeded: ({ exchange }) => (exchange ? [] : ['routingKey']),
  parse: parseAmqp,
  check({ uri, routingKey }, checks) {
    checks.endpoint('uri', targetUri(uri, amqpPorts));
    checks.template('routingKey', routingKey);
  },
  open: (properties, { egress }) => createAmqpTarget(properties, egress),
});

// A delivery succeeds when the broker confirms the message and a queue takes it.

const heartbeatSeconds = 30;
const routingKeyBytesMax = 255;

/** Reply codes that a retry would receive again: access refused, not found, precondition failed. */
const permanentCodes = new Set([403, 404, 406]);

interface Connection {
  readonly model: ChannelModel;
  readonly channel: ConfirmChannel;
  /** Ids of messages that no queue took. */
  readonly returned: Set<string>;
}

function createAmqpTarget(properties: AmqpProperties, egress: EgressGuard): Target {
  const connection = new SharedConnection(channelKind(properties, egress));
  const routingKeyOf = createTargetName(properties.routingKey);

  async function send(message: OutboundMessage, signal: AbortSignal): Promise<string> {
    const routingKey = routingKeyOf(message.context);
    if (Buffer.byteLength(routingKey) > routingKeyBytesMax)
      throw new PermanentRefusal(`the routing key has more than ${routingKeyBytesMax} bytes`);
    return connection.use(signal, (opened) => publish(opened, routingKey, message, properties));
  }

  return {
    send: (message, signal) =>
      attempt(
        signal,
        () => send(message, signal),
        (error) => permanentCodes.has(replyCode(error)),
      ),
    close: () => connection.close(),
  };
}

/** For a rejected handshake the client gives the code only in its message. */
function replyCode(error: unknown): number {
  const { code, message = '' } = error as { code?: unknown; message?: string };
  return typeof code === 'number' ? code : Number(/\b(\d{3}) \(/.exec(message)?.[1] ?? 0);
}

function publish(
  { channel, returned }: Connection,
  routingKey: string,
  message: OutboundMessage,
  { exchange, persistent, mandatory }: AmqpProperties,
): Promise<string> {
  const { deliveryId: messageId, contentType, deviceId } = message;
  const options = { persistent, mandatory, messageId, contentType, headers: { deviceId } };
  return new Promise((resolve, reject) => {
    channel.publish(
      exchange,
      routingKey,
      Buffer.from(message.payload),
      options,
      (error: unknown) => {
        if (error !== null)
          return reject(new Error('the broker did not confirm the message', { cause: error }));
        // A message without a queue is returned first and confirmed then.
        if (returned.delete(messageId))
          return reject(new Error(`no queue is bound for routing key ${routingKey}`));
        resolve(`confirmed by the broker (routing key ${routingKey})`);
      },
    );
  });
}

function channelKind(properties: AmqpProperties, egress: EgressGuard): ConnectionKind<Connection> {
  return {
    async open(lost, signal) {
      const uri = targetUri(properties.uri, amqpPorts);
      if (uri === undefined) throw new PermanentRefusal('the URI is not an AMQP URI');
      egress.checkLiteral(uri.host);
      await egress.refuseOwn(uri.host, uri.port);
      // The signal ends the socket when the connection is no longer needed.
      const tls = tlsMaterial(properties, uri.host);
      const socket = { lookup: egress.lookup, noDelay: true, signal, ...tls };
      const model = await connectTo(uri, properties, socket);
      model.on('error', lost);
      model.on('close', () => lost(new Error('the broker closed the connection')));
      const channel = await model.createConfirmChannel();
      const returned = new Set<string>();
      channel.on('error', lost);
      channel.on('close', () => lost(new Error('the broker closed the channel')));
      channel.on('return', (message: { properties: { messageId: string } }) =>
        returned.add(message.properties.messageId),
      );
      return { model, channel, returned };
    },
    close: ({ model }) => model.close(),
    destroy: () => undefined,
  };
}

async function connectTo(
  uri: TargetUri,
  { username, password }: AmqpProperties,
  socket: object,
): Promise<ChannelModel> {
  const address = {
    protocol: uri.scheme,
    hostname: uri.host,
    port: uri.port,
    vhost: uri.path || '/',
    heartbeat: heartbeatSeconds,
    username: username ?? 'guest',
    password: password ?? 'guest',
  };
  const { connect } = await import('amqplib');
  try {
    return await connect(address, socket);
  } catch (error) {
    // Brokers answer unknown, stopped and full virtual hosts alike, and the client reports no
    // details.
    const isHost = (error as Error).message.startsWith('Expected ConnectionOpenOk');
    if (!isHost) throw error;
    const told = `the broker refused virtual host ${address.vhost}`;
    throw new Error(told, { cause: error });
  }
}
