// Link channel: numbers the messages of a link over its socket, sends heartbeats, and notices what is lost, doubled or silent.
import { isRefused, Problem, problemOf, type Refusal, refusalOf } from '../../../model/problem.ts';
import type { SetTimer } from '../../../structures/timers.ts';
import { linkLimits } from './links.ts';

/** A kind, the number of a feed, and what the kind needs. */
export type LinkMessage = readonly [kind: string, feed: number, ...rest: readonly unknown[]];

export interface LinkChannel {
  /** Returns what the message counts in a window. */
  send(message: LinkMessage): number;
  /** Ends the link; `broken` is called with the reason. */
  close(reason: string): void;
}

const heartbeat: LinkMessage = ['beat', 0];

export function openLinkChannel(parts: {
  readonly socket: LinkSocket;
  /** Gets each message once, in order, with what it counts in a window. */
  readonly received: (message: LinkMessage, cost: number) => void;
  /** Called once. */
  readonly broken: (reason: string) => void;
  readonly setRepeatingTimer: SetTimer;
}): LinkChannel {
  const { socket } = parts;
  let sent = 0;
  let received = 0;
  let hasSent = false;
  let silentBeats = 0;
  let isOver = false;

  function send(message: LinkMessage): number {
    if (isOver) return 0;
    hasSent = true;
    const line = JSON.stringify([sent++, ...message]);
    socket.send(line);
    return costOf(line);
  }

  function end(reason: string): void {
    if (isOver) return;
    isOver = true;
    stopBeats();
    socket.close();
    parts.broken(reason);
  }

  function receive(line: string): void {
    if (isOver) return;
    silentBeats = 0;
    const [number, ...message] = JSON.parse(line) as readonly [number, ...LinkMessage];
    // A message that was received already.
    if (number < received) return;
    if (number > received) return end(`message ${received} of the link is lost`);
    received += 1;
    if (message[0] !== heartbeat[0]) parts.received(message, costOf(line));
  }

  // Timers that are late fire once, so a pause of this process does not count as silence.
  const stopBeats = parts.setRepeatingTimer(() => {
    silentBeats += 1;
    if (silentBeats > linkLimits.missedBeatsMax) return end('the other node is silent');
    if (!hasSent) send(heartbeat);
    hasSent = false;
  }, linkLimits.heartbeatMs);

  socket.listen({
    received(line) {
      try {
        receive(line);
      } catch (error) {
        end(`a message of the link cannot be read: ${(error as Error).message}`);
      }
    },
    closed: end,
  });
  return { send, close: end };
}

/** Short messages count more than their length, because each is work and memory. */
function costOf({ length }: string): number {
  return length + linkLimits.messageCost;
}

// Feed error: why a feed ended, as it crosses from one node to another.

/** A Problem keeps its name and details; of other errors only the message crosses. */
export function feedErrorToJson(error: unknown): Refusal | { readonly message: string } {
  if (!(error instanceof Problem)) return { message: String((error as Error).message) };
  return refusalOf(error);
}

export function feedErrorOf(sent: unknown): Error {
  const read = sent as { readonly message: string } | Refusal;
  return isRefused(read) ? problemOf(read) : new Error(read.message);
}

// Link socket: a connection that carries messages in order, as one end of a link sees it.

export interface LinkSocket {
  /** Queues a message. After the end, nothing is sent. */
  send(message: string): void;
  /** Call once. `closed` is called once, also after an own `close`. */
  listen(listener: LinkSocketListener): void;
  /** Ends the connection without waiting for the other end. */
  close(): void;
}

export interface LinkSocketListener {
  readonly received: (message: string) => void;
  readonly closed: (reason: string) => void;
}
