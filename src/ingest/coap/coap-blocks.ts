// CoAP block transfers (RFC 7959): assembles bodies and keeps answers, both within limits.
import type { EpochMs } from '../../model/instant.ts';
import { SharedPool } from '../../structures/shared-pool.ts';
import type { Block } from './coap-request.ts';

export interface BlockLimits {
  readonly bodyBytesMax: number;
  readonly transfersMax: number;
  /** Bytes of all bodies in progress. */
  readonly bytesMax: number;
  readonly idleMs: number;
}

export const blockLimits: BlockLimits = {
  bodyBytesMax: 1024 * 1024,
  transfersMax: 1_024,
  bytesMax: 32 * 1024 * 1024,
  idleMs: 247_000,
};

interface Transfer {
  readonly parts: Buffer[];
  bytes: number;
  touchedAt: EpochMs;
}

/**
 * The body, or `more` until its last block. `tooLarge` and `incomplete` (a block is missing) end
 * the transfer.
 */
export type Assembled = Buffer | 'more' | 'tooLarge' | 'incomplete';

export interface BlockBodies {
  /**
   * `key` identifies the sender and the request without its block options, `owner` the organization
   * whose share the body takes.
   */
  add(key: string, owner: string, block: Block, payload: Buffer, now: EpochMs): Assembled;
  readonly size: number;
  readonly bytes: number;
}

/**
 * Beyond its limits the transfer that was idle longest is discarded, of the organization that has
 * most.
 */
export function createBlockBodies(limits: BlockLimits): BlockBodies {
  // From the one that was idle longest.
  const transfers = new Map<string, Transfer>();
  const giveWay = (key: string) => remove(key);
  const numbers = new SharedPool<string>({ max: limits.transfersMax, giveWay });
  const bytes = new SharedPool<string>({ max: limits.bytesMax, giveWay });

  function remove(key: string): void {
    transfers.delete(key);
    numbers.release(key);
    bytes.release(key);
  }

  function dropIdle(now: EpochMs): void {
    for (const [key, { touchedAt }] of transfers) {
      if (touchedAt > now - limits.idleMs) return;
      remove(key);
    }
  }

  function resumed(key: string, block: Block): Transfer | undefined {
    // A first block begins a new body.
    if (block.number === 0) return { parts: [], bytes: 0, touchedAt: 0 };
    const transfer = transfers.get(key);
    return transfer?.bytes === block.number * block.bytes ? transfer : undefined;
  }

  return {
    add(key, owner, block, payload, now) {
      dropIdle(now);
      const transfer = resumed(key, block);
      remove(key);
      if (transfer === undefined || !isWellSized(block, payload)) return 'incomplete';
      if (transfer.bytes + payload.length > limits.bodyBytesMax) return 'tooLarge';
      if (!block.more) return Buffer.concat([...transfer.parts, payload]);
      // The payload is a view into a datagram whose memory is reused.
      transfer.parts.push(Buffer.from(payload));
      transfer.bytes += payload.length;
      transfer.touchedAt = now;
      transfers.set(key, transfer);
      if (numbers.hold(owner, key, 1) && bytes.hold(owner, key, transfer.bytes)) return 'more';
      remove(key);
      return 'incomplete';
    },
    get size() {
      return transfers.size;
    },
    get bytes() {
      return bytes.used;
    },
  };
}

/** Every block but the last is full, because the number of a block determines its offset. */
function isWellSized({ more, bytes }: Block, payload: Buffer): boolean {
  if (more) return payload.length === bytes;
  return payload.length <= bytes;
}

export interface KeptAnswers<A> {
  /** `owner` is whose share the answer takes. */
  keep(key: string, owner: string, answer: A, now: EpochMs): void;
  find(key: string, now: EpochMs): A | undefined;
}

/**
 * Answers whose further blocks a client can request; beyond the limit the oldest of the owner that
 * has most is evicted.
 */
export function createKeptAnswers<A>(
  limits: Pick<BlockLimits, 'transfersMax' | 'idleMs'>,
): KeptAnswers<A> {
  const answers = new Map<string, { readonly answer: A; readonly keptAt: EpochMs }>();
  const shares = new SharedPool<string>({
    max: limits.transfersMax,
    giveWay: (key) => void answers.delete(key),
  });
  return {
    keep(key, owner, answer, now) {
      answers.delete(key);
      for (const [old, { keptAt }] of answers) {
        if (keptAt > now - limits.idleMs) break;
        answers.delete(old);
        shares.release(old);
      }
      answers.set(key, { answer, keptAt: now });
      if (!shares.hold(owner, key, 1)) answers.delete(key);
    },
    find(key, now) {
      const kept = answers.get(key);
      if (kept === undefined || kept.keptAt <= now - limits.idleMs) return undefined;
      return kept.answer;
    },
  };
}
