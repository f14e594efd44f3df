// Client claims: which connection a client id belongs to among all nodes, and the sessions that are kept.
import type { EpochMs } from '../../../model/instant.ts';
import type { NodeAddress } from '../../../model/node-messages.ts';
import { createBoundedMap } from '../../../structures/bounded-map.ts';
import type { KeptSession, SessionStore } from '../mqtt-session-store.ts';

/** Clients of all nodes that this node owns; beyond, the oldest connection cannot be taken over. */
const claimsMax = 500_000;

export interface Claim {
  /** Client id that is unique among all connectors. */
  readonly key: string;
  /** Different for each connection. */
  readonly claim: string;
  /** Where the connection is. */
  readonly node: NodeAddress;
  /** When the client connected. */
  readonly at: EpochMs;
}

export interface ClientClaims {
  /**
   * Gives the client id to a new connection. Resolves with what was kept, when the connection before
   * has ended.
   */
  claim(wanted: Claim, isClean: boolean): Promise<KeptSession | undefined>;
  /**
   * Gives client ids to connections that were there before this node owned them. Returns the claims
   * that a later connection has replaced.
   */
  reclaim(wanted: readonly Claim[]): readonly Claim[];
  /** A connection has ended. One that was replaced meanwhile changes nothing. */
  release(key: string, claim: string, kept: KeptSession | undefined): void;
  dropNode(nodeId: string): void;
  drop(isDropped: (key: string) => boolean): void;
  readonly size: number;
}

interface ClaimsParts {
  readonly store: SessionStore;
  /** Ends the connection at its node, which returns what it keeps. Never rejects its promise. */
  readonly evict: (claim: Claim) => Promise<KeptSession | undefined>;
}

export function createClientClaims({ store, evict }: ClaimsParts): ClientClaims {
  const claims = createBoundedMap<string, Claim>(claimsMax);

  function dropWhere(isDropped: (claim: Claim) => boolean): void {
    for (const [key, claim] of claims) if (isDropped(claim)) claims.delete(key);
  }

  return {
    async claim(wanted, isClean) {
      const { key } = wanted;
      const before = claims.get(key);
      claims.set(key, wanted);
      const isOther = before !== undefined && before.claim !== wanted.claim;
      const left = isOther ? await evict(before) : undefined;
      const kept = left ?? store.get(key);
      store.delete(key);
      return isClean ? undefined : kept;
    },
    reclaim(wanted) {
      const replaced: Claim[] = [];
      for (const one of wanted) {
        const present = claims.get(one.key);
        if (present !== undefined && present.claim !== one.claim) {
          if (present.at >= one.at) {
            replaced.push(one);
            continue;
          }
          void evict(present);
        }
        claims.set(one.key, one);
      }
      return replaced;
    },
    release(key, claim, kept) {
      const present = claims.get(key);
      if (present !== undefined && present.claim !== claim) return;
      claims.delete(key);
      if (kept !== undefined) store.set(key, kept);
    },
    dropNode: (nodeId) => dropWhere(({ node }) => node.id === nodeId),
    drop: (isDropped) => dropWhere(({ key }) => isDropped(key)),
    get size() {
      return claims.size;
    },
  };
}
