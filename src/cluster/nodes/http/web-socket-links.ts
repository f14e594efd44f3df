// Links over WebSocket: dialed at the internal ports of other nodes, each opened by a signed request.
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocket, WebSocketServer } from 'ws';
import type { NodeAddress } from '../../../model/node-messages.ts';
import { setRepeatingTimer, setTimer } from '../../../structures/timers.ts';
import { emptyDigest, NodeSigner, refusePlain } from '../cluster-secret.ts';
import { createDialedLinks } from '../links/dialed-links.ts';
import { type LinkSender, openLinkSender } from '../links/link-sender.ts';
import type { LinkSocket } from '../links/link-channel.ts';
import { type FeedHandlers, linkLimits, type Links } from '../links/links.ts';
import { linkPath, nodeHeaders } from '../nodes.ts';

const socketOptions = {
  perMessageDeflate: false,
  maxPayload: linkLimits.messageBytesMax,
  // Messages are JSON that a node of the same cluster wrote.
  skipUTF8Validation: true,
} as const;

export function createWebSocketLinks(given: {
  /** Of this node. */
  readonly id: string;
  readonly secret: string;
  /** Certificate authorities of the nodes, as PEM, in place of those of the system. */
  readonly ca?: string | undefined;
  /** Whether nodes on other machines may be followed without TLS. */
  readonly plaintext?: boolean | undefined;
  readonly now?: () => number;
}): Links {
  const { id, secret, ca, plaintext = false, now = Date.now } = given;
  const signer = new NodeSigner(secret, now);
  const options = {
    ...socketOptions,
    handshakeTimeout: linkLimits.connectMsMax,
    ...(ca !== undefined && { ca }),
  };
  return createDialedLinks({
    setTimer,
    setRepeatingTimer,
    async dial(to) {
      refusePlain(to.url, plaintext);
      const asked = { method: 'GET', path: linkPath, from: id, to: to.id, about: '' };
      const signed = () => {
        const signature = signer.sign({ ...asked, digest: emptyDigest });
        return { [nodeHeaders.from]: id, [nodeHeaders.signature]: signature };
      };
      const told = await dial(to, { ...options, headers: signed() });
      if (typeof told !== 'string') return told;
      signer.meet(to.id, told);
      const again = await dial(to, { ...options, headers: signed() });
      if (typeof again !== 'string') return again;
      throw new Error('The node refuses the signature');
    },
  });
}

/** The connection, or the run to sign for, when the node refuses the signature. */
function dial(to: NodeAddress, options: WebSocket.ClientOptions): Promise<LinkSocket | string> {
  const webSocket = new WebSocket(`${to.url.replace(/^http/, 'ws')}${linkPath}`, options);
  return new Promise((resolve, reject) => {
    webSocket.once('error', reject);
    webSocket.once('unexpected-response', (request, { statusCode, headers }) => {
      request.destroy();
      const run = headers[nodeHeaders.run];
      if (typeof run === 'string') resolve(run);
      else reject(new Error(`The node answered ${statusCode ?? 'nothing'}`));
    });
    webSocket.once('open', () => resolve(linkSocketOf(webSocket)));
  });
}

function linkSocketOf(webSocket: WebSocket): LinkSocket {
  // Messages may follow before the link listens.
  webSocket.pause();
  let reason = 'the connection was closed';
  webSocket.on('error', (error) => {
    reason = error.message;
  });
  return {
    send(message) {
      if (webSocket.readyState === WebSocket.OPEN) webSocket.send(message);
    },
    listen({ received, closed }) {
      webSocket.on('message', (data: Buffer) => received(data.toString()));
      webSocket.once('close', () => closed(reason));
      webSocket.resume();
      if (webSocket.readyState === WebSocket.CLOSED) closed(reason);
    },
    close: () => webSocket.terminate(),
  };
}

interface LinkServerParts {
  readonly feeds: FeedHandlers;
  readonly failed: (feed: string, error: unknown) => void;
}

export class LinkServer {
  readonly #parts: LinkServerParts;
  readonly #senders = new Set<LinkSender>();
  readonly #server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    ...socketOptions,
  });
  #isClosed = false;

  constructor(parts: LinkServerParts) {
    this.#parts = parts;
  }

  readonly close = async (): Promise<void> => {
    this.#isClosed = true;
    await Promise.all([...this.#senders].map((sender) => sender.close()));
  };

  /** Takes over the connection of a node whose signature is right. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const from = String(request.headers[nodeHeaders.from] ?? '');
    this.#server.handleUpgrade(request, socket, head, (webSocket) => {
      if (this.#isClosed) return webSocket.terminate();
      const linkSocket = linkSocketOf(webSocket);
      const sender = openLinkSender({
        ...this.#parts,
        socket: linkSocket,
        from,
        setRepeatingTimer,
      });
      this.#senders.add(sender);
      webSocket.once('close', () => this.#senders.delete(sender));
    });
  }
}
