// Delivery sink for kill runs: records requests, delays and rejects some, and notices disconnects.
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Arrival {
  readonly deliveryId: string;
  readonly deviceId: string;
  readonly sequence: number;
  /** Which process sent it. */
  readonly life: number;
  /** Result of the request; an attempt whose process was killed before the answer is `cut`. */
  fate: 'held' | 'accepted' | 'refused' | 'cut';
}

export interface DeliverySink {
  readonly url: string;
  /** In the order they came. */
  readonly arrivals: readonly Arrival[];
  /** Requests whose answer is held back. */
  readonly holding: number;
  readonly connections: number;
  accepted(deviceId: string, sequence: number): boolean;
  acceptedOf(deviceId: string): number;
  /** Delayed requests get no answer from now on. */
  killed(): void;
  nextLife(): void;
  close(): Promise<void>;
}

const heldShare = 0.1;
const refusedShare = 0.01;
const holdMsMax = 40;

/** `random` is from 0 to 1. */
export async function startDeliverySink(random: () => number): Promise<DeliverySink> {
  const arrivals: Arrival[] = [];
  const held = new Map<Arrival, NodeJS.Timeout>();
  const accepted = new Map<string, Set<number>>();
  let life = 0;
  let connections = 0;

  function answer(arrival: Arrival, response: ServerResponse, refuses: boolean): void {
    held.delete(arrival);
    arrival.fate = refuses ? 'refused' : 'accepted';
    if (refuses) return void response.writeHead(500).end();
    const ofDevice = accepted.get(arrival.deviceId) ?? new Set();
    accepted.set(arrival.deviceId, ofDevice.add(arrival.sequence));
    response.end('ok');
  }

  function take(deliveryId: string, text: string, response: ServerResponse): void {
    const { deviceId, data } = JSON.parse(text) as { deviceId: string; data: { sequence: number } };
    const arrival: Arrival = { deliveryId, deviceId, sequence: data.sequence, life, fate: 'held' };
    arrivals.push(arrival);
    const chance = random();
    if (chance > heldShare) return answer(arrival, response, false);
    const refuses = chance < refusedShare;
    held.set(
      arrival,
      setTimeout(() => answer(arrival, response, refuses), random() * holdMsMax),
    );
  }

  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    // The platform is killed on purpose.
    request.on('error', () => undefined);
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () =>
      take(String(request.headers['x-delivery-id']), Buffer.concat(chunks).toString(), response),
    );
  });
  server.on('connection', (socket) => {
    connections++;
    socket.on('close', () => connections--);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    arrivals,
    get holding() {
      return held.size;
    },
    get connections() {
      return connections;
    },
    accepted: (deviceId, sequence) => accepted.get(deviceId)?.has(sequence) === true,
    acceptedOf: (deviceId) => accepted.get(deviceId)?.size ?? 0,
    killed() {
      for (const [arrival, timer] of held) {
        clearTimeout(timer);
        arrival.fate = 'cut';
      }
      held.clear();
    },
    nextLife: () => void life++,
    close: () =>
      new Promise((resolve) => {
        for (const timer of held.values()) clearTimeout(timer);
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
