// CoAP server: the UDP socket of the endpoint, closed when requests in progress are answered.
import { createSocket, type Socket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import type { EpochMs } from '../../model/instant.ts';
import type { CoapAnswer } from './coap-answer.ts';
import { type CoapEvents, CoapEndpoint } from './coap-endpoint.ts';
import { exchangeLimits } from './coap-exchanges.ts';
import type { CoapMessage } from './coap-message.ts';
import { setTimer } from '../../structures/timers.ts';

/** What the system keeps of datagrams that come faster than they are read; it may allow less. */
const receiveBufferBytes = 4 * 1024 * 1024;
const openMax = 2_048;
const limits = { ...exchangeLimits, openMax };

interface CoapServerParts {
  readonly host: string;
  /** 0 is any free one. */
  readonly port: number;
  readonly handle: (
    message: CoapMessage,
    sender: string,
    duplicateKey: string,
  ) => Promise<CoapAnswer>;
  readonly events: CoapEvents;
  readonly now: () => EpochMs;
}

interface CoapServer {
  readonly port: number;
  readonly open: () => number;
  readonly remembered: () => number;
  /** Takes no more requests; resolves when those under way are answered. */
  close(): Promise<void>;
}

/** Resolves when the port is bound; rejects with the system's error when it cannot be. */
export async function startCoapServer(parts: CoapServerParts): Promise<CoapServer> {
  const { events, handle, now } = parts;
  const socket = createSocket({
    type: isIPv6(parts.host) ? 'udp6' : 'udp4',
    recvBufferSize: receiveBufferBytes,
  });
  const endpoint = new CoapEndpoint({
    handle,
    // A sender that is gone is its own loss: an error of sending has nobody to tell.
    send: (datagram, { address, port }) => socket.send(datagram, port, address, () => undefined),
    schedule: setTimer,
    events,
    limits,
    now,
  });
  await bound(socket, parts);
  socket.on('error', (error) => events.failed(error));
  socket.on('message', (datagram, sender) => {
    // A port of 0 can only be made up, and nothing can be sent there.
    if (sender.port !== 0) endpoint.receive(datagram, sender);
  });
  return {
    port: socket.address().port,
    open: () => endpoint.open,
    remembered: () => endpoint.remembered,
    async close() {
      socket.removeAllListeners('message');
      await endpoint.drained();
      endpoint.close();
      await new Promise<void>((resolve) => socket.close(() => resolve()));
    },
  };
}

async function bound(socket: Socket, { host, port }: CoapServerParts): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject);
    socket.bind({ port, address: host, exclusive: true }, () => {
      socket.removeListener('error', reject);
      resolve();
    });
  });
}
