// Live stream over WebSocket, `/v3/data-streams`: handshakes, sockets, pings, shutdown (interface 4.11 and 6).
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';
import type { Replay } from '../../live/sessions/catch-up.ts';
import type {
  AccessChanges,
  AssetsOfPlace,
  AssetsOfTag,
  FindAssets,
  Followable,
  FollowDevices,
} from '../../live/sessions/session-access.ts';
import type { FanOut } from '../../live/sessions/fan-out.ts';
import { liveLimits, LiveMemory, type SessionMemory } from '../../live/sessions/live-limits.ts';
import type { PlaceWatch } from '../../live/sessions/place-watch.ts';
import { Flusher, Outbox } from '../../live/sessions/send-buffer.ts';
import { Session } from '../../live/sessions/session.ts';
import type { EpochMs } from '../../model/instant.ts';
import type { Principal } from '../../model/principal.ts';
import { Problem, problem } from '../../model/problem.ts';
import { openCounts, type OpenCounts, standardQuotas } from '../../model/quota.ts';
import { SharedPool } from '../../structures/shared-pool.ts';
import { checkRequestHead, clientAddress } from '../edge/admission.ts';
import {
  pathOf,
  refuseBadHandshakes,
  refuseHandshake,
  type StreamCredentials,
  streamCredentials,
} from './handshake.ts';

export interface DataStreamsOptions {
  readonly fanOut: FanOut;
  /**
   * Throws Problem `unauthorized`, `invalidToken` or `permissionDenied`. Called for the handshake
   * and again for every `subscribe`.
   */
  readonly authenticate: (credentials: StreamCredentials) => Promise<Principal>;
  readonly findAssets: FindAssets;
  readonly assetsOfTag: AssetsOfTag;
  readonly assetsOfPlace: AssetsOfPlace;
  readonly followable: Followable;
  readonly access: AccessChanges;
  readonly placeWatch: PlaceWatch;
  /** With several nodes: see the context of messages. */
  readonly follow?: FollowDevices | undefined;
  /** The sample store's `replay`. */
  readonly replay: Replay;
  /**
   * Counts of what organizations have open, with their limits; by default nothing, with the limits
   * of contract 36.
   */
  readonly counts?: OpenCounts;
  /** Whether another server of the process serves the upgrades of a path. */
  readonly isElsewhere?: (path: string) => boolean;
  readonly now: () => EpochMs;
  readonly publicUrl: string;
  /** Open connections, by default `dataStreamLimits.sessionsMax`. */
  readonly sessionsMax?: number;
  /** Bytes that all sessions may keep for slow readers, by default the limit of the live stream. */
  readonly sessionBytesMax?: number;
  /** Interval of the checks for slow and dead connections; by default one second. */
  readonly tickMs?: number;
  /** Reports an internal error, with the `errorId` that the client received. */
  readonly failed: (errorId: string, error: unknown) => void;
  /** Proxies whose `X-Forwarded-For` is trusted. */
  readonly trustedProxies?: readonly string[];
  /** Reports a handshake without a valid credential. */
  readonly refused?: (refused: {
    readonly address: string;
    readonly route: string;
    readonly reason: string;
  }) => void;
  /** Reports a connection that is ended because its reader takes nothing. */
  readonly cut?: (reason: string) => void;
}

export const dataStreamLimits = {
  path: '/v3/data-streams',
  /**
   * Open connections. Beyond, the organization that has most gets 503 for further ones, or loses
   * some to others.
   */
  sessionsMax: 20_000,
  /** Time for the check of the credential. */
  handshakeMs: 10_000,
  /**
   * Ticks between WebSocket pings; a connection that was silent since the last ping is terminated.
   */
  ticksPerPing: 30,
} as const;

/** The open sockets, and the parts that every new one gets. */
interface Streams {
  readonly options: DataStreamsOptions & { readonly counts: OpenCounts };
  readonly sockets: Set<StreamSocket>;
  /** The connections under them, with a share for each organization. */
  readonly shares: SharedPool<Socket>;
  readonly streamOf: WeakMap<Socket, StreamSocket>;
  readonly flusher: Flusher;
  readonly memory: LiveMemory;
  readonly webSockets: WebSocketServer;
  readonly addressOf: (request: IncomingMessage) => string;
  isStopping: boolean;
  /** Called when the last socket is gone. */
  allGone: (() => void) | undefined;
}

/** Takes over the `upgrade` event of the HTTP server. */
export class DataStreams {
  readonly #server: Server;
  readonly #options: DataStreamsOptions;
  readonly #streams: Streams;
  readonly #timer;
  readonly #onUpgrade = (request: IncomingMessage, socket: Socket, head: Buffer) => {
    if (this.#options.isElsewhere?.(pathOf(request)) !== true)
      void upgrade(this.#streams, request, socket, head);
  };

  constructor(server: Server, options: DataStreamsOptions) {
    this.#server = server;
    this.#options = options;
    this.#streams = createStreams(options);
    server.on('upgrade', this.#onUpgrade);
    refuseBadHandshakes(this.#streams.webSockets, options);
    this.#timer = startTicks(this.#streams.sockets, options.tickMs ?? liveLimits.tickMs);
  }

  /** Ends the sessions of revoked credentials with 4401; returns their number. */
  readonly endSessions = (revoked: (principal: Principal) => boolean): number => {
    const ended = [...this.#streams.sockets].filter(({ principal }) => revoked(principal));
    for (const stream of ended) stream.end(4401, 'the credential was revoked');
    return ended.length;
  };

  /** Ends all connections with 1012, so that clients connect again. */
  readonly restart = (): void => {
    for (const stream of this.#streams.sockets)
      stream.end(1012, 'the server may have missed changes; reconnect');
  };

  /** Rejects new connections, ends all with 1001 and resolves when they are closed. */
  readonly close = async (): Promise<void> => {
    await endAll(this.#streams);
    clearInterval(this.#timer);
    this.#server.off('upgrade', this.#onUpgrade);
  };

  get sessions(): number {
    return this.#streams.sockets.size;
  }

  /** Bytes that sessions keep for slow readers. */
  get sessionBytes(): number {
    return this.#streams.memory.bytes;
  }
}

function createStreams(options: DataStreamsOptions): Streams {
  const streamOf = new WeakMap<Socket, StreamSocket>();
  const shares = new SharedPool<Socket>({
    max: options.sessionsMax ?? dataStreamLimits.sessionsMax,
    giveWay(socket) {
      options.cut?.('too many connections');
      streamOf.get(socket)?.end(1013, 'the organization has too many connections');
    },
    ownGivesWay: 'newcomer',
  });
  return {
    shares,
    streamOf,
    options: { ...options, counts: options.counts ?? openCounts(standardQuotas) },
    sockets: new Set(),
    flusher: new Flusher(setImmediate),
    memory: new LiveMemory(options.sessionBytesMax),
    webSockets: new WebSocketServer({
      noServer: true,
      perMessageDeflate: false,
      clientTracking: false,
      maxPayload: liveLimits.frameBytesMax,
    }),
    addressOf: clientAddress(options.trustedProxies ?? []),
    isStopping: false,
    allGone: undefined,
  };
}

function startTicks(sockets: ReadonlySet<StreamSocket>, tickMs: number): NodeJS.Timeout {
  let ticks = 0;
  return setInterval(() => {
    ticks++;
    for (const stream of sockets) stream.tick(ticks % dataStreamLimits.ticksPerPing === 0);
  }, tickMs);
}

async function endAll(streams: Streams): Promise<void> {
  const { sockets } = streams;
  streams.isStopping = true;
  const empty = new Promise<void>((resolve) => {
    streams.allGone = resolve;
  });
  for (const stream of sockets) stream.end(1001, 'the server is stopping');
  if (sockets.size > 0) await empty;
}

interface Admitted {
  readonly principal: Principal;
  readonly credentials: StreamCredentials;
}

async function admit(streams: Streams, request: IncomingMessage): Promise<Admitted> {
  checkRequestHead(request);
  const path = pathOf(request);
  if (path !== dataStreamLimits.path)
    throw problem('noSuchRoute', { method: request.method ?? 'GET', path });
  if (streams.isStopping) throw problem('stopping');
  const credentials = streamCredentials(request);
  return { principal: await streams.options.authenticate(credentials), credentials };
}

async function upgrade(
  streams: Streams,
  request: IncomingMessage,
  socket: Socket,
  head: Buffer,
): Promise<void> {
  const { webSockets } = streams;
  const { webSockets: quota } = streams.options.counts;
  const destroy = () => socket.destroy();
  socket.on('error', destroy);
  const late = setTimeout(destroy, dataStreamLimits.handshakeMs);
  socket.once('close', () => clearTimeout(late));
  try {
    const admitted = await admit(streams, request);
    if (socket.destroyed) return;
    if (streams.isStopping) throw problem('stopping');
    const { organizationId } = admitted.principal;
    if (!quota.take(organizationId, 1)) throw quota.refusal();
    // A broken handshake ends here, without ever being a stream.
    socket.once('close', () => {
      quota.give(organizationId, 1);
      streams.shares.release(socket);
    });
    if (!streams.shares.hold(organizationId, socket, 1)) throw problem('intakeFull');
    clearTimeout(late);
    socket.off('error', destroy);
    webSockets.handleUpgrade(request, socket, head, (webSocket) =>
      addStream(streams, admitted, webSocket, socket),
    );
  } catch (thrown) {
    reject(streams, request, socket, thrown);
  }
}

function addStream(
  streams: Streams,
  admitted: Admitted,
  webSocket: WebSocket,
  socket: Socket,
): void {
  const { options, flusher, memory, sockets } = streams;
  const gone = (stream: StreamSocket) => {
    sockets.delete(stream);
    if (sockets.size === 0) streams.allGone?.();
  };
  const parts = { webSocket, socket, flusher, memory, gone };
  const stream = openStreamSocket({ ...options, ...admitted, ...parts });
  sockets.add(stream);
  streams.streamOf.set(socket, stream);
}

/** Answers a handshake that failed, and reports an internal error or a refused credential. */
function reject(
  { options, addressOf }: Streams,
  request: IncomingMessage,
  socket: Socket,
  thrown: unknown,
): void {
  if (!(thrown instanceof Problem)) {
    const errorId = refuseHandshake(request, socket, problem('internal'), options);
    options.failed(errorId, thrown);
    return;
  }
  refuseHandshake(request, socket, thrown, options);
  if (thrown.status !== 401) return;
  const { path: route } = dataStreamLimits;
  options.refused?.({ address: addressOf(request), route, reason: thrown.problem });
}

// Stream socket: reads no faster than its session handles, and writes shared frames to the connection.

interface StreamSocket {
  readonly principal: Principal;
  /**
   * Called once a second; with `ping` sends a ping, or terminates the connection if nothing
   * followed the last one.
   */
  tick(ping: boolean): void;
  end(code: number, reason: string): void;
}

/** A socket with what changes while it is open. */
interface Connection {
  readonly webSocket: WebSocket;
  readonly session: Session;
  readonly memory: SessionMemory;
  /** Bytes of a message that has arrived in part, and for how many ticks it has. */
  partialBytes: number;
  partialTicks: number;
  /** Whether anything was received since the last ping. */
  isAlive: boolean;
  messagesInTick: number;
  /** Ends a closing connection whose peer does not answer. */
  grace: NodeJS.Timeout | undefined;
}

/** Greets and serves the connection until it closes. */
function openStreamSocket(options: {
  readonly webSocket: WebSocket;
  /**
   * The connection under the WebSocket. The frames of both are complete writes, so they never mix.
   */
  readonly socket: Socket;
  readonly principal: Principal;
  readonly credentials: StreamCredentials;
  readonly flusher: Flusher;
  readonly memory: LiveMemory;
  readonly fanOut: FanOut;
  readonly authenticate: (credentials: StreamCredentials) => Promise<Principal>;
  readonly findAssets: FindAssets;
  readonly assetsOfTag: AssetsOfTag;
  readonly assetsOfPlace: AssetsOfPlace;
  readonly followable: Followable;
  readonly access: AccessChanges;
  readonly placeWatch: PlaceWatch;
  readonly counts: OpenCounts;
  readonly follow?: FollowDevices | undefined;
  readonly replay: Replay;
  readonly now: () => EpochMs;
  readonly failed: (errorId: string, error: unknown) => void;
  /** The connection is ended because its reader takes nothing. */
  readonly cut?: ((reason: string) => void) | undefined;
  /** The connection is closed. */
  readonly gone: (stream: StreamSocket) => void;
}): StreamSocket {
  const { webSocket, socket, principal } = options;
  const memory = options.memory.open(principal.organizationId, () => {
    const reason = 'slow reader: the organization has no room left';
    options.cut?.('no room');
    end(connection, 1013, reason);
    if (socket.writableLength > liveLimits.toldBehindBytesMax) webSocket.terminate();
  });
  const outbox = new Outbox({
    memory,
    write: (bytes) => webSocket.readyState !== WebSocket.OPEN || socket.write(bytes),
    cut: (reason) => {
      options.cut?.(reason);
      end(connection, 1013, reason);
    },
    flusher: options.flusher,
  });
  const session = new Session({
    ...options,
    organizationId: principal.organizationId,
    items: options.counts.subscriptionItems,
    outbox,
    memory,
    newErrorId: randomUUID,
    authorize: (accessToken) =>
      options.authenticate(accessToken === undefined ? options.credentials : { accessToken }),
    end: (reason) => end(connection, 1013, reason),
    idle: () => resumeReading(connection),
  });
  const connection: Connection = {
    webSocket,
    session,
    memory,
    partialBytes: 0,
    partialTicks: 0,
    isAlive: true,
    messagesInTick: 0,
    grace: undefined,
  };
  const stream: StreamSocket = {
    principal,
    tick: (ping) => tick(connection, ping),
    end: (code, reason) => end(connection, code, reason),
  };
  listen(connection, () => options.gone(stream));
  // Before the WebSocket reads it.
  socket.prependListener('data', (bytes: Buffer) => arrived(connection, bytes.length));
  socket.on('drain', outbox.drained);
  session.open();
  return stream;
}

function listen(connection: Connection, gone: () => void): void {
  const { webSocket, session } = connection;
  const noteLife = (data: Buffer) => {
    connection.isAlive = true;
    // May come in the middle of a message.
    arrived(connection, -Math.min(controlHeadBytes + data.length, connection.partialBytes));
  };
  webSocket.on('message', (data: Buffer, isBinary: boolean) => read(connection, data, isBinary));
  webSocket.on('ping', noteLife);
  webSocket.on('pong', noteLife);
  // Protocol errors close the connection themselves; `close` follows.
  webSocket.on('error', () => undefined);
  webSocket.on('close', () => {
    clearTimeout(connection.grace);
    session.close();
    gone();
  });
}

/**
 * The close frame waits behind the unsent bytes of the socket; the connection of a reader that
 * takes nothing is terminated.
 */
function end(connection: Connection, code: number, reason: string): void {
  const { webSocket, session, grace } = connection;
  session.close();
  if (grace !== undefined) return;
  webSocket.resume();
  webSocket.close(code, reason);
  connection.grace = setTimeout(() => webSocket.terminate(), liveLimits.closeGraceMs);
}

function read(connection: Connection, data: Buffer, isBinary: boolean): void {
  const { webSocket, session } = connection;
  connection.isAlive = true;
  connection.partialTicks = 0;
  arrived(connection, -connection.partialBytes);
  connection.messagesInTick++;
  if (isBinary) session.receiveBinary();
  else if (data.length > liveLimits.messageBytesMax) session.receiveTooLarge();
  else session.receive(data.toString('utf8'));
  if (isBusy(connection)) webSocket.pause();
}

/** Bytes arrived that are of no complete message yet, or were of the one that is complete now. */
function arrived(connection: Connection, bytes: number): void {
  connection.partialBytes += bytes;
  connection.memory.change(bytes);
}

function isBusy({ session, messagesInTick }: Connection): boolean {
  return (
    session.waiting > liveLimits.waitingMessagesPause ||
    session.waitingBytes > liveLimits.waitingBytesPause ||
    messagesInTick > liveLimits.messagesPerTickMax
  );
}

/** Of a short masked frame (RFC 6455, 5.2). */
const controlHeadBytes = 6;

/** Called when the session has handled everything, and every tick. */
function resumeReading(connection: Connection): void {
  if (connection.webSocket.isPaused && !isBusy(connection)) connection.webSocket.resume();
}

function tick(connection: Connection, ping: boolean): void {
  const { webSocket, session } = connection;
  connection.messagesInTick = 0;
  resumeReading(connection);
  session.tick();
  connection.partialTicks = connection.partialBytes > 0 ? connection.partialTicks + 1 : 0;
  if (connection.partialTicks > liveLimits.partialTicksMax)
    return end(connection, 1008, 'a message must arrive within 30 s');
  if (!ping || connection.grace !== undefined) return;
  if (!connection.isAlive) return webSocket.terminate();
  connection.isAlive = false;
  webSocket.ping();
}
