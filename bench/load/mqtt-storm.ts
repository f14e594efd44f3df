// MQTT storm: publishes over many connections with a fixed number in flight, and measures acknowledgements.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connectPacket, publishPacket } from './mqtt-packets.ts';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

export interface MqttStorm {
  readonly port: number;
  readonly userName: string;
  readonly password: string;
  readonly connections: number;
  /**
   * Topic and payload of each message, sent in turn; connection `i` sends those whose index is `i`
   * modulo the connections.
   */
  readonly messages: readonly { readonly topic: string; readonly payload: string }[];
  readonly inFlight: number;
  readonly warmSeconds: number;
  readonly seconds: number;
}

export interface MqttStormResult {
  /** Milliseconds from sending to the acknowledgement, in the timed part. */
  readonly durationsMs: Float64Array;
  readonly perSecond: number;
  /** With the warm part. */
  readonly acknowledged: number;
  readonly connectSeconds: number;
  /** Connections that were open at the end. */
  readonly open: number;
}

const connectsAtOnce = 50;

export function runMqttStorm(storm: MqttStorm): Promise<MqttStormResult> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL(import.meta.url), { workerData: storm });
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', () => reject(new Error('the generator ended without a result')));
  });
}

interface Line {
  readonly socket: Socket;
  /** Send time of the message in flight; undefined without one. */
  sentMs: number | undefined;
  next: number;
}

async function openLine(storm: MqttStorm, index: number): Promise<Line> {
  const socket = connect({ port: storm.port, host: '127.0.0.1', noDelay: true });
  await once(socket, 'connect');
  const { userName, password } = storm;
  const login = {
    clientId: `bench-${index}`,
    userName,
    password,
    clean: true,
    keepaliveSeconds: 600,
  };
  socket.write(connectPacket(login));
  const [answer] = (await once(socket, 'data')) as [Buffer];
  if (answer[0] !== 0x20 || answer[3] !== 0) throw new Error(`refused: ${answer.toString('hex')}`);
  return { socket, sentMs: undefined, next: index };
}

async function rage(storm: MqttStorm): Promise<MqttStormResult> {
  const startedMs = performance.now();
  const lines: Line[] = [];
  while (lines.length < storm.connections) {
    const count = Math.min(connectsAtOnce, storm.connections - lines.length);
    const opened = Array.from({ length: count }, (_, i) => openLine(storm, lines.length + i));
    lines.push(...(await Promise.all(opened)));
  }
  const connectSeconds = (performance.now() - startedMs) / 1_000;
  const bodies = storm.messages.map(({ topic, payload }) => publishPacket(topic, payload, 2, 1));
  const { durationsMs, acknowledged } = await publish(storm, lines, bodies);
  const open = lines.filter(({ socket }) => !socket.destroyed && socket.writable).length;
  for (const { socket } of lines) socket.destroy();
  return {
    durationsMs,
    perSecond: durationsMs.length / storm.seconds,
    acknowledged,
    connectSeconds,
    open,
  };
}

/**
 * Keeps this number of connections waiting for an acknowledgement; an acknowledged one moves to the
 * end.
 */
async function publish(
  { inFlight, warmSeconds, seconds }: MqttStorm,
  lines: Line[],
  bodies: readonly Buffer[],
): Promise<{ durationsMs: Float64Array; acknowledged: number }> {
  const timedFromMs = performance.now() + warmSeconds * 1_000;
  const endMs = timedFromMs + seconds * 1_000;
  const durations: number[] = [];
  const idle = [...lines];
  let acknowledged = 0;
  let sending = 0;
  let head = 0;
  await new Promise<void>((resolve, reject) => {
    const sendNext = () => {
      const line = idle[head++ % idle.length]!;
      if (line.sentMs !== undefined) return sendNext();
      line.sentMs = performance.now();
      line.socket.write(bodies[line.next]!);
      line.next = (line.next + lines.length) % bodies.length;
      sending++;
    };
    for (const line of lines) {
      line.socket.on('error', reject);
      line.socket.on('close', () => reject(new Error('a connection was closed')));
      line.socket.on('data', (answer) => {
        if (answer[0] !== 0x40 || answer.length !== 4)
          return reject(new Error(`no PUBACK: ${answer.toString('hex')}`));
        const nowMs = performance.now();
        const sentMs = line.sentMs!;
        line.sentMs = undefined;
        acknowledged++;
        sending--;
        if (sentMs >= timedFromMs && nowMs <= endMs) durations.push(nowMs - sentMs);
        if (nowMs < endMs) sendNext();
        else if (sending === 0) resolve();
      });
    }
    // A connection waits for one at a time.
    for (let i = 0; i < Math.min(inFlight, lines.length); i++) sendNext();
  });
  for (const { socket } of lines) socket.removeAllListeners('close');
  return { durationsMs: Float64Array.from(durations), acknowledged };
}

if (!isMainThread) {
  const result = await rage(workerData as MqttStorm);
  parentPort!.postMessage(result, [result.durationsMs.buffer as ArrayBuffer]);
}
