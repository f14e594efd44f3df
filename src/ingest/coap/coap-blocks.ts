// CoAP block transfers (RFC 7959): assembles bodies and keeps answers, both within limits.
import type { EpochMs } from '../../model/instant.ts';
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
  /** `key` identifies the sender and the request without its block options. */
  add(key: string, block: Block, payload: Buffer, now: EpochMs): Assembled;
  readonly size: number;
  readonly bytes: number;
}

/** Beyond its limits the transfer that was idle longest is discarded. */
export function createBlockBodies(limits: BlockLimits): BlockBodies {
  const transfers = new Map<string, Transfer>();
  let bytes = 0;

  const drop = (key: string): void => {
    bytes -= transfers.get(key)?.bytes ?? 0;
    transfers.delete(key);
  };

  const makeRoom = (now: EpochMs, needed: number): void => {
    for (const [key, { touchedAt }] of transfers) {
      const isFull = transfers.size >= limits.transfersMax || bytes + needed > limits.bytesMax;
      if (!isFull && touchedAt > now - limits.idleMs) return;
      drop(key);
    }
  };

  const resumed = (key: string, block: Block): Transfer | undefined => {
    const transfer = transfers.get(key);
    transfers.delete(key);
    if (block.number > 0 && transfer?.bytes !== block.number * block.bytes) return undefined;
    if (block.number > 0) return transfer;
    // A first block begins a new body.
    bytes -= transfer?.bytes ?? 0;
    return { parts: [], bytes: 0, touchedAt: 0 };
  };

  return {
    add(key, block, payload, now) {
      const before = transfers.get(key);
      const transfer = resumed(key, block);
      if (transfer === undefined) {
        bytes -= before?.bytes ?? 0;
        return 'incomplete';
      }
      const give = (result: Assembled): Assembled => {
        bytes -= transfer.bytes;
        return result;
      };
      if (!isWellSized(block, payload)) return give('incomplete');
      if (transfer.bytes + payload.length > limits.bodyBytesMax) return give('tooLarge');
      if (!block.more) return give(Buffer.concat([...transfer.parts, payload]));
      makeRoom(now, payload.length);
      // The payload is a view into a datagram whose memory is reused.
      transfer.parts.push(Buffer.from(payload));
      transfer.bytes += payload.length;
      transfer.touchedAt = now;
      bytes += payload.length;
      transfers.set(key, transfer);
      return 'more';
    },
    get size() {
      return transfers.size;
    },
    get bytes() {
      return bytes;
    },
  };
}

/** Every block but the last is full, because the number of a block determines its offset. */
function isWellSized({ more, bytes }: Block, payload: Buffer): boolean {
  if (more) return payload.length === bytes;
  return payload.length <= bytes;
}

export interface KeptAnswers<A> {
  keep(key: string, answer: A, now: EpochMs): void;
  find(key: string, now: EpochMs): A | undefined;
}

/** Answers whose further blocks a client can request; beyond the limit the oldest are evicted. */
export function createKeptAnswers<A>(
  limits: Pick<BlockLimits, 'transfersMax' | 'idleMs'>,
): KeptAnswers<A> {
  const answers = new Map<string, { readonly answer: A; readonly keptAt: EpochMs }>();
  return {
    keep(key, answer, now) {
      answers.delete(key);
      for (const [old, { keptAt }] of answers) {
        if (answers.size < limits.transfersMax && keptAt > now - limits.idleMs) break;
        answers.delete(old);
      }
      answers.set(key, { answer, keptAt: now });
    },
    find(key, now) {
      const kept = answers.get(key);
      if (kept === undefined || kept.keptAt <= now - limits.idleMs) return undefined;
      return kept.answer;
    },
  };
}
