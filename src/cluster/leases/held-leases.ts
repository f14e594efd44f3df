// Held leases: what one node may do by its own clock, between the answers of the lease table.
import type { Lease, LeaseName, LeaseRow } from './leases.ts';

/** A lease is gained before it is used, and leaving before it is moved. */
type Phase = 'gained' | 'used' | 'leaving';

class HeldLease implements Lease {
  readonly name: LeaseName;
  readonly epoch: number;
  phase: Phase = 'gained';
  validUntil: number;
  readonly #now: () => number;

  constructor({ name, epoch }: LeaseRow, validUntil: number, now: () => number) {
    this.name = name;
    this.epoch = epoch;
    this.validUntil = validUntil;
    this.#now = now;
  }

  isValid(): boolean {
    return this.#now() < this.validUntil;
  }
}

/** `now` is a monotonic clock in milliseconds. */
export class HeldLeases {
  readonly #now: () => number;
  readonly #leases = new Map<LeaseName, HeldLease>();
  #losses = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** The lease when it is valid and used. */
  readonly held = (name: LeaseName): Lease | undefined => {
    const lease = this.#leases.get(name);
    return lease?.phase === 'used' && lease.isValid() ? lease : undefined;
  };

  /**
   * A number that changes when a lease is lost; NaN while one is not valid. When it is as before,
   * no other node held one of these leases meanwhile.
   */
  readonly continuity = (): number => {
    for (const lease of this.#leases.values()) if (!lease.isValid()) return Number.NaN;
    return this.#losses;
  };

  /** Uses leases that were gained. */
  readonly use = (gained: readonly Lease[]): void => {
    for (const { name, epoch } of gained) {
      const lease = this.#leases.get(name);
      if (lease?.epoch === epoch && lease.phase === 'gained') lease.phase = 'used';
    }
  };

  /** Valid or not, in any phase. */
  all(): readonly Lease[] {
    return [...this.#leases.values()];
  }

  /**
   * The node held exactly these when it asked, and does until then. Leases of an earlier epoch and
   * missing ones are lost.
   */
  renewed(
    rows: readonly LeaseRow[],
    validUntil: number,
  ): {
    readonly gained: readonly Lease[];
    readonly lost: readonly Lease[];
  } {
    const epochs = new Map(rows.map(({ name, epoch }) => [name, epoch]));
    const lost = [...this.#leases.values()].filter(({ name, epoch }) => epochs.get(name) !== epoch);
    this.end(lost);
    if (lost.length > 0) this.#losses += 1;
    return { gained: this.taken(rows, validUntil), lost };
  }

  /** Adds leases that were taken. */
  taken(rows: readonly LeaseRow[], validUntil: number): readonly Lease[] {
    return rows.map((row) => this.#add(row, validUntil)).filter((lease) => lease !== undefined);
  }

  /** Accepts no more work for these; returns those that were used or gained. */
  leave(names: readonly LeaseName[]): readonly Lease[] {
    return leaveAll(names.map((name) => this.#leases.get(name)));
  }

  /** Ends what is held of these, before another node can hold it. */
  end(ended: Iterable<Lease>): void {
    for (const { name, epoch } of ended) {
      const lease = this.#leases.get(name);
      if (lease?.epoch !== epoch) continue;
      lease.validUntil = Number.NEGATIVE_INFINITY;
      this.#leases.delete(name);
    }
  }

  #add(row: LeaseRow, validUntil: number): Lease | undefined {
    const known = this.#leases.get(row.name);
    if (known?.epoch === row.epoch) {
      known.validUntil = Math.max(known.validUntil, validUntil);
      return undefined;
    }
    const lease = new HeldLease(row, validUntil, this.#now);
    this.#leases.set(row.name, lease);
    return lease;
  }
}

function leaveAll(leases: readonly (HeldLease | undefined)[]): readonly Lease[] {
  const leaving = leases
    .filter((lease) => lease !== undefined)
    .filter(({ phase }) => phase !== 'leaving');
  for (const lease of leaving) lease.phase = 'leaving';
  return leaving;
}
