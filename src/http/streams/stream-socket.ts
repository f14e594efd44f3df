// Stream socket: reads no faster than its session handles, and writes shared frames to the connection.
import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { WebSocket } from 'ws';
import type { Replay } from '../../live/sessions/catch-up.ts';
import type {
  AccessChanges,
  AssetsOfTag,
  FindAssets,
  Followable,
  MessageContext,
} from '../../live/sessions/client-message.ts';
import type { FanOut } from '../../live/sessions/fan-out.ts';
import {
  liveLimits,
  type LiveMemory,
  type SessionMemory,
} from '../../live/sessions/live-limits.ts';
import { Outbox, type Flusher } from '../../live/sessions/send-buffer.ts';
import { Session } from '../../live/sessions/session.ts';
import type { EpochMs } from '../../model/instant.ts';
import type { Principal } from '../../model/principal.ts';
import type { OpenCounts } from '../../model/quota.ts';
import type { StreamCredentials } from './handshake.ts';

export interface StreamSocket {
  readonly principal: Principal;
  /**
   * Called once a second; with `ping` sends a ping, or terminates the connection if nothing
   * followed the last one.
   */
  tick(ping: boolean): void;
  end(code: number, reason: string): void;
}

interface StreamSocketOptions {
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
  readonly followable: Followable;
  readonly access: AccessChanges;
  readonly counts: OpenCounts;
  readonly follow?: MessageContext['follow'];
  readonly replay: Replay;
  readonly now: () => EpochMs;
  readonly failed: (errorId: string, error: unknown) => void;
  /** The connection is ended because its reader takes nothing. */
  readonly cut?: ((reason: string) => void) | undefined;
  /** The connection is closed. */
  readonly gone: (stream: StreamSocket) => void;
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
export function openStreamSocket(options: StreamSocketOptions): StreamSocket {
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
