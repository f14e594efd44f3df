// Output to AMQP 0-9-1 brokers such as RabbitMQ: delivered once the broker confirmed the message and a queue took it.
import type { ChannelModel, ConfirmChannel } from 'amqplib';
import { amqpPorts, targetUri } from '../target-address.ts';
import type { AmqpProperties } from '../../model/target-properties.ts';
import type { EgressGuard } from '../../egress/guard.ts';
import { parseTemplate } from '../../templates/template.ts';
import type { OutboundConnector, OutboundMessage } from '../target.ts';
import { checkTarget, tlsMaterial } from '../guarded-socket.ts';
import { type ConnectionKind, keptConnection } from '../shared-connection.ts';
import { attempt, PermanentRefusal } from '../send-failure.ts';
import { targetName } from '../target-name.ts';

const heartbeatSeconds = 30;
const routingKeyBytesMax = 255;

/** Reply codes that another try would meet again: access refused, not found, precondition failed. */
const permanentCodes = new Set([403, 404, 406]);

interface Connection {
  readonly model: ChannelModel;
  readonly channel: ConfirmChannel;
  /** Ids of messages that no queue took. */
  readonly returned: Set<string>;
}

export const amqpConnector: OutboundConnector = {
  type: 'AMQP',
  check(properties, egress) {
    const { uri, routingKey } = properties as unknown as AmqpProperties;
    checkTarget(egress, targetUri(uri, amqpPorts), 'amqpProperties.uri');
    parseTemplate(routingKey, 'text', 'body amqpProperties.routingKey');
  },
  open(properties, egress) {
    const settings = properties as unknown as AmqpProperties;
    const connection = keptConnection(channelKind(settings, egress));
    const routingKeyOf = targetName(settings.routingKey);
    return {
      send(message, signal) {
        return attempt(
          signal,
          async () => {
            const routingKey = routingKeyOf(message.context);
            if (Buffer.byteLength(routingKey) > routingKeyBytesMax) {
              throw new PermanentRefusal(
                `the routing key has more than ${routingKeyBytesMax} bytes`,
              );
            }
            return connection.use(signal, (opened) =>
              publish(opened, routingKey, message, settings),
            );
          },
          (error) => permanentCodes.has(replyCode(error)),
        );
      },
      close: () => connection.close(),
    };
  },
};

/** The client carries the code of a refused handshake in its text alone. */
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
          return reject(new Error(`no queue takes routing key ${routingKey}`));
        resolve(`confirmed by the broker with routing key ${routingKey}`);
      },
    );
  });
}

function channelKind(settings: AmqpProperties, egress: EgressGuard): ConnectionKind<Connection> {
  return {
    async open(lost, signal) {
      const { connect } = await import('amqplib');
      const uri = targetUri(settings.uri, amqpPorts);
      if (uri === undefined) throw new PermanentRefusal('the URI is not one of an AMQP broker');
      egress.checkLiteral(uri.host);
      const address = {
        protocol: uri.scheme,
        hostname: uri.host,
        port: uri.port,
        vhost: uri.path === '' ? '/' : uri.path,
        heartbeat: heartbeatSeconds,
        username: settings.username ?? 'guest',
        password: settings.password ?? 'guest',
      };
      // The signal ends the socket whenever the connection is given up.
      const socket = {
        lookup: egress.lookup,
        noDelay: true,
        signal,
        ...tlsMaterial(settings, uri.host),
      };
      const model = await connect(address, socket).catch((error: Error) => {
        // Unknown, stopped and full virtual hosts are answered alike, and the client tells no more of it.
        const isHost = error.message.startsWith('Expected ConnectionOpenOk');
        throw isHost
          ? new Error(`the broker does not open virtual host ${address.vhost}`, { cause: error })
          : error;
      });
      model.on('error', lost);
      model.on('close', () => lost(new Error('the broker closed the connection')));
      const channel = await model.createConfirmChannel();
      const returned = new Set<string>();
      channel.on('error', lost);
      channel.on('close', () => lost(new Error('the broker closed the channel')));
      channel.on('return', ({ properties }: { properties: { messageId: string } }) =>
        returned.add(properties.messageId),
      );
      return { model, channel, returned };
    },
    close: ({ model }) => model.close(),
    abandon: () => undefined,
  };
}
