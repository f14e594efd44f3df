// Held leases: what one node may do by its own clock, between the answers of the lease table.
import type { LeaseRow } from './lease-table.ts';
import type { Lease, LeaseName } from './leases.ts';

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

export interface LeaseChanges {
  readonly gained: readonly Lease[];
  readonly lost: readonly Lease[];
}

export interface HeldLeases {
  /** The lease when it is valid and used. */
  held(name: LeaseName): Lease | undefined;
  /**
   * A number that changes when a lease is lost; NaN while one is not valid. When it is as before, no
   * other node held one of these leases meanwhile.
   */
  continuity(): number;
  /** Valid or not, in any phase. */
  all(): readonly Lease[];
  /**
   * The node held exactly these when it asked, and does until then. Leases of an earlier epoch and
   * missing ones are lost.
   */
  renewed(rows: readonly LeaseRow[], validUntil: number): LeaseChanges;
  /** Adds leases that were taken. */
  taken(rows: readonly LeaseRow[], validUntil: number): readonly Lease[];
  /** Uses leases that were gained. */
  use(leases: readonly Lease[]): void;
  /** Accepts no more work for these; returns those that were used or gained. */
  leave(names: readonly LeaseName[]): readonly Lease[];
  /** Ends what is held of these, before another node can hold it. */
  end(leases: readonly Lease[]): void;
}

/** `now` is a monotonic clock in milliseconds. */
export function createHeldLeases(now: () => number): HeldLeases {
  const leases = new Map<LeaseName, HeldLease>();
  let losses = 0;

  function end(ended: Iterable<Lease>): void {
    for (const { name, epoch } of ended) {
      const lease = leases.get(name);
      if (lease?.epoch !== epoch) continue;
      lease.validUntil = Number.NEGATIVE_INFINITY;
      leases.delete(name);
    }
  }

  function add(row: LeaseRow, validUntil: number): Lease | undefined {
    const known = leases.get(row.name);
    if (known?.epoch === row.epoch) {
      known.validUntil = Math.max(known.validUntil, validUntil);
      return undefined;
    }
    const lease = new HeldLease(row, validUntil, now);
    leases.set(row.name, lease);
    return lease;
  }

  function taken(rows: readonly LeaseRow[], validUntil: number): readonly Lease[] {
    return rows.map((row) => add(row, validUntil)).filter((lease) => lease !== undefined);
  }

  return {
    held(name) {
      const lease = leases.get(name);
      return lease?.phase === 'used' && lease.isValid() ? lease : undefined;
    },
    continuity() {
      for (const lease of leases.values()) if (!lease.isValid()) return Number.NaN;
      return losses;
    },
    all: () => [...leases.values()],
    renewed(rows, validUntil) {
      const epochs = new Map(rows.map(({ name, epoch }) => [name, epoch]));
      const lost = [...leases.values()].filter(({ name, epoch }) => epochs.get(name) !== epoch);
      end(lost);
      if (lost.length > 0) losses += 1;
      return { gained: taken(rows, validUntil), lost };
    },
    taken,
    use(gained) {
      for (const { name, epoch } of gained) {
        const lease = leases.get(name);
        if (lease?.epoch === epoch && lease.phase === 'gained') lease.phase = 'used';
      }
    },
    leave: (names) => leaveAll(names.map((name) => leases.get(name))),
    end,
  };
}

function leaveAll(leases: readonly (HeldLease | undefined)[]): readonly Lease[] {
  const leaving = leases
    .filter((lease) => lease !== undefined)
    .filter(({ phase }) => phase !== 'leaving');
  for (const lease of leaving) lease.phase = 'leaving';
  return leaving;
}
