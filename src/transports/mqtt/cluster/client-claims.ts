// Client claims: which connection a client id belongs to among all nodes, and the sessions that are kept.
import type { EpochMs } from '../../../model/instant.ts';
import type { NodeAddress } from '../../../model/node-messages.ts';
import { createBoundedMap } from '../../../structures/bounded-map.ts';
import type { KeptSession, SessionStore } from '../mqtt-session.ts';

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

export class ClientClaims {
  readonly #store: SessionStore;
  readonly #evict: (claim: Claim) => Promise<KeptSession | undefined>;
  readonly #claims = createBoundedMap<string, Claim>(claimsMax);

  constructor({
    store,
    evict,
  }: {
    readonly store: SessionStore;
    /** Ends the connection at its node, which returns what it keeps. Never rejects its promise. */
    readonly evict: (claim: Claim) => Promise<KeptSession | undefined>;
  }) {
    this.#store = store;
    this.#evict = evict;
  }

  /**
   * Gives the client id to a new connection. Resolves with what was kept, when the connection
   * before has ended.
   */
  async claim(wanted: Claim, isClean: boolean): Promise<KeptSession | undefined> {
    const { key } = wanted;
    const before = this.#claims.get(key);
    this.#claims.set(key, wanted);
    const isOther = before !== undefined && before.claim !== wanted.claim;
    const left = isOther ? await this.#evict(before) : undefined;
    const kept = left ?? this.#store.get(key);
    this.#store.delete(key);
    return isClean ? undefined : kept;
  }

  /**
   * Gives client ids to connections that were there before this node owned them. Returns the
   * claims that a later connection has replaced.
   */
  reclaim(wanted: readonly Claim[]): readonly Claim[] {
    const replaced: Claim[] = [];
    for (const one of wanted) {
      const present = this.#claims.get(one.key);
      if (present !== undefined && present.claim !== one.claim) {
        if (present.at >= one.at) {
          replaced.push(one);
          continue;
        }
        void this.#evict(present);
      }
      this.#claims.set(one.key, one);
    }
    return replaced;
  }

  /** A connection has ended. One that was replaced meanwhile changes nothing. */
  release(key: string, claim: string, kept: KeptSession | undefined): void {
    const present = this.#claims.get(key);
    if (present !== undefined && present.claim !== claim) return;
    this.#claims.delete(key);
    if (kept !== undefined) this.#store.set(key, kept);
  }

  dropNode(nodeId: string): void {
    this.#dropWhere(({ node }) => node.id === nodeId);
  }

  drop(isDropped: (key: string) => boolean): void {
    this.#dropWhere(({ key }) => isDropped(key));
  }

  get size(): number {
    return this.#claims.size;
  }

  #dropWhere(isDropped: (claim: Claim) => boolean): void {
    for (const [key, claim] of this.#claims) if (isDropped(claim)) this.#claims.delete(key);
  }
}
