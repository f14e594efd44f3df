// Live stream: messages of a WebSocket, one after the other; a broken connection resumes behind the last sample.
import { HeliographError, unreachable } from './refusal.ts';
import { type ClientOptions, pause } from './requests.ts';

/** What is followed: a device, the devices of a tag or at a place, or a workspace. */
export interface Subscription {
  readonly assetId?: string;
  readonly tagId?: string;
  /** The devices at the place and below it, also those that move there later. */
  readonly placeId?: string;
  readonly workspaceId?: string;
  readonly kinds?: readonly string[];
  readonly perSecond?: number;
  /** `*` for all topics; `default` when absent. */
  readonly topic?: string;
}

export interface SampleMessage {
  readonly type: 'sample_insert';
  /** Place in the order of storing: `since` of a later stream. */
  readonly cursor: string;
  readonly sample: {
    readonly deviceId: string;
    readonly topic: string;
    readonly timestamp: string;
    readonly data: Readonly<Record<string, unknown>>;
  };
  readonly timestamp: string;
}

/** An event of a workspace, or a subscription that has ended. */
export interface OtherMessage {
  readonly type: 'event' | 'subscribed' | 'unsubscribed';
  readonly timestamp: string;
  readonly [member: string]: unknown;
}

export type LiveMessage = SampleMessage | OtherMessage;

export interface LiveOptions {
  readonly subscriptions: readonly Subscription[];
  /** A cursor, or a time of storing: samples stored since then come first. */
  readonly since?: string;
  readonly signal?: AbortSignal;
  /** For Node 20, which has none: that of the package `ws`. */
  readonly webSocket?: new (
    address: string,
  ) => WebSocket;
}

const firstPauseMs = 500;
const pauseMsMax = 30_000;
const pingEveryMs = 30_000;
/** Messages that wait for the reader. With more, the connection is closed and resumes later. */
const waitingMax = 10_000;

/** Throws HeliographError for subscriptions or credentials that the platform refuses. */
export async function* liveMessages(
  client: ClientOptions,
  options: LiveOptions,
): AsyncGenerator<LiveMessage, void, undefined> {
  const { signal } = options;
  const triesMax = client.triesMax ?? 5;
  let { since } = options;
  for (let tries = 1; !isEnded(signal); tries++) {
    const address = await addressOf(client);
    const connection = openConnection(address, options, since);
    try {
      for (;;) {
        const message = await connection.next();
        if (message === undefined) break;
        tries = 0;
        if (message.type === 'sample_insert') since = message.cursor;
        yield message;
      }
    } finally {
      connection.close();
    }
    if (isEnded(signal)) return;
    if (tries >= triesMax) throw unreachable('live stream', connection.reason());
    const waitMs = Math.min(firstPauseMs * 2 ** Math.max(tries - 1, 0), pauseMsMax);
    await pause(waitMs, signal).catch(() => undefined);
  }
}

/** Read again after each wait. */
function isEnded(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}

async function addressOf({ url, apiKey, accessToken }: ClientOptions): Promise<string> {
  const address = new URL(`${url.replace(/\/+$/, '')}/v3/data-streams`);
  address.protocol = address.protocol.replace('http', 'ws');
  const token = typeof accessToken === 'function' ? await accessToken() : accessToken;
  // Browsers send no headers with a WebSocket.
  if (apiKey !== undefined) address.searchParams.set('xApiKey', apiKey);
  else if (token !== undefined) address.searchParams.set('access_token', token);
  return address.href;
}

interface Connection {
  /** The next message; undefined when the connection has ended. */
  readonly next: () => Promise<LiveMessage | undefined>;
  readonly reason: () => string;
  readonly close: () => void;
}

function openConnection(
  address: string,
  { subscriptions, signal, webSocket }: LiveOptions,
  since: string | undefined,
): Connection {
  const Socket = webSocket ?? globalThis.WebSocket;
  if (Socket === undefined)
    throw new TypeError('this Node has no WebSocket: pass that of the package ws as webSocket');
  const socket = new Socket(address);
  const inbox = createInbox();
  let reason = 'the connection could not be opened; is the credential valid?';
  let heardAt = Date.now();

  function end(): void {
    clearInterval(timer);
    signal?.removeEventListener('abort', end);
    socket.close();
    inbox.end(undefined);
  }

  function receive(message: LiveMessage | { readonly type: string }): void {
    const failure = failureIn(message);
    if (failure !== undefined) {
      inbox.end(failure);
      end();
    } else if (shown.has(message.type) && inbox.put(message as LiveMessage) > waitingMax) {
      reason = 'messages are read too slowly';
      end();
    }
  }

  const timer = setInterval(() => {
    if (Date.now() - heardAt > 2 * pingEveryMs) end();
    else if (socket.readyState === 1) socket.send('{"type":"ping"}');
  }, pingEveryMs);
  signal?.addEventListener('abort', end, { once: true });
  socket.addEventListener('open', () => {
    reason = 'the connection ended';
    const resume = since === undefined ? {} : { since };
    socket.send(JSON.stringify({ type: 'subscribe', id: 1, subscriptions, ...resume }));
  });
  socket.addEventListener('message', ({ data }) => {
    heardAt = Date.now();
    receive(JSON.parse(String(data)) as LiveMessage);
  });
  socket.addEventListener('error', () => undefined);
  socket.addEventListener('close', end);
  return { next: inbox.next, reason: () => reason, close: end };
}

/** Messages that wait for their reader. */
function createInbox() {
  const waiting: LiveMessage[] = [];
  let wake: () => void = () => undefined;
  let failure: HeliographError | undefined;
  let isOver = false;
  return {
    /** Returns the number of those that wait. */
    put(message: LiveMessage): number {
      waiting.push(message);
      wake();
      return waiting.length;
    },
    /** What waits is still read. */
    end(because: HeliographError | undefined): void {
      failure ??= because;
      isOver = true;
      wake();
    },
    async next(): Promise<LiveMessage | undefined> {
      while (waiting.length === 0 && !isOver)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      const message = waiting.shift();
      if (message === undefined && failure !== undefined) throw failure;
      return message;
    },
  };
}

function failureIn(message: { readonly type: string }): HeliographError | undefined {
  if (message.type === 'error') return failureOf(message);
  return message.type === 'subscribed' ? refusedItem(message as OtherMessage) : undefined;
}

/** Types that readers get; the others are for the connection. */
const shown: ReadonlySet<string> = new Set([
  'sample_insert',
  'event',
  'subscribed',
  'unsubscribed',
]);

function failureOf(message: object): HeliographError {
  const { errorCode = '', message: text = '' } = message as Record<string, string>;
  const details = { status: 400, errorCode, requestId: '', body: message };
  return new HeliographError(`live stream: ${text}`, details);
}

/** Undefined when every item is followed. */
function refusedItem({ subscriptions }: OtherMessage): HeliographError | undefined {
  const items = Array.isArray(subscriptions) ? (subscriptions as { valid: boolean }[]) : [];
  const refused = items.find(({ valid }) => !valid);
  if (refused === undefined) return undefined;
  const { valid: _, ...item } = refused;
  const reason = `${JSON.stringify(item)} does not exist, or the credential cannot read it`;
  return failureOf({ errorCode: 'SUBSCRIPTION_REFUSED', message: reason });
}
