// Front of a cluster: one port whose connections go to the nodes in turns, as a balancer's would.
import { connect, createServer, type Socket } from 'node:net';
import { once } from 'node:events';
import { setRepeatingTimer } from '../../src/structures/timers.ts';

export interface Front {
  close(): Promise<void>;
}

const host = '127.0.0.1';
const askEveryMs = 1_000;
const answerMsMax = 2_000;

/**
 * Listens on a loopback port. A connection goes to the next node that answers `/health/ready` with
 * 200, or to the next one at all when none does. Rejects when the port cannot be opened.
 */
export async function openFront(port: number, nodePorts: readonly number[]): Promise<Front> {
  const ready = new Set(nodePorts);
  let turn = 0;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const candidates = nodePorts.filter((one) => ready.has(one));
    const among = candidates.length > 0 ? candidates : nodePorts;
    const chosen = among[turn++ % among.length] ?? port;
    const node = connect(chosen, host);
    for (const [one, other] of [
      [client, node],
      [node, client],
    ] as const) {
      sockets.add(one);
      one.once('error', () => other.destroy());
      one.once('close', () => {
        sockets.delete(one);
        other.destroySoon();
      });
      one.pipe(other);
    }
  });
  server.listen(port, host);
  await once(server, 'listening');
  const stopAsking = setRepeatingTimer(() => {
    for (const one of nodePorts)
      void isReady(one).then((answers) => void (answers ? ready.add(one) : ready.delete(one)));
  }, askEveryMs);
  return {
    async close() {
      stopAsking();
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

async function isReady(port: number): Promise<boolean> {
  const signal = AbortSignal.timeout(answerMsMax);
  const answer = fetch(`http://${host}:${port}/health/ready`, { signal });
  return answer.then(
    ({ ok }) => ok,
    () => false,
  );
}
