// CoAP server: the UDP socket of the endpoint, closed when requests in progress are answered.
import { createSocket, type Socket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import { crc32 } from 'node:zlib';
import type { EpochMs } from '../../model/instant.ts';
import {
  type CoapAnswer,
  coapCodes,
  codeClass,
  refusalAnswer,
  withinMeasure,
} from './coap-answer.ts';
import {
  type CoapMessage,
  coapRequestOf,
  type CoapType,
  coapTypes,
  emptyMessage,
  encodeMessage,
  parseMessage,
} from './coap-message.ts';
import { setTimer, type SetTimer } from '../../structures/timers.ts';
import { SharedPool } from '../../structures/shared-pool.ts';

// CoAP exchanges: recent requests and their answers, so that a repeated datagram gets the same answer.

/** RFC 7252 section 4.8.2: how long a message id of a sender means the same exchange. */
export const exchangeLifetimeMs = 247_000;
/**
 * RFC 7252 section 4.8.2: how long a sender repeats a datagram. So long it may come from another
 * port, which a network gives it anew. Later it is a sender that was started again, with its first
 * message id.
 */
const repeatedWithinMs = 45_000;

interface ExchangeLimits {
  /**
   * Accepted requests that are remembered. Beyond, the oldest of the organization that has most is
   * forgotten.
   */
  readonly acceptedMax: number;
  /** Of their answers, with what it costs to keep one. */
  readonly acceptedBytesMax: number;
  /**
   * Refused requests that are remembered, shared by addresses. They changed nothing, so strangers
   * must not crowd out what devices sent.
   */
  readonly refusedMax: number;
}

/**
 * Senders repeat within 45 s; at these limits 6,000 requests a second are remembered for nearly
 * that long.
 */
export const exchangeLimits: ExchangeLimits = {
  acceptedMax: 262_144,
  acceptedBytesMax: 96 * 1024 * 1024,
  refusedMax: 8_192,
};

/** What an entry takes besides its answer, with its place in the share of its owner. */
const entryBytes = 320;

interface Exchange {
  readonly port: number;
  readonly begunAt: EpochMs;
  /** One character a byte: thousands of small buffers would each hold on to a page of memory. */
  readonly answer: string;
}

export class Exchanges {
  readonly #underWay = new Map<string, Omit<Exchange, 'answer'>>();
  readonly #accepted: Memory;
  readonly #refused: Memory;

  /** Who calls bounds what is under way. */
  constructor(limits: ExchangeLimits) {
    this.#accepted = new Memory(limits.acceptedMax, limits.acceptedBytesMax);
    this.#refused = new Memory(limits.refusedMax, Number.POSITIVE_INFINITY);
  }

  #end(memory: Memory, key: string, answer: Buffer, owner: string): void {
    const exchange = this.#underWay.get(key);
    if (exchange === undefined) return;
    this.#underWay.delete(key);
    memory.add(key, { ...exchange, answer: answer.toString('latin1') }, owner);
  }

  /**
   * Begins the exchange of a datagram: `new` is to be done; of one that was seen, `underWay` or the
   * answer it got. `key` names the address, the message id and the contents: an id that comes again
   * with others is a sender that was restarted.
   */
  begin(key: string, port: number, now: EpochMs): 'new' | 'underWay' | Buffer {
    // It was sent only once, whatever the port.
    if (this.#underWay.has(key)) return 'underWay';
    const before = this.#accepted.find(key, port, now) ?? this.#refused.find(key, port, now);
    if (before !== undefined) return before;
    this.#underWay.set(key, { port, begunAt: now });
    return 'new';
  }

  /** Ends an exchange of the owner; an empty answer says that the sender wanted none. */
  accepted(key: string, answer: Buffer, owner: string): void {
    this.#end(this.#accepted, key, answer, owner);
  }

  refused(key: string, answer: Buffer, owner: string): void {
    this.#end(this.#refused, key, answer, owner);
  }

  /** Ends an exchange without a memory, so that a repetition is tried anew. */
  forget(key: string): void {
    this.#underWay.delete(key);
  }

  /** Under way. */
  get open(): number {
    return this.#underWay.size;
  }

  /** Remembered. */
  get size(): number {
    return this.#accepted.size() + this.#refused.size();
  }
}

class Memory {
  readonly #bytesMax: number;
  // Maps keep the order of insertion, which here is nearly the order of time.
  readonly #exchanges = new Map<string, Exchange>();
  // So many entries of this size are all bytes.
  readonly #bytesMin: number;
  readonly #shares: SharedPool<string>;

  constructor(entriesMax: number, bytesMax: number) {
    this.#bytesMax = bytesMax;
    this.#bytesMin = Number.isFinite(bytesMax) ? bytesMax / entriesMax : 1;
    this.#shares = new SharedPool<string>({
      max: Math.min(bytesMax, this.#bytesMin * entriesMax),
      giveWay: (key) => void this.#exchanges.delete(key),
    });
  }

  add(key: string, exchange: Exchange, owner: string): void {
    this.#drop(key);
    this.#exchanges.set(key, exchange);
    const bytes = Number.isFinite(this.#bytesMax) ? entryBytes + exchange.answer.length : 1;
    if (!this.#shares.hold(owner, key, Math.max(bytes, this.#bytesMin)))
      this.#exchanges.delete(key);
  }

  /** Forgets what is outdated, then answers. */
  find(key: string, port: number, now: EpochMs): Buffer | undefined {
    for (const [oldest, { begunAt }] of this.#exchanges) {
      if (begunAt > now - exchangeLifetimeMs) break;
      this.#drop(oldest);
    }
    const known = this.#exchanges.get(key);
    if (known === undefined) return undefined;
    if (known.port !== port && known.begunAt <= now - repeatedWithinMs) return undefined;
    return Buffer.from(known.answer, 'latin1');
  }

  size(): number {
    return this.#exchanges.size;
  }

  #drop(key: string): void {
    this.#exchanges.delete(key);
    this.#shares.release(key);
  }
}

/** What the system keeps of datagrams that come faster than they are read; it may allow less. */
const receiveBufferBytes = 4 * 1024 * 1024;
const openMax = 2_048;
const limits = { ...exchangeLimits, openMax };

/** Resolves when the port is bound; rejects with the system's error when it cannot be. */
export async function startCoapServer(parts: {
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
}): Promise<{
  readonly port: number;
  readonly open: () => number;
  readonly remembered: () => number;
  /** Takes no more requests; resolves when those under way are answered. */
  close(): Promise<void>;
}> {
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

async function bound(
  socket: Socket,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject);
    socket.bind({ port, address: host, exclusive: true }, () => {
      socket.removeListener('error', reject);
      resolve();
    });
  });
}

// CoAP endpoint without its socket: runs each request once and answers within a time limit.

// CoAP separate responses: sent after the acknowledgement, and repeated until they are acknowledged (RFC 7252 section 4.2).

const firstRepeatMs = 2_500;
const repeatsMax = 4;
/** Answers that wait for their acknowledgement; beyond it they are sent once. */
const waitingMax = 2_048;

class SeparateResponses {
  readonly #send: (datagram: Buffer, sender: CoapSender) => void;
  readonly #schedule: SetTimer;
  readonly #waiting = new Map<string, () => void>();
  #lastId = 0;

  constructor({
    send,
    schedule,
  }: {
    readonly send: (datagram: Buffer, sender: CoapSender) => void;
    readonly schedule: SetTimer;
  }) {
    this.#send = send;
    this.#schedule = schedule;
  }

  #keyOf({ address, port }: CoapSender, id: number): string {
    return `${address} ${port} ${id}`;
  }

  #repeat(key: string, datagram: Buffer, sender: CoapSender, count: number): void {
    const callOff = this.#schedule(
      () => {
        if (count === repeatsMax) return void this.#waiting.delete(key);
        this.#send(datagram, sender);
        this.#repeat(key, datagram, sender, count + 1);
      },
      firstRepeatMs * 2 ** count,
    );
    this.#waiting.set(key, callOff);
  }

  /** Sends the message made for a fresh id; `mustArrive` repeats it. Returns its bytes. */
  send(make: (id: number) => Buffer, sender: CoapSender, mustArrive: boolean): Buffer {
    this.#lastId = (this.#lastId + 1) % 0x1_0000;
    const datagram = make(this.#lastId);
    this.#send(datagram, sender);
    const key = this.#keyOf(sender, this.#lastId);
    if (mustArrive && this.#waiting.size < waitingMax && !this.#waiting.has(key))
      this.#repeat(key, datagram, sender, 0);
    return datagram;
  }

  /** The receiver has it, or does not want it. */
  settle(sender: CoapSender, id: number): void {
    const key = this.#keyOf(sender, id);
    this.#waiting.get(key)?.();
    this.#waiting.delete(key);
  }

  close(): void {
    for (const callOff of this.#waiting.values()) callOff();
    this.#waiting.clear();
  }
}

export interface CoapLimits extends ExchangeLimits {
  /** Requests in progress. Further confirmable ones get 5.03, others are dropped. */
  readonly openMax: number;
}

/** A sender repeats after two seconds at the earliest (RFC 7252 section 4.8). */
const acknowledgeAfterMs = 1_000;

interface CoapEvents {
  /** A request was answered; `code` is the byte of its answer. */
  answered(code: number, ms: number): void;
  /** A request failed with an internal error. */
  failed(error: unknown): void;
  ignored(reason: 'foreign' | 'malformed' | 'reply' | 'duplicate' | 'tooMany' | 'unanswered'): void;
}

interface CoapEndpointParts {
  /** Never rejects. */
  readonly handle: (
    message: CoapMessage,
    sender: string,
    duplicateKey: string,
  ) => Promise<CoapAnswer>;
  readonly send: (datagram: Buffer, sender: CoapSender) => void;
  /** Runs the task later; the returned function cancels it. */
  readonly schedule: SetTimer;
  readonly events: CoapEvents;
  readonly limits: CoapLimits;
  readonly now: () => EpochMs;
}

interface Asked {
  readonly message: CoapMessage;
  readonly bytes: number;
  readonly sender: CoapSender;
  /** The sender's address, the message id, and the digest of the datagram. */
  readonly key: string;
}

interface EndpointState {
  readonly parts: CoapEndpointParts;
  readonly exchanges: Exchanges;
  readonly separate: SeparateResponses;
  readonly inProgress: Set<Promise<void>>;
}

export class CoapEndpoint {
  readonly #exchanges: Exchanges;
  readonly #separate: SeparateResponses;
  readonly #inProgress = new Set<Promise<void>>();
  readonly #state: EndpointState;

  constructor(parts: CoapEndpointParts) {
    this.#exchanges = new Exchanges(parts.limits);
    this.#separate = new SeparateResponses(parts);
    this.#state = {
      parts,
      exchanges: this.#exchanges,
      separate: this.#separate,
      inProgress: this.#inProgress,
    };
  }

  /** The datagram may be overwritten only when its exchange has ended. */
  receive(datagram: Buffer, sender: CoapSender): void {
    receive(this.#state, datagram, sender);
  }

  /** Requests in progress. */
  get open(): number {
    return this.#exchanges.open;
  }

  /** Exchanges in memory. */
  get remembered(): number {
    return this.#exchanges.size;
  }

  /** Resolves when no request is in progress. */
  async drained(): Promise<void> {
    await Promise.all(this.#inProgress);
  }

  /** Discards answers that wait for an acknowledgement. */
  close(): void {
    this.#separate.close();
  }
}

function receive(state: EndpointState, datagram: Buffer, sender: CoapSender): void {
  const { events } = state.parts;
  const message = parseMessage(datagram);
  if (message === 'foreign') return events.ignored('foreign');
  if ('malformed' in message) {
    events.ignored('malformed');
    if (message.type === coapTypes.confirmable) reset(state, message.id, sender);
    return;
  }
  const { type, code, id } = message;
  const isRequest = code !== 0 && codeClass(code) === 0 && type <= coapTypes.nonConfirmable;
  if (!isRequest) return receiveOther(state, message, sender);
  const digest = crc32(datagram);
  const key = `${sender.address} ${id} ${digest.toString(36)}`;
  begin(state, { message, bytes: datagram.length, sender, key }, digest);
}

/**
 * Receives messages that are not requests: empty messages and replies (RFC 7252 sections 4.2 and
 * 4.3).
 */
function receiveOther(
  state: EndpointState,
  { type, code, id }: CoapMessage,
  sender: CoapSender,
): void {
  if (type === coapTypes.acknowledgement || type === coapTypes.reset)
    state.separate.settle(sender, id);
  // An empty confirmable message is a ping, and a reset is its answer.
  else if (type === coapTypes.confirmable) reset(state, id, sender);
  if (code !== 0) state.parts.events.ignored('reply');
}

function reset({ parts }: EndpointState, id: number, sender: CoapSender): void {
  parts.send(encodeMessage(emptyMessage(coapTypes.reset, id)), sender);
}

function begin(state: EndpointState, asked: Asked, digest: number): void {
  const { exchanges, inProgress, parts } = state;
  const { send, events, now } = parts;
  const before = exchanges.begin(asked.key, asked.sender.port, now());
  if (before !== 'new') {
    events.ignored('duplicate');
    if (before !== 'underWay' && before.length > 0) send(before, asked.sender);
    return;
  }
  if (exchanges.open > parts.limits.openMax) {
    exchanges.forget(asked.key);
    events.ignored('tooMany');
    if (asked.message.type === coapTypes.confirmable)
      send(replyTo(asked, busyAnswer), asked.sender);
    return;
  }
  const done = answer(state, asked, digest).catch((error: unknown) => {
    // An internal error: the sender gets no answer and retries.
    exchanges.forget(asked.key);
    events.failed(error);
  });
  inProgress.add(done);
  void done.finally(() => inProgress.delete(done));
}

async function answer(state: EndpointState, asked: Asked, digest: number): Promise<void> {
  const { exchanges, parts } = state;
  const { message, sender, key } = asked;
  const startedAt = parts.now();
  const acknowledgement = acknowledgeLater(asked, parts);
  const from = `${sender.address} ${sender.port}`;
  const duplicateKey = `coap ${from} ${message.id} ${digest.toString(36)}`;
  const whole = await parts.handle(message, from, duplicateKey);
  acknowledgement.cancel();
  const fitting = withinMeasure(whole, asked.bytes);
  parts.events.answered(fitting.code, parts.now() - startedAt);
  const datagram = reply(state, asked, fitting, acknowledgement.isSent());
  if (codeClass(fitting.code) === 2)
    exchanges.accepted(key, datagram, whole.owner ?? sender.address);
  else exchanges.refused(key, datagram, sender.address);
}

/**
 * Acknowledges a confirmable request whose answer takes long, so that its sender does not repeat
 * it.
 */
function acknowledgeLater(
  { message, sender }: Asked,
  { schedule, send }: CoapEndpointParts,
): { readonly isSent: () => boolean; readonly cancel: () => void } {
  let isSent = false;
  if (message.type !== coapTypes.confirmable)
    return { isSent: () => false, cancel: () => undefined };
  const cancel = schedule(() => {
    isSent = true;
    send(encodeMessage(emptyMessage(coapTypes.acknowledgement, message.id)), sender);
  }, acknowledgeAfterMs);
  return { isSent: () => isSent, cancel };
}

/**
 * Sends the answer as the request wants it. Returns the datagram for repetitions of the request.
 */
function reply(
  { parts, separate }: EndpointState,
  asked: Asked,
  answered: CoapAnswer,
  isAcknowledged: boolean,
): Buffer {
  const { message, sender } = asked;
  const isConfirmable = message.type === coapTypes.confirmable;
  if (isUnwanted(message, answered)) {
    parts.events.ignored('unanswered');
    if (!isConfirmable) return Buffer.alloc(0);
    const acknowledgement = encodeMessage(emptyMessage(coapTypes.acknowledgement, message.id));
    if (!isAcknowledged) parts.send(acknowledgement, sender);
    return acknowledgement;
  }
  if (isConfirmable && !isAcknowledged) {
    const datagram = replyTo(asked, answered);
    parts.send(datagram, sender);
    return datagram;
  }
  // A refusal is sent once: a sender with a forged address must not cause repetitions.
  const mustArrive = isConfirmable && codeClass(answered.code) === 2;
  const type = mustArrive ? coapTypes.confirmable : coapTypes.nonConfirmable;
  return separate.send((id) => encoded(answered, type, id, message.token), sender, mustArrive);
}

/** Without a body, because it must not exceed any request. */
const busyAnswer = withinMeasure(refusalAnswer(undefined, { status: 503 }), 0);

/** The piggybacked answer to a confirmable request. */
function replyTo({ message }: Asked, answered: CoapAnswer): Buffer {
  return encoded(answered, coapTypes.acknowledgement, message.id, message.token);
}

function encoded(answered: CoapAnswer, type: CoapType, id: number, token: Buffer): Buffer {
  const { code, payload } = answered;
  const options = answered.options.toSorted((one, other) => one.number - other.number);
  return encodeMessage({ type, code, id, token, options, payload });
}

function isUnwanted(message: CoapMessage, { code }: CoapAnswer): boolean {
  // A sender of blocks waits for each 2.31.
  if (code === coapCodes.continue) return false;
  const request = coapRequestOf(message);
  return !('refused' in request) && (request.unwanted & (1 << (codeClass(code) - 1))) !== 0;
}

// CoAP sender: the address of a datagram and of its answer.

interface CoapSender {
  readonly address: string;
  readonly port: number;
}
