// Dialed connections: bytes between two nodes behind one signed request, such as those of a client that goes on there.
import { type IncomingMessage, request as httpRequest, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { NodeAddress } from '../../../model/node-messages.ts';
import { emptyDigest, NodeSigner, refusePlain } from '../cluster-secret.ts';
import {
  aboutForwarded,
  type DialConnection,
  nodeHeaders,
  nodeLimits,
  NodeUnreachable,
} from '../nodes.ts';

const keepAliveAfterMs = 10_000;

export function createConnectionDialer({
  id,
  secret,
  ca,
  plaintext = false,
  now = Date.now,
}: {
  /** Of this node. */
  readonly id: string;
  readonly secret: string;
  /** Certificate authorities of the nodes, as PEM, in place of those of the system. */
  readonly ca?: string | undefined;
  /** Whether nodes on other machines may be asked without TLS. */
  readonly plaintext?: boolean | undefined;
  readonly now?: () => number;
}): DialConnection {
  const signer = new NodeSigner(secret, now);
  return async (to, { path, client, msMax = nodeLimits.connectMsMax }) => {
    refusePlain(to.url, plaintext);
    const about = client === undefined ? '' : aboutForwarded(client.lease, client.remoteAddress);
    const asked = { method: 'GET', path, from: id, to: to.id, about, digest: emptyDigest };
    const dialSigned = () =>
      dial(to, msMax, {
        path,
        ...(ca !== undefined && { ca }),
        headers: {
          connection: 'Upgrade',
          upgrade: 'bytes',
          [nodeHeaders.from]: id,
          [nodeHeaders.signature]: signer.sign(asked),
          ...(client && {
            [nodeHeaders.lease]: client.lease,
            [nodeHeaders.address]: client.remoteAddress,
          }),
        },
      });
    let answer = await dialSigned();
    if (isAnswer(answer) && typeof answer.headers[nodeHeaders.run] === 'string') {
      signer.meet(to.id, answer.headers[nodeHeaders.run] as string);
      answer = await dialSigned();
    }
    if (!isAnswer(answer)) return answer;
    if (answer.headers[nodeHeaders.notHeld] !== undefined) return 'notHeld';
    throw new NodeUnreachable(to, false, `it answered ${answer.statusCode ?? 'nothing'}`);
  };
}

function isAnswer(given: Duplex | IncomingMessage): given is IncomingMessage {
  return 'statusCode' in given;
}

/** The connection, or the answer that refuses it. */
function dial(
  to: NodeAddress,
  msMax: number,
  options: RequestOptions & { readonly ca?: string },
): Promise<Duplex | IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<Duplex | IncomingMessage>();
  const open = to.url.startsWith('https:') ? httpsRequest : httpRequest;
  const request = open(to.url, { ...options, agent: false });
  const late = setTimeout(() => request.destroy(new Error('it did not answer in time')), msMax);
  request.once('upgrade', (_answer, socket: Socket, head) => {
    if (head.length > 0) socket.unshift(head);
    socket.on('error', () => undefined);
    socket.setNoDelay(true).setKeepAlive(true, keepAliveAfterMs);
    resolve(socket);
  });
  request.once('response', (answer) => {
    request.destroy();
    resolve(answer);
  });
  request.on('error', (error) => reject(new NodeUnreachable(to, false, error)));
  request.end();
  return promise.finally(() => clearTimeout(late));
}
