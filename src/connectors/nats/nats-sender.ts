// Output to NATS: delivered once the server has read the message or, with JetStream, once a stream has stored it.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ConnectionOptions, NatsConnection } from '@nats-io/transport-node';
import { natsPorts, targetUri } from '../target-address.ts';
import type { NatsProperties } from '../../model/target-properties.ts';
import type { EgressGuard } from '../../egress/guard.ts';
import { parseTemplate } from '../../templates/template.ts';
import type { OutboundConnector, OutboundMessage } from '../target.ts';
import { checkTarget, tlsMaterial } from '../guarded-socket.ts';
import { type ConnectionKind, keptConnection } from '../shared-connection.ts';
import { greetedSocket, type SocketOptions, socketTransport } from './nats-transport.ts';
import { attempt, PermanentRefusal } from '../send-failure.ts';
import { targetName } from '../target-name.ts';

const connectTimeoutMs = 8_000;
const pingIntervalMs = 30_000;
const storedTimeoutMs = 8_000;
/** Refused subjects that are remembered until their delivery asks. */
const refusedSubjectsMax = 100;

const permanentErrors = new Set([
  'AuthorizationError',
  'InvalidArgumentError',
  'InvalidSubjectError',
]);

interface Connection {
  readonly client: NatsConnection;
  /** Subjects the server refused to take since they were last asked for. */
  readonly refused: Set<string>;
}

export const natsConnector: OutboundConnector = {
  type: 'NATS',
  check(properties, egress) {
    const { uri, subject } = properties as unknown as NatsProperties;
    checkTarget(egress, targetUri(uri, natsPorts), 'natsProperties.uri');
    parseTemplate(subject, 'text', 'body natsProperties.subject');
  },
  open(properties, egress) {
    const settings = properties as unknown as NatsProperties;
    const connection = keptConnection(clientKind(settings, egress));
    const subjectOf = targetName(settings.subject);
    return {
      send(message, signal) {
        return attempt(
          signal,
          async () => {
            const subject = subjectOf(message.context);
            if (!isSubject(subject))
              throw new PermanentRefusal(`${JSON.stringify(subject)} is not a subject`);
            return connection.use(signal, (opened) =>
              publish(opened, subject, message, settings.jetStream),
            );
          },
          (error) => error instanceof Error && permanentErrors.has(error.name),
        );
      },
      close: () => connection.close(),
    };
  },
};

/** Tokens between dots, without spaces and wildcards. */
function isSubject(subject: string): boolean {
  return subject
    .split('.')
    .every((token) => token !== '' && token !== '*' && token !== '>' && !/[\s\0]/.test(token));
}

async function publish(
  { client, refused }: Connection,
  subject: string,
  message: OutboundMessage,
  jetStream: boolean,
): Promise<string> {
  const { headers } = await import('@nats-io/transport-node');
  const sent = headers();
  sent.set('Content-Type', message.contentType);
  sent.set('Nats-Msg-Id', message.deliveryId);
  const throwIfRefused = async (): Promise<void> => {
    // The refusal was read before, but reaches its listener in a turn of its own.
    await nextTurn();
    if (refused.delete(subject))
      throw new PermanentRefusal(`the server does not allow to publish to ${subject}`);
  };
  if (!jetStream) {
    client.publish(subject, message.payload, { headers: sent });
    await client.flush();
    await throwIfRefused();
    return `read by the server on subject ${subject}`;
  }
  const { jetstream } = await import('@nats-io/jetstream');
  try {
    const options = {
      msgID: message.deliveryId,
      timeout: storedTimeoutMs,
      headers: sent,
      retries: 0,
    };
    const stored = await jetstream(client).publish(subject, message.payload, options);
    return `stored by stream ${stored.stream} as ${stored.seq}${stored.duplicate ? ', again' : ''}`;
  } catch (error) {
    await throwIfRefused();
    throw error;
  }
}

function clientKind(settings: NatsProperties, egress: EgressGuard): ConnectionKind<Connection> {
  return {
    async open(lost, signal) {
      const nats = await import('@nats-io/transport-node');
      const uri = targetUri(settings.uri, natsPorts);
      if (uri === undefined) throw new PermanentRefusal('the URI is not one of a NATS server');
      const tls = uri.scheme === 'tls' ? tlsMaterial(settings, uri.host) : undefined;
      nats.setTransportFactory({ factory: socketTransport });
      const options: SocketOptions = {
        ...credentialsOf(settings, nats.credsAuthenticator),
        servers: `127.0.0.1:${uri.port}`,
        greeted: await greetedSocket(egress, uri, tls, signal),
        name: 'heliograph',
        timeout: connectTimeoutMs,
        pingInterval: pingIntervalMs,
        // A lost connection is opened anew by the next delivery, to the same server: others it names are not checked.
        reconnect: false,
        ignoreClusterUpdates: true,
        resolve: false,
      };
      const client = await nats.NatsConnectionImpl.connect(options);
      const refused = new Set<string>();
      void noteRefusals(client, refused);
      void client
        .closed()
        .then((error) => lost(error ?? new Error('the server closed the connection')));
      return { client, refused };
    },
    close: ({ client }) => client.close(),
    abandon: ({ client }) => void client.close(),
  };
}

async function noteRefusals(client: NatsConnection, refused: Set<string>): Promise<void> {
  for await (const status of client.status()) {
    if (status.type !== 'error' || status.error.name !== 'PermissionViolationError') continue;
    const { subject } = status.error as { subject?: string };
    if (subject !== undefined && refused.size < refusedSubjectsMax) refused.add(subject);
  }
}

function credentialsOf(
  { username, password, token, credentials }: NatsProperties,
  authenticatorOf: (credentials: Uint8Array) => ConnectionOptions['authenticator'],
): ConnectionOptions {
  const authenticator =
    credentials === null ? undefined : authenticatorOf(new TextEncoder().encode(credentials));
  return {
    ...(authenticator === undefined ? {} : { authenticator }),
    ...(username === null ? {} : { user: username }),
    ...(password === null ? {} : { pass: password }),
    ...(token === null ? {} : { token }),
  };
}
