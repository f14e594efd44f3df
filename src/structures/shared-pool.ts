// Shared pool: a limit that owners share. When it is reached, whoever holds most gives way first.

interface Owner<H> {
  readonly name: string;
  used: number;
  /** What each holding takes, from the oldest to the one that changed last. */
  readonly holdings: Map<H, number>;
  /**
   * Continues behind the last holding that gave way, because a new iterator passes the places of all
   * that were removed. Nothing is ever added before it.
   */
  oldest: Iterator<H> | undefined;
  /** Place in the heap. */
  place: number;
}

/** How many times what is free one owner may hold of work that cannot give way: three quarters of a pool. */
const ownerToFree = 3;

/**
 * Whether an owner may begin more of what cannot give way: some room is always left for those who
 * hold less.
 */
export function leavesRoom(own: number, used: number, max: number): boolean {
  return own < ownerToFree * (max - used);
}

/**
 * An owner that holds no more than the limit divided by the number of owners loses nothing to
 * others, and the only owner may use all. Each call takes the logarithm of the number of owners.
 */
export class SharedPool<H> {
  readonly #max: number;
  readonly #giveWay: ((holding: H) => void) | undefined;
  readonly #isNewcomerFirst: boolean;
  readonly #owners = new Map<string, Owner<H>>();
  readonly #ownerOf = new Map<H, Owner<H>>();
  /** A heap: no owner holds more than the one above it. */
  readonly #heap: Owner<H>[] = [];
  #used = 0;

  constructor(options: {
    readonly max: number;
    /**
     * Called for each holding that gives way to another one; it is no longer in the pool. Without
     * it nothing gives way: ask `hasRoomFor` before something begins.
     */
    readonly giveWay?: (holding: H) => void;
    /**
     * What gives way when the owner of the newcomer holds most itself: its oldest holding, or the
     * newcomer, for what should rather be refused than ended.
     */
    readonly ownGivesWay?: 'oldest' | 'newcomer';
  }) {
    this.#max = options.max;
    this.#giveWay = options.giveWay;
    this.#isNewcomerFirst = options.ownGivesWay === 'newcomer';
  }

  /** What all holdings take. */
  get used(): number {
    return this.#used;
  }

  /** Number of holdings. */
  get size(): number {
    return this.#ownerOf.size;
  }

  usedBy(owner: string): number {
    return this.#owners.get(owner)?.used ?? 0;
  }

  has(holding: H): boolean {
    return this.#ownerOf.has(holding);
  }

  /**
   * Sets what the holding takes, as its owner's newest. Others give way until the pool is within its
   * limit. False when the holding itself had to; it is not in the pool then.
   */
  hold(owner: string, holding: H, amount: number): boolean {
    this.release(holding);
    const own = this.#owners.get(owner) ?? this.#enter(owner);
    own.holdings.set(holding, amount);
    this.#ownerOf.set(holding, own);
    this.#change(own, amount);
    while (this.#used > this.#max && this.#giveWay !== undefined) {
      const victim = this.#victim(own, holding);
      this.release(victim);
      if (victim === holding) return false;
      this.#giveWay(victim);
    }
    return true;
  }

  release(holding: H): void {
    const owner = this.#ownerOf.get(holding);
    if (owner === undefined) return;
    const amount = owner.holdings.get(holding) ?? 0;
    this.#ownerOf.delete(holding);
    owner.holdings.delete(holding);
    this.#change(owner, -amount);
    if (owner.holdings.size === 0) this.#leave(owner);
  }

  /**
   * Whether the owner may begin more of what cannot give way: some room is always left for those
   * who hold less.
   */
  hasRoomFor(owner: string): boolean {
    return leavesRoom(this.usedBy(owner), this.#used, this.#max);
  }

  /** Whether the owner holds less than an equal part beside others, and takes from who holds most. */
  hasShareLeft(owner: string): boolean {
    const others = this.#owners.size - (this.#owners.has(owner) ? 1 : 0);
    return others > 0 && this.usedBy(owner) < this.#max / (others + 1);
  }

  #victim(own: Owner<H>, newcomer: H): H {
    const most = this.#heap[0];
    // Of equals the newcomer's owner gives way, so that owners do not take from each other in turns.
    if (most === undefined || most.used <= own.used) {
      if (this.#isNewcomerFirst) return newcomer;
      return oldestOf(own) ?? newcomer;
    }
    return oldestOf(most) ?? newcomer;
  }

  #enter(name: string): Owner<H> {
    const owner: Owner<H> = {
      name,
      used: 0,
      holdings: new Map(),
      oldest: undefined,
      place: this.#heap.length,
    };
    this.#owners.set(name, owner);
    this.#heap.push(owner);
    return owner;
  }

  /** The owner holds nothing, so that nobody is below it who holds more. */
  #leave(owner: Owner<H>): void {
    this.#owners.delete(owner.name);
    const last = this.#heap.pop();
    if (last === undefined || last === owner) return;
    this.#put(last, owner.place);
    this.#settle(last);
  }

  #change(owner: Owner<H>, by: number): void {
    this.#used += by;
    owner.used += by;
    this.#settle(owner);
  }

  /** Restores the order of the heap around an owner that changed. */
  #settle(owner: Owner<H>): void {
    for (let above = this.#above(owner); above !== undefined; above = this.#above(owner)) {
      if (above.used >= owner.used) break;
      this.#swap(above, owner);
    }
    for (let below = this.#larger(owner); below !== undefined; below = this.#larger(owner)) {
      if (below.used <= owner.used) return;
      this.#swap(owner, below);
    }
  }

  #above({ place }: Owner<H>): Owner<H> | undefined {
    return place === 0 ? undefined : this.#heap[(place - 1) >> 1];
  }

  /** Of the two below, the one that holds more. */
  #larger({ place }: Owner<H>): Owner<H> | undefined {
    const left = this.#heap[2 * place + 1];
    const right = this.#heap[2 * place + 2];
    if (left === undefined || right === undefined) return left;
    return right.used > left.used ? right : left;
  }

  #swap(above: Owner<H>, below: Owner<H>): void {
    const { place } = above;
    this.#put(above, below.place);
    this.#put(below, place);
  }

  #put(owner: Owner<H>, place: number): void {
    this.#heap[place] = owner;
    owner.place = place;
  }
}

/** The caller removes it. */
function oldestOf<H>(owner: Owner<H>): H | undefined {
  owner.oldest ??= owner.holdings.keys();
  const next = owner.oldest.next();
  if (!next.done) return next.value;
  owner.oldest = owner.holdings.keys();
  return owner.oldest.next().value;
}
