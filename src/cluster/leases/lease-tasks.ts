// Lease tasks: the leases of work that this node does now, and workers that begin and end with them.
import { crc32 } from 'node:zlib';
import { type Lease, type LeaseName, type Leases, workspaceLeases } from './leases.ts';

interface LeaseWorker {
  /** The first part of the names of its leases, such as `workspaces/`. */
  readonly family: string;
  /** Called for leases that are held from now on: the work begins in the background. */
  readonly gained: (leases: readonly Lease[]) => void;
  /** Resolves when nothing is done for these any longer. No other node does it until then. */
  readonly lost: (names: readonly LeaseName[]) => Promise<unknown> | void;
}

interface HeldWork {
  /** Whether this node does the work, by its own clock. Asks no database. */
  readonly holds: (name: LeaseName) => boolean;
  readonly follow: (worker: LeaseWorker) => void;
}

/** With the other nodes that do a part of the work. */
export interface SharedWork extends HeldWork {
  /** Answers a call of other nodes. Call before this node joins them. */
  readonly answer: (call: string, handler: (request: unknown) => Promise<unknown>) => void;
  /**
   * Calls the holder of the work when that is another node. Resolves to undefined without a
   * known holder. Throws Problem `nodeUnreachable`, and an error with the message of the
   * handler's.
   */
  readonly askHolder: (lease: LeaseName, call: string, request: unknown) => Promise<unknown>;
  /**
   * Calls each other node that holds one of the leases, without an answer: what is missed, the
   * holder finds later by itself.
   */
  readonly tellHolders: (leases: readonly LeaseName[], call: string, request: unknown) => void;
  /**
   * Does the work when other nodes call for it, and calls for it at all of them in parallel; see
   * `NodeRounds.ask`. Call before this node joins them.
   */
  readonly atOthers: (work: WorkAtNodes) => (request: string) => Promise<void>;
}

export interface WorkAtNodes {
  readonly call: string;
  readonly here: (request: string) => Promise<unknown>;
  /** The longest that the others are waited for. */
  readonly askMsMax: number;
}

/** Begins with the changes of leases from now on. */
export function createHeldWork(
  leases: Pick<Leases, 'onChange'>,
  failed: (what: string, error: unknown) => void,
  /** What must be done while this node still has the leases that it gives. */
  beforeLoss: (lost: readonly Lease[]) => Promise<void> = async () => undefined,
): HeldWork {
  const held = new Map<LeaseName, Lease>();
  const workers: LeaseWorker[] = [];

  async function stop(worker: LeaseWorker, lost: readonly LeaseName[]): Promise<void> {
    const own = lost.filter((name) => name.startsWith(worker.family));
    if (own.length > 0) await worker.lost(own);
  }

  function begin(worker: LeaseWorker, gained: readonly Lease[]): void {
    const own = gained.filter(({ name }) => name.startsWith(worker.family));
    if (own.length > 0) worker.gained(own);
  }

  leases.onChange(async (gained, lost) => {
    for (const { name, epoch } of lost) if (held.get(name)?.epoch === epoch) held.delete(name);
    const names = lost.map(({ name }) => name).filter((name) => !held.has(name));
    if (names.length > 0) await beforeLoss(lost);
    const ended = await Promise.allSettled(workers.map((worker) => stop(worker, names)));
    for (const one of ended) if (one.status === 'rejected') failed('ending work', one.reason);
    for (const lease of gained) if (lease.isValid()) held.set(lease.name, lease);
    for (const worker of workers)
      begin(
        worker,
        gained.filter((lease) => lease.isValid()),
      );
  });
  return {
    holds: (name) => held.get(name)?.isValid() === true,
    follow: (worker) => void workers.push(worker),
  };
}

// Work leases: the leases of what one node does for all, by connector, workspace, operation or in general.

/** Never changed: rows contain the numbers of delivery shards. */
const deliveryShardCount = 64;
const operationShardCount = 16;

/** The shard of the deliveries to an output connector. */
export function deliveryShardOf(connectorId: string): number {
  return crc32(connectorId) % deliveryShardCount;
}

export const leaseOfConnector = (connectorId: string): LeaseName =>
  `deliveries/${deliveryShardOf(connectorId)}`;

export const leaseOfOperation = (operationId: string): LeaseName =>
  `operations/${crc32(operationId) % operationShardCount}`;

/** All leases. */
export const workLeases: readonly LeaseName[] = [
  ...numbered('deliveries', deliveryShardCount),
  ...workspaceLeases,
  ...numbered('operations', operationShardCount),
  'maintenance',
  'demo',
];

function numbered(family: 'deliveries' | 'operations', count: number): LeaseName[] {
  return Array.from({ length: count }, (_, shard): LeaseName => `${family}/${shard}`);
}

/** The number of a lease of a family. */
export function shardOfLease(name: LeaseName): number {
  return Number(name.slice(name.indexOf('/') + 1));
}
