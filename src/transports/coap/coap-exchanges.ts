// CoAP exchanges: recent requests and their answers, so that a repeated datagram gets the same answer.
import type { EpochMs } from '../../model/instant.ts';
import { SharedPool } from '../../structures/shared-pool.ts';

/** RFC 7252 section 4.8.2: how long a message id of a sender means the same exchange. */
export const exchangeLifetimeMs = 247_000;
/**
 * RFC 7252 section 4.8.2: how long a sender repeats a datagram. So long it may come from another
 * port, which a network gives it anew. Later it is a sender that was started again, with its first
 * message id.
 */
const repeatedWithinMs = 45_000;

export interface ExchangeLimits {
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

export interface Exchanges {
  /**
   * Begins the exchange of a datagram: `new` is to be done; of one that was seen, `underWay` or the
   * answer it got. `key` names the address, the message id and the contents: an id that comes again
   * with others is a sender that was restarted.
   */
  begin(key: string, port: number, now: EpochMs): 'new' | 'underWay' | Buffer;
  /** Ends an exchange of the owner; an empty answer says that the sender wanted none. */
  accepted(key: string, answer: Buffer, owner: string): void;
  refused(key: string, answer: Buffer, owner: string): void;
  /** Ends an exchange without a memory, so that a repetition is tried anew. */
  forget(key: string): void;
  /** Under way. */
  readonly open: number;
  /** Remembered. */
  readonly size: number;
}

/** Who calls bounds what is under way. */
export function createExchanges(limits: ExchangeLimits): Exchanges {
  const underWay = new Map<string, Omit<Exchange, 'answer'>>();
  const accepted = new Memory(limits.acceptedMax, limits.acceptedBytesMax);
  const refused = new Memory(limits.refusedMax, Number.POSITIVE_INFINITY);

  const end = (memory: Memory, key: string, answer: Buffer, owner: string): void => {
    const exchange = underWay.get(key);
    if (exchange === undefined) return;
    underWay.delete(key);
    memory.add(key, { ...exchange, answer: answer.toString('latin1') }, owner);
  };

  return {
    begin(key, port, now) {
      // It was sent only once, whatever the port.
      if (underWay.has(key)) return 'underWay';
      const before = accepted.find(key, port, now) ?? refused.find(key, port, now);
      if (before !== undefined) return before;
      underWay.set(key, { port, begunAt: now });
      return 'new';
    },
    accepted: (key, answer, owner) => end(accepted, key, answer, owner),
    refused: (key, answer, owner) => end(refused, key, answer, owner),
    forget: (key) => void underWay.delete(key),
    get open() {
      return underWay.size;
    },
    get size() {
      return accepted.size() + refused.size();
    },
  };
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
