// CoAP exchanges: recent requests and their answers, so that a repeated datagram gets the same answer.
import type { EpochMs } from '../../model/instant.ts';

/** RFC 7252 section 4.8.2: how long a message id of a sender means the same exchange. */
export const exchangeLifetimeMs = 247_000;
/**
 * RFC 7252 section 4.8.2: how long a sender repeats a datagram. So long it may come from another
 * port, which a network gives it anew. Later it is a sender that was started again, with its first
 * message id.
 */
const repeatedWithinMs = 45_000;

export interface ExchangeLimits {
  /** Accepted requests that are remembered. */
  readonly acceptedMax: number;
  /** Of their answers, with what it costs to keep one. */
  readonly acceptedBytesMax: number;
  /**
   * Refused requests that are remembered. They changed nothing, so strangers must not crowd out
   * what devices sent.
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

const entryBytes = 160;

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
  /** Ends an exchange; an empty answer says that the sender wanted none. */
  accepted(key: string, answer: Buffer): void;
  refused(key: string, answer: Buffer): void;
  /** Ends an exchange without a memory, so that a repetition is tried anew. */
  forget(key: string): void;
  /** Under way. */
  readonly open: number;
  /** Remembered. */
  readonly size: number;
}

/** Who calls bounds what is under way; of what has ended the oldest is forgotten first. */
export function createExchanges(limits: ExchangeLimits): Exchanges {
  const underWay = new Map<string, Omit<Exchange, 'answer'>>();
  const accepted = createMemory(limits.acceptedMax, limits.acceptedBytesMax);
  const refused = createMemory(limits.refusedMax, Number.POSITIVE_INFINITY);

  const end = (memory: Memory, key: string, answer: Buffer): void => {
    const exchange = underWay.get(key);
    if (exchange === undefined) return;
    underWay.delete(key);
    memory.add(key, { ...exchange, answer: answer.toString('latin1') });
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
    accepted: (key, answer) => end(accepted, key, answer),
    refused: (key, answer) => end(refused, key, answer),
    forget: (key) => void underWay.delete(key),
    get open() {
      return underWay.size;
    },
    get size() {
      return accepted.size() + refused.size();
    },
  };
}

interface Memory {
  add(key: string, exchange: Exchange): void;
  /** Forgets what is outdated, then answers. */
  find(key: string, port: number, now: EpochMs): Buffer | undefined;
  size(): number;
}

function createMemory(entriesMax: number, bytesMax: number): Memory {
  // Maps keep the order of insertion, which here is nearly the order of time.
  const exchanges = new Map<string, Exchange>();
  let bytes = 0;

  const drop = (key: string): void => {
    const exchange = exchanges.get(key);
    if (exchange === undefined) return;
    exchanges.delete(key);
    bytes -= entryBytes + exchange.answer.length;
  };

  return {
    add(key, exchange) {
      drop(key);
      exchanges.set(key, exchange);
      bytes += entryBytes + exchange.answer.length;
      for (const oldest of exchanges.keys()) {
        if (exchanges.size <= entriesMax && bytes <= bytesMax) return;
        drop(oldest);
      }
    },
    find(key, port, now) {
      for (const [oldest, { begunAt }] of exchanges) {
        if (begunAt > now - exchangeLifetimeMs) break;
        drop(oldest);
      }
      const known = exchanges.get(key);
      if (known === undefined) return undefined;
      if (known.port !== port && known.begunAt <= now - repeatedWithinMs) return undefined;
      return Buffer.from(known.answer, 'latin1');
    },
    size: () => exchanges.size,
  };
}
