// Kafka broker for tests: metadata, SASL with PLAIN and SCRAM, and complete parsing of produce requests.
import { createHash, createHmac, pbkdf2Sync } from 'node:crypto';
import { createServer, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { once } from 'node:events';
import { type KafkaRecord, recordsOf, WireReader, WireWriter } from './kafka-wire.ts';

const apiKeys = {
  produce: 0,
  metadata: 3,
  saslHandshake: 17,
  apiVersions: 18,
  saslAuthenticate: 36,
} as const;
const partitions = 3;
const unsupportedVersion = 35;
const unsupportedMechanism = 33;
const authenticationFailed = 58;

export interface KafkaOptions {
  readonly sasl?: {
    readonly mechanism: 'PLAIN' | 'SCRAM-SHA-256';
    readonly username: string;
    readonly password: string;
  };
  readonly tls?: { readonly cert: string; readonly key: string };
  /** What the cluster calls its broker; where it is by default. */
  readonly advertised?: { readonly host: string; readonly port?: number };
  /** Error codes for the next produce requests, 0 for none. */
  readonly produceErrors?: number[];
}

export interface Produced extends KafkaRecord {
  readonly topic: string;
  readonly partition: number;
  readonly acks: number;
}

export interface KafkaBroker {
  readonly port: number;
  readonly produced: readonly Produced[];
  stop(): Promise<void>;
}

export async function startKafkaBroker(options: KafkaOptions = {}): Promise<KafkaBroker> {
  const produced: Produced[] = [];
  const sockets = new Set<Socket>();
  const serve = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
    serveRequests(socket, { options, produced, port: () => port });
  };
  const server =
    options.tls === undefined ? createServer(serve) : createTlsServer({ ...options.tls }, serve);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const { port } = address;
  return {
    port,
    produced,
    async stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

interface Cluster {
  readonly options: KafkaOptions;
  readonly produced: Produced[];
  readonly port: () => number;
}

interface Session {
  isAuthenticated: boolean;
  scram?: { readonly first: string; readonly serverFirst: string };
}

function serveRequests(socket: Socket, cluster: Cluster): void {
  const session: Session = { isAuthenticated: cluster.options.sasl === undefined };
  let received: Buffer = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    while (received.length >= 4 && received.length >= 4 + received.readInt32BE(0)) {
      const length = received.readInt32BE(0);
      const request = new WireReader(received.subarray(4, 4 + length));
      received = received.subarray(4 + length);
      const [apiKey, version, correlationId] = [request.int16(), request.int16(), request.int32()];
      request.nullableString();
      const answer = answerTo({ key: apiKey, version, body: request }, session, cluster);
      // A broker disconnects clients that send requests before authentication.
      if (answer === undefined) return void socket.destroy();
      socket.write(
        new WireWriter()
          .data(Buffer.concat([new WireWriter().int32(correlationId).bytes(), answer]))
          .bytes(),
      );
    }
  });
}

function answerTo(
  { key, version, body }: { key: number; version: number; body: WireReader },
  session: Session,
  cluster: Cluster,
) {
  if (key === apiKeys.apiVersions) return apiVersions(version);
  if (key === apiKeys.saslHandshake) return handshake(body, cluster.options);
  if (key === apiKeys.saslAuthenticate) return authenticate(body.data(), session, cluster.options);
  if (!session.isAuthenticated) return undefined;
  if (key === apiKeys.metadata && version === 5) return metadata(body, cluster);
  if (key === apiKeys.produce && version === 7) return produce(body, cluster);
  throw new Error(`request ${key} of version ${version} was not offered`);
}

function apiVersions(version: number): Buffer {
  const offered = [
    [apiKeys.produce, 7, 7],
    [apiKeys.metadata, 5, 5],
    [apiKeys.saslHandshake, 1, 1],
    [apiKeys.saslAuthenticate, 0, 0],
    [apiKeys.apiVersions, 0, 1],
  ] as const;
  const answer = new WireWriter().int16(version > 1 ? unsupportedVersion : 0);
  answer.list(offered, ([key, min, max]) => answer.int16(key).int16(min).int16(max));
  return version === 1 ? answer.int32(0).bytes() : answer.bytes();
}

function handshake(request: WireReader, { sasl }: KafkaOptions): Buffer {
  const isOffered = request.string() === sasl?.mechanism;
  const answer = new WireWriter().int16(isOffered ? 0 : unsupportedMechanism);
  return answer
    .list(sasl === undefined ? [] : [sasl.mechanism], (mechanism) => answer.string(mechanism))
    .bytes();
}

function authenticate(bytes: Buffer, session: Session, { sasl }: KafkaOptions): Buffer {
  const refused = () =>
    new WireWriter()
      .int16(authenticationFailed)
      .string('Authentication failed')
      .data(Buffer.alloc(0))
      .bytes();
  const accepted = (text: string) =>
    new WireWriter().int16(0).string(null).data(Buffer.from(text)).bytes();
  if (sasl === undefined) return refused();
  if (sasl.mechanism === 'PLAIN') {
    session.isAuthenticated = bytes.toString() === `\0${sasl.username}\0${sasl.password}`;
    return session.isAuthenticated ? accepted('') : refused();
  }
  if (session.scram === undefined) {
    const first = bytes.toString().replace(/^n,,/, '');
    const serverFirst = `r=${/r=([^,]+)/.exec(first)?.[1]}server,s=${Buffer.from('salt').toString('base64')},i=4096`;
    session.scram = { first, serverFirst };
    return accepted(serverFirst);
  }
  const signature = scramSignature(bytes.toString(), session.scram, sasl.password);
  session.isAuthenticated = signature !== undefined;
  return signature === undefined ? refused() : accepted(`v=${signature}`);
}

/** The server's signature when the client's proof shows that it knows the password (RFC 5802). */
function scramSignature(
  final: string,
  { first, serverFirst }: NonNullable<Session['scram']>,
  password: string,
) {
  const hmac = (key: Buffer, text: string) => createHmac('sha256', key).update(text).digest();
  const salted = pbkdf2Sync(password, 'salt', 4096, 32, 'sha256');
  const signed = `${first},${serverFirst},${final.replace(/,p=.*$/, '')}`;
  const storedKey = createHash('sha256').update(hmac(salted, 'Client Key')).digest();
  const proof = Buffer.from(/,p=(.*)$/.exec(final)?.[1] ?? '', 'base64');
  const clientKey = hmac(storedKey, signed).map((byte, i) => byte ^ (proof[i] ?? 0));
  if (!createHash('sha256').update(clientKey).digest().equals(storedKey)) return undefined;
  return hmac(hmac(salted, 'Server Key'), signed).toString('base64');
}

function metadata(request: WireReader, { options, port }: Cluster): Buffer {
  const topics = request.list(() => request.string());
  const answer = new WireWriter().int32(0);
  const broker = {
    host: options.advertised?.host ?? '127.0.0.1',
    port: options.advertised?.port ?? port(),
  };
  answer.list([broker], ({ host, port: at }) =>
    answer.int32(1).string(host).int32(at).string(null),
  );
  answer.string('test').int32(1);
  answer.list(topics, (topic) => {
    answer.int16(0).string(topic).flag(false);
    answer.list(
      Array.from({ length: partitions }, (_, i) => i),
      (partition) => {
        answer.int16(0).int32(partition).int32(1);
        for (let lists = 0; lists < 2; lists++) answer.list([1], (node) => answer.int32(node));
        answer.int32(0);
      },
    );
  });
  return answer.bytes();
}

function produce(request: WireReader, { options, produced }: Cluster): Buffer {
  request.nullableString();
  const acks = request.int16();
  request.int32();
  const error = options.produceErrors?.shift() ?? 0;
  const written = request.list(() => ({
    topic: request.string(),
    batches: request.list(() => ({
      partition: request.int32(),
      records: recordsOf(request.data()),
    })),
  }));
  const answer = new WireWriter();
  answer.list(written, ({ topic, batches }) => {
    answer.string(topic);
    answer.list(batches, ({ partition, records }) => {
      answer.int32(partition).int16(error).int64(BigInt(produced.length)).int64(-1n).int64(0n);
      if (error === 0)
        produced.push(...records.map((record) => ({ ...record, topic, partition, acks })));
    });
  });
  return answer.int32(0).bytes();
}
