// Request parts: the journal entries of a request with an Idempotency-Key, found after a crash by duplicate key.
import type { EpochMs } from './instant.ts';

/** What the journal tells of a part of a request. */
export interface DurablePart {
  readonly receivedAt: EpochMs;
  /**
   * Of the uplink, or of the samples; null for an entry of which every sample was stored before.
   */
  readonly correlationId: string | null;
  /** Samples that were new. */
  readonly samples: number;
  /** Of these, the samples that queries see. */
  readonly stored?: number;
}

export interface StoredPart extends DurablePart {
  readonly part: string;
  /** Of a part whose content the key's record does not know; else empty. */
  readonly contentHash: string;
}

/** Names a part of the request whose key is kept under the id. */
interface PartName {
  readonly id: string;
  readonly part: string;
  readonly contentHash: string;
}

const prefix = 'key';

/** The form of a duplicate key that a part of a request has; no word of it holds a blank. */
export const durablePart = {
  toDuplicateKey: ({ id, part, contentHash }: PartName): string =>
    [prefix, id, part, contentHash].join(' '),
  /** Undefined for the duplicate key of a transport. */
  fromDuplicateKey(key: string): PartName | undefined {
    const [first, id, part, contentHash, ...rest] = key.split(' ');
    if (
      first !== prefix ||
      id === undefined ||
      part === undefined ||
      contentHash === undefined ||
      rest.length > 0
    ) {
      return undefined;
    }
    return { id, part, contentHash };
  },
};
