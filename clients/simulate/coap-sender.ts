// Simulated devices over CoAP: confirmable POSTs to /v3/capture from a few sockets.
import type { Sender } from './simulation.ts';
import type { SenderTarget } from './sender-target.ts';

/** Sockets share the receive buffers of the system; message ids count per socket. */
const socketsMax = 8;

export async function coapSender({
  host,
  port,
  uplinkSecret,
  inFlightMax,
}: SenderTarget): Promise<Sender> {
  // A development package: the platform has its own CoAP codec, and the other protocols need none.
  const { Agent, request } = await import('coap');
  const sockets = Math.min(socketsMax, inFlightMax);
  const type = host.includes(':') ? 'udp6' : 'udp4';
  const agents = Array.from({ length: sockets }, () => new Agent({ type }));
  let turn = 0;
  return {
    send: ({ deviceId }, payload) =>
      new Promise((resolve, reject) => {
        const outgoing = request({
          hostname: host,
          port,
          method: 'POST',
          pathname: '/v3/capture',
          query: `secret=${uplinkSecret}&deviceId=${deviceId}`,
          confirmable: true,
          agent: agents[turn++ % sockets]!,
          options: { 'Content-Format': 'application/json' },
        });
        outgoing.on('response', ({ code }) =>
          code === '2.01' ? resolve() : reject(new Error(code)),
        );
        outgoing.on('error', reject);
        outgoing.on('timeout', reject);
        outgoing.end(payload);
      }),
    async close() {
      for (const agent of agents) agent.close();
    },
  };
}
