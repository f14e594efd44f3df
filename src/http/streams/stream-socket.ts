// One socket of the live stream: reads no faster than its session handles, writes shared frames straight to the connection.
import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { WebSocket } from 'ws';
import type { Replay } from '../../live/catch-up.ts';
import type { AccessChanges, AssetsOfTag, FindAssets } from '../../live/client-message.ts';
import type { FanOut } from '../../live/fan-out.ts';
import { liveLimits } from '../../live/live-limits.ts';
import { createOutbox, type Flusher } from '../../live/outbox.ts';
import { createSession } from '../../live/session.ts';
import type { EpochMs } from '../../model/instant.ts';
import type { Principal } from '../../model/principal.ts';
import type { OpenCounts } from '../../model/quota-count.ts';
import type { StreamCredentials } from './stream-credentials.ts';

export interface StreamSocket {
  readonly principal: Principal;
  /** Once a second; with `ping` the peer is asked for a sign of life, and ended when the last question got none. */
  tick(ping: boolean): void;
  end(code: number, reason: string): void;
}

interface StreamSocketOptions {
  readonly webSocket: WebSocket;
  /** The connection under the WebSocket. Its frames and ours are whole writes, so they never mix. */
  readonly socket: Socket;
  readonly principal: Principal;
  readonly credentials: StreamCredentials;
  readonly flusher: Flusher;
  readonly fanOut: FanOut;
  readonly authenticate: (credentials: StreamCredentials) => Promise<Principal>;
  readonly findAssets: FindAssets;
  readonly assetsOfTag: AssetsOfTag;
  readonly access: AccessChanges;
  readonly counts: OpenCounts;
  readonly replay: Replay;
  readonly now: () => EpochMs;
  readonly failed: (errorId: string, error: unknown) => void;
  /** The connection is ended because its reader takes nothing. */
  readonly cut?: ((reason: string) => void) | undefined;
  /** The connection is closed. */
  readonly gone: (stream: StreamSocket) => void;
}

/** Greets and serves the connection until it closes. */
export function openStreamSocket(options: StreamSocketOptions): StreamSocket {
  const { webSocket, socket, principal } = options;
  let alive = true;
  let readInTick = 0;
  let grace: NodeJS.Timeout | undefined;

  const outbox = createOutbox({
    write: (bytes) => webSocket.readyState !== WebSocket.OPEN || socket.write(bytes),
    cut: (reason) => {
      options.cut?.(reason);
      end(1013, reason);
    },
    flusher: options.flusher,
  });
  const session = createSession({
    ...options,
    organizationId: principal.organizationId,
    items: options.counts.subscriptionItems,
    outbox,
    newErrorId: randomUUID,
    authorize: (accessToken) =>
      options.authenticate(accessToken === undefined ? options.credentials : { accessToken }),
    end: (reason) => end(1013, reason),
    idle: readOn,
  });

  // The close frame waits behind what the socket holds; a reader that takes nothing is ended hard.
  function end(code: number, reason: string): void {
    session.close();
    if (grace !== undefined) return;
    webSocket.resume();
    webSocket.close(code, reason);
    grace = setTimeout(() => webSocket.terminate(), liveLimits.closeGraceMs);
  }

  function read(data: Buffer, isBinary: boolean): void {
    alive = true;
    readInTick++;
    if (isBinary) session.receiveBinary();
    else if (data.length > liveLimits.messageBytesMax) session.receiveTooLarge();
    else session.receive(data.toString('utf8'));
    if (isBusy()) webSocket.pause();
  }

  function isBusy(): boolean {
    return (
      session.waiting > liveLimits.waitingMessagesPause ||
      readInTick > liveLimits.messagesPerTickMax
    );
  }

  // Asked when the session has handled everything, and every tick.
  function readOn(): void {
    if (webSocket.isPaused && !isBusy()) webSocket.resume();
  }

  const stream: StreamSocket = {
    principal,
    tick(ping) {
      readInTick = 0;
      readOn();
      session.tick();
      if (!ping || grace !== undefined) return;
      if (!alive) return webSocket.terminate();
      alive = false;
      webSocket.ping();
    },
    end,
  };

  webSocket.on('message', (data: Buffer, isBinary: boolean) => read(data, isBinary));
  webSocket.on('ping', () => (alive = true));
  webSocket.on('pong', () => (alive = true));
  // Protocol errors close the connection themselves; `close` follows.
  webSocket.on('error', () => undefined);
  webSocket.on('close', () => {
    clearTimeout(grace);
    session.close();
    options.gone(stream);
  });
  socket.on('drain', outbox.drained);
  session.open();
  return stream;
}
