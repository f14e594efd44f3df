// A client of the data stream for tests: keeps what arrives in order and waits for what is wanted.
import WebSocket from 'ws';

export interface LiveMessage {
  readonly type: string;
  // Tests say what they expect of a message; its type would say it twice.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly [member: string]: any;
}

export interface LiveSocket {
  readonly socket: WebSocket;
  /** Returns the next message of any type. */
  next(): Promise<LiveMessage>;
  /** Sends the message, text or object, and takes the next one that arrives. */
  ask(message: unknown): Promise<LiveMessage>;
  /**
   * Everything that arrived before the answer to a ping: what has not come by then was not sent.
   */
  sofar(): Promise<LiveMessage[]>;
  close(): void;
}

/** A message that does not come in this time has been lost. */
const messageMsMax = 100_000;

/** Connects and takes the greeting; `url` is the whole address with its credential, if no header has it. */
export async function openLive(
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<LiveSocket & { readonly greeting: LiveMessage }> {
  const socket = new WebSocket(url, { headers });
  const seen: LiveMessage[] = [];
  const waiting: (() => void)[] = [];
  let closed = false;
  const wake = () => {
    for (const one of waiting.splice(0)) one();
  };
  socket.on('message', (text) => {
    seen.push(JSON.parse(String(text)) as LiveMessage);
    wake();
  });
  socket.on('close', () => {
    closed = true;
    wake();
  });
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));

  let taken = 0;
  const next = async (): Promise<LiveMessage> => {
    let isLate = false;
    const late = setTimeout(() => {
      isLate = true;
      wake();
    }, messageMsMax);
    try {
      while (seen.length === 0) {
        if (closed) throw new Error('The connection is closed and nothing is left');
        if (isLate) throw new Error(`No message for ${messageMsMax} ms behind ${taken} others`);
        await new Promise<void>((resolve) => waiting.push(resolve));
      }
    } finally {
      clearTimeout(late);
    }
    taken++;
    return seen.shift()!;
  };
  const send = (message: unknown) =>
    socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  const greeting = await next();
  return {
    socket,
    greeting,
    next,
    async ask(message) {
      send(message);
      return next();
    },
    async sofar() {
      const id = `sofar ${Math.random()}`;
      send({ type: 'ping', id });
      const before: LiveMessage[] = [];
      for (let one = await next(); one['replyTo'] !== id; one = await next()) before.push(one);
      return before;
    },
    close: () => socket.terminate(),
  };
}
