// Datagram storm: sends as fast as the server reads; a ping after each group confirms that.
import { codeText } from '../../src/transports/coap/coap-answer.ts';
import {
  emptyMessage,
  encodeMessage,
  parseMessage,
} from '../../src/transports/coap/coap-message.ts';
import { rawCoapSocket } from './coap-device.ts';

const groupSize = 50;
const pingTriesMax = 20;

/**
 * Sends `count` datagrams; resolves with the number of answers per code, resets as `0.00`. Rejects
 * without answers to pings.
 */
export async function stormOf(
  port: number,
  datagrams: Iterator<Buffer>,
  count: number,
): Promise<Record<string, number>> {
  const socket = await rawCoapSocket(port);
  const codes: Record<string, number> = {};
  try {
    for (let sent = 0; sent < count; sent++) {
      socket.send(datagrams.next().value as Buffer);
      if (sent % groupSize === groupSize - 1 || sent === count - 1) await pong(socket, codes, sent);
    }
    return codes;
  } finally {
    socket.close();
  }
}

async function pong(
  socket: Awaited<ReturnType<typeof rawCoapSocket>>,
  codes: Record<string, number>,
  id: number,
): Promise<void> {
  const ping = encodeMessage(emptyMessage(0, id % 65_536));
  const isPong = (datagram: Buffer): boolean =>
    datagram.equals(encodeMessage(emptyMessage(3, id % 65_536)));
  for (let tries = 0; tries < pingTriesMax; tries++) {
    socket.send(ping);
    for (;;) {
      const datagram = await socket.next(500).catch(() => undefined);
      if (datagram === undefined) break;
      if (isPong(datagram)) return;
      const message = parseMessage(datagram);
      if (typeof message === 'string' || 'malformed' in message)
        throw new Error(`a malformed answer: ${datagram.toString('hex')}`);
      const code = codeText(message.code);
      codes[code] = (codes[code] ?? 0) + 1;
    }
  }
  throw new Error('nobody answers pings any more');
}
