// The WebSocket edge of the live stream, `/v3/data-streams` (interface 4.11 and 6): handshake, sockets, pings, shutdown.
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { WebSocketServer } from 'ws';
import type { Replay } from '../../live/catch-up.ts';
import type { AccessChanges, AssetsOfTag, FindAssets } from '../../live/client-message.ts';
import type { FanOut } from '../../live/fan-out.ts';
import { liveLimits } from '../../live/live-limits.ts';
import { createFlusher } from '../../live/outbox.ts';
import type { EpochMs } from '../../model/instant.ts';
import type { Principal } from '../../model/principal.ts';
import { Problem, problem } from '../../model/problem.ts';
import { standardQuotas } from '../../model/quota.ts';
import { openCounts, type OpenCounts } from '../../model/quota-count.ts';
import { clientAddress } from '../edge/client-address.ts';
import { pathOf, refuseHandshake } from './handshake-refusal.ts';
import { type StreamCredentials, streamCredentials } from './stream-credentials.ts';
import { type StreamSocket, openStreamSocket } from './stream-socket.ts';

export interface DataStreamsOptions {
  readonly fanOut: FanOut;
  /** Throws Problem `unauthorized`, `invalidToken` or `permissionDenied`. Asked at the handshake and again with every `subscribe`. */
  readonly authenticate: (credentials: StreamCredentials) => Promise<Principal>;
  readonly findAssets: FindAssets;
  readonly assetsOfTag: AssetsOfTag;
  readonly access: AccessChanges;
  /** The sample store's `replay`. */
  readonly replay: Replay;
  /** What organizations have open, within their limits; without it they have nothing else open, and the limits of contract 36. */
  readonly counts?: OpenCounts;
  /** Whether somebody else serves the upgrades of a path. */
  readonly isElsewhere?: (path: string) => boolean;
  readonly now: () => EpochMs;
  /** Interval of the checks for slow and dead connections; by default one second. */
  readonly tickMs?: number;
  /** Our own mistake, with the `errorId` that the client was told. */
  readonly failed: (errorId: string, error: unknown) => void;
  /** Proxies whose `X-Forwarded-For` is believed. */
  readonly trustedProxies?: readonly string[];
  /** Told each handshake without a valid credential. */
  readonly refused?: (refused: {
    readonly address: string;
    readonly route: string;
    readonly reason: string;
  }) => void;
  /** Told each connection that is ended because its reader takes nothing. */
  readonly cut?: (reason: string) => void;
}

export interface DataStreams {
  /** Ends the sessions of revoked credentials at once with 4401; returns how many. */
  endSessions(revoked: (principal: Principal) => boolean): number;
  readonly sessions: number;
  /** Refuses new connections, ends all with 1001 and waits until they are gone. */
  close(): Promise<void>;
}

export const dataStreamLimits = {
  path: '/v3/data-streams',
  /** Connections at once; further ones get 503. */
  sessionsMax: 20_000,
  /** Time for the check of the credential. */
  handshakeMs: 10_000,
  /** Every connection gets a WebSocket-level ping after so many ticks; one that was silent since the last is dead. */
  ticksPerPing: 30,
} as const;

/** Takes over the `upgrade` event of the HTTP server. */
export function attachDataStreams(server: Server, options: DataStreamsOptions): DataStreams {
  const sockets = new Set<StreamSocket>();
  const { counts = openCounts(standardQuotas) } = options;
  const flusher = createFlusher(setImmediate);
  const webSockets = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    clientTracking: false,
    maxPayload: liveLimits.frameBytesMax,
  });
  const addressOf = clientAddress(options.trustedProxies ?? []);
  let stopping = false;
  let allGone: (() => void) | undefined;

  async function admitted(
    request: IncomingMessage,
  ): Promise<{ principal: Principal; credentials: StreamCredentials }> {
    const path = pathOf(request);
    if (path !== dataStreamLimits.path)
      throw problem('noSuchRoute', { method: request.method ?? 'GET', path });
    if (stopping) throw problem('stopping');
    if (sockets.size >= dataStreamLimits.sessionsMax) throw problem('intakeFull');
    const credentials = streamCredentials(request);
    return { principal: await options.authenticate(credentials), credentials };
  }

  async function upgrade(request: IncomingMessage, socket: Socket, head: Buffer): Promise<void> {
    const ignore = () => socket.destroy();
    socket.on('error', ignore);
    socket.setTimeout(dataStreamLimits.handshakeMs, ignore);
    try {
      const { principal, credentials } = await admitted(request);
      if (socket.destroyed) return;
      if (stopping) throw problem('stopping');
      if (!counts.webSockets.take(principal.organizationId, 1)) throw counts.webSockets.refusal();
      // A broken handshake ends here, without ever being a stream.
      socket.once('close', () => counts.webSockets.give(principal.organizationId, 1));
      socket.setTimeout(0);
      socket.off('error', ignore);
      webSockets.handleUpgrade(request, socket, head, (webSocket) => {
        const stream = openStreamSocket({
          webSocket,
          socket,
          principal,
          credentials,
          flusher,
          ...options,
          counts,
          gone,
        });
        sockets.add(stream);
      });
    } catch (thrown) {
      const refused = thrown instanceof Problem ? thrown : problem('internal');
      const errorId = refuseHandshake(request, socket, refused, options.now());
      if (refused !== thrown) options.failed(errorId, thrown);
      if (refused.status === 401)
        options.refused?.({
          address: addressOf(request),
          route: dataStreamLimits.path,
          reason: refused.problem,
        });
    }
  }

  function gone(stream: StreamSocket): void {
    sockets.delete(stream);
    if (sockets.size === 0) allGone?.();
  }

  const onUpgrade = (request: IncomingMessage, socket: Socket, head: Buffer) => {
    if (options.isElsewhere?.(pathOf(request)) !== true) void upgrade(request, socket, head);
  };
  server.on('upgrade', onUpgrade);
  let ticks = 0;
  const timer = setInterval(() => {
    ticks++;
    for (const stream of sockets) stream.tick(ticks % dataStreamLimits.ticksPerPing === 0);
  }, options.tickMs ?? liveLimits.tickMs);

  return {
    endSessions(revoked) {
      const ended = [...sockets].filter(({ principal }) => revoked(principal));
      for (const stream of ended) stream.end(4401, 'the credential was revoked');
      return ended.length;
    },
    get sessions() {
      return sockets.size;
    },
    async close() {
      stopping = true;
      const empty = new Promise<void>((resolve) => (allGone = resolve));
      for (const stream of sockets) stream.end(1001, 'the server is stopping');
      if (sockets.size > 0) await empty;
      clearInterval(timer);
      server.off('upgrade', onUpgrade);
    },
  };
}
