// NATS, with or without JetStream: one message per delivery (contract 9).
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import type {
  ConnectionOptions,
  MsgHdrs,
  NatsConnection,
  Transport,
} from '@nats-io/transport-node';
import { connectorType } from '../connector-type.ts';
import { createTargetName, type OutboundMessage, type Target } from '../target.ts';
import { type Endpoint, parseUri, targetUri } from '../target-uri.ts';
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
import { guardedSocket, tlsMaterial, type TlsMaterial } from '../guarded-socket.ts';
import { attempt, PermanentRefusal } from '../send-failure.ts';
import { type ConnectionKind, SharedConnection } from '../shared-connection.ts';

const natsPorts = { nats: 4222, tls: 4222 } as const;

const credentialsForm = /-----BEGIN NATS USER JWT-----[^]*-----BEGIN USER NKEY SEED-----/;

export type NatsProperties = UserProperties &
  TlsProperties & {
    /** `nats://host:port` or `tls://host:port`. */
    readonly uri: string;
    readonly token: string | null;
    /** The content of a credentials file: the token and the seed of a user. */
    readonly credentials: string | null;
    /** A template. */
    readonly subject: string;
    /** Whether a stream must have stored the message. */
    readonly jetStream: boolean;
  };

const natsProperties = {
  uri: text('Server URI: `nats://host:port` or `tls://host:port`.'),
  token: optionalText('Authentication token. Secret.'),
  credentials: optionalText('Contents of a NATS credentials file. Secret.'),
  subject: text('Template of the subject.'),
  jetStream: optionalFlag('Whether to wait until a JetStream stream has stored the message.'),
  ...userProperties,
  ...tlsProperties,
};

function parseNats(sent: PropertyReader<keyof NatsProperties>): NatsProperties {
  const credentials = sent.text('credentials');
  if (credentials !== null && !credentialsForm.test(credentials))
    sent.refuse('credentials', 'must be the contents of a NATS credentials file');
  return {
    uri: parseUri(sent, natsPorts, 'without path'),
    ...parseUser(sent),
    token: sent.text('token'),
    credentials,
    subject: sent.needed('subject'),
    jetStream: sent.flag('jetStream'),
    ...parseTls(sent),
  };
}

export const nats = connectorType({
  vendorName: null,
  propertiesKey: 'natsProperties',
  properties: natsProperties,
  secrets: ['password', 'token', 'credentials', 'clientKey'],
  parse: parseNats,
  check({ uri, subject }, checks) {
    checks.endpoint('uri', targetUri(uri, natsPorts));
    checks.template('subject', subject);
  },
  open: (properties, { egress }) => createNatsTarget(properties, egress),
});

// Transport: a guarded socket for the client, whose server sends a greeting before TLS begins.

const greetingBytesMax = 64 * 1024;

/** An open connection whose greeting has been read. */
interface GreetedSocket {
  readonly socket: Socket;
  readonly greeting: Buffer;
}

/** Options of the client with the socket it is to use. */
type SocketOptions = ConnectionOptions & { readonly greeted: GreetedSocket };

/**
 * Connects, reads the greeting and starts TLS if `tls` is given. Rejects when `signal` aborts
 * before.
 */
async function greetedSocket(
  egress: EgressGuard,
  endpoint: Endpoint,
  tls: TlsMaterial | undefined,
  signal: AbortSignal,
): Promise<GreetedSocket> {
  const plain = await guardedSocket(egress, endpoint, undefined, signal);
  const stop = (): void => void plain.destroy();
  signal.addEventListener('abort', stop, { once: true });
  try {
    const greeting = await greetingOf(plain);
    const asksForTls = /"tls_required":\s*true/.test(greeting.toString());
    if (tls === undefined) {
      if (asksForTls) throw new Error('the server requires TLS; use tls:// in the URI');
      return { socket: plain, greeting };
    }
    const secured = connectTls({ ...tls, host: endpoint.host, socket: plain });
    await once(secured, 'secureConnect');
    return { socket: secured, greeting };
  } catch (error) {
    plain.destroy();
    throw error;
  }
}

function greetingOf(socket: Socket): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let read: Buffer = Buffer.alloc(0);
    const settle = (done: () => void): void => {
      for (const event of ['data', 'error', 'close']) socket.removeAllListeners(event);
      done();
    };
    socket.on('error', (error) => settle(() => reject(error)));
    socket.on('close', () => settle(() => reject(new Error('the server closed the connection'))));
    socket.on('data', (chunk: Buffer) => {
      read = Buffer.concat([read, chunk]);
      const isWhole = read.includes('\r\n');
      if (!isWhole && read.length < greetingBytesMax) return;
      socket.pause();
      settle(() => (isWhole ? resolve(read) : reject(new Error('the server does not speak NATS'))));
    });
  });
}

/** Returns a transport whose socket comes with the options of the connection. */
function createSocketTransport(): Transport {
  const ended = Promise.withResolvers<void | Error>();
  const received: Uint8Array[] = [];
  let arrived = Promise.withResolvers<void>();
  let socket: Socket | undefined;
  let isClosed = false;
  const end = (error?: Error): void => {
    if (isClosed) return;
    isClosed = true;
    if (error !== undefined) transport.closeError = error;
    socket?.destroy();
    arrived.resolve();
    ended.resolve(error);
  };
  const transport: Omit<Transport, 'closeError'> & { closeError?: Error } = {
    lang: 'nats.js',
    version: '3.4.0',
    get isClosed() {
      return isClosed;
    },
    connect(_server, options) {
      const { greeted } = options as SocketOptions;
      socket = greeted.socket;
      received.push(greeted.greeting);
      arrived.resolve();
      let failure: Error | undefined;
      socket.on('error', (error) => {
        failure = error;
      });
      socket.on('close', () => end(failure));
      socket.on('data', (chunk: Buffer) => {
        received.push(chunk);
        arrived.resolve();
      });
      socket.resume();
      if (socket.destroyed) end(new Error('the server closed the connection'));
      return Promise.resolve();
    },
    async *[Symbol.asyncIterator]() {
      while (!isClosed || received.length > 0) {
        await arrived.promise;
        arrived = Promise.withResolvers<void>();
        yield* received.splice(0);
        if (isClosed) return;
      }
    },
    isEncrypted: () => socket !== undefined && 'encrypted' in socket,
    send: (frame) => void socket?.write(frame),
    close(error) {
      end(error);
      return Promise.resolve();
    },
    disconnect: () => end(),
    discard: () => end(),
    closed: () => ended.promise,
  };
  return transport;
}

const connectTimeoutMs = 8_000;
const pingIntervalMs = 30_000;
const storedTimeoutMs = 8_000;
/** Rejected subjects that are stored until their delivery asks for them. */
const rejectedSubjectsMax = 100;

const permanentErrors = new Set([
  'AuthorizationError',
  'InvalidArgumentError',
  'InvalidSubjectError',
]);

interface Connection {
  readonly client: NatsConnection;
  readonly newHeaders: () => MsgHdrs;
  /** Subjects that the server rejected, until their delivery asks for them. */
  readonly rejected: Set<string>;
}

function createNatsTarget(properties: NatsProperties, egress: EgressGuard): Target {
  const connection = new SharedConnection(clientKind(properties, egress));
  const subjectOf = createTargetName(properties.subject);

  async function send(message: OutboundMessage, signal: AbortSignal): Promise<string> {
    const subject = subjectOf(message.context);
    if (!isSubject(subject))
      throw new PermanentRefusal(`${JSON.stringify(subject)} is not a valid subject`);
    const publish = properties.jetStream ? publishToStream : publishToSubject;
    return connection.use(signal, (opened) => publish(opened, subject, message));
  }

  return {
    send: (message, signal) => attempt(signal, () => send(message, signal), isPermanent),
    close: () => connection.close(),
  };
}

function isPermanent(error: unknown): boolean {
  return error instanceof Error && permanentErrors.has(error.name);
}

/** Tokens between dots, without spaces and wildcards. */
function isSubject(subject: string): boolean {
  return subject
    .split('.')
    .every((token) => token !== '' && token !== '*' && token !== '>' && !/[\s\0]/.test(token));
}

function headersOf({ newHeaders }: Connection, { contentType, deliveryId }: OutboundMessage) {
  const sent = newHeaders();
  sent.set('Content-Type', contentType);
  sent.set('Nats-Msg-Id', deliveryId);
  return sent;
}

async function publishToSubject(
  connection: Connection,
  subject: string,
  message: OutboundMessage,
): Promise<string> {
  const { client } = connection;
  client.publish(subject, message.payload, { headers: headersOf(connection, message) });
  await client.flush();
  await throwIfRejected(connection, subject);
  return `received by the server on subject ${subject}`;
}

async function publishToStream(
  connection: Connection,
  subject: string,
  message: OutboundMessage,
): Promise<string> {
  const { jetstream } = await import('@nats-io/jetstream');
  const options = {
    msgID: message.deliveryId,
    timeout: storedTimeoutMs,
    headers: headersOf(connection, message),
    retries: 0,
  };
  try {
    const stored = await jetstream(connection.client).publish(subject, message.payload, options);
    const again = stored.duplicate ? ', again' : '';
    return `stored by stream ${stored.stream} as ${stored.seq}${again}`;
  } catch (error) {
    await throwIfRejected(connection, subject);
    throw error;
  }
}

async function throwIfRejected({ rejected }: Connection, subject: string): Promise<void> {
  // The client has read the rejection already, but notifies its listener in a later turn.
  await nextTurn();
  if (rejected.delete(subject))
    throw new PermanentRefusal(`not authorized to publish to ${subject}`);
}

function clientKind(properties: NatsProperties, egress: EgressGuard): ConnectionKind<Connection> {
  return {
    async open(lost, signal) {
      const uri = targetUri(properties.uri, natsPorts);
      if (uri === undefined) throw new PermanentRefusal('the URI is not a NATS URI');
      const tls = uri.scheme === 'tls' ? tlsMaterial(properties, uri.host) : undefined;
      const { credentials } = properties;
      const library = await import('@nats-io/transport-node');
      library.setTransportFactory({ factory: createSocketTransport });
      const options: SocketOptions = {
        ...credentialsOf(properties),
        ...(credentials !== null && {
          authenticator: library.credsAuthenticator(new TextEncoder().encode(credentials)),
        }),
        servers: `127.0.0.1:${uri.port}`,
        greeted: await greetedSocket(egress, uri, tls, signal),
        name: 'heliograph',
        timeout: connectTimeoutMs,
        pingInterval: pingIntervalMs,
        // The next delivery replaces a lost connection, to the same server. Servers that it names
        // are not checked.
        reconnect: false,
        ignoreClusterUpdates: true,
        resolve: false,
      };
      const client = await library.NatsConnectionImpl.connect(options);
      const rejected = new Set<string>();
      void followRejections(client, rejected);
      void client
        .closed()
        .then((error) => lost(error ?? new Error('the server closed the connection')));
      return { client, newHeaders: library.headers, rejected };
    },
    close: ({ client }) => client.close(),
    destroy: ({ client }) => void client.close(),
  };
}

async function followRejections(client: NatsConnection, rejected: Set<string>): Promise<void> {
  for await (const status of client.status()) {
    if (status.type !== 'error' || status.error.name !== 'PermissionViolationError') continue;
    const { subject } = status.error as { subject?: string };
    if (subject !== undefined && rejected.size < rejectedSubjectsMax) rejected.add(subject);
  }
}

function credentialsOf(properties: NatsProperties): ConnectionOptions {
  const { username: user, password: pass, token } = properties;
  return {
    ...(user !== null && { user }),
    ...(pass !== null && { pass }),
    ...(token !== null && { token }),
  };
}
