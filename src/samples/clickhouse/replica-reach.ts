// Replica reach: the replicas that are read have what other nodes shipped, to whichever replica.
import type { Shard } from '../../clickhouse/shard.ts';
import { type ReachShipped, samplesError, type ShippedTo } from './store-parts.ts';

/**
 * Nodes may use different replicas of a shard, after one was away from some of them. A replica is
 * waited for once for all reads that need the same positions, and never where it is the only one.
 */
export function createReplicaReach(shards: readonly Shard[]): ReachShipped {
  const replicated = shards.filter(({ replicas }) => replicas.length > 1);
  const reached = new Map<number, number>();
  const wanted = new Map<number, number>();
  let reaching: Promise<void> | undefined;

  async function reach(): Promise<void> {
    const goal = [...wanted];
    await Promise.all(replicated.map((shard) => shard.caughtUp()));
    for (const [journal, position] of goal) reached.set(journal, position);
  }

  return async (others) => {
    if (replicated.length === 0) return;
    const isBehind = ({ journal, shipped }: ShippedTo) => shipped > (reached.get(journal) ?? -1);
    for (const { journal, shipped } of others)
      wanted.set(journal, Math.max(shipped, wanted.get(journal) ?? 0));
    try {
      while (others.some(isBehind)) {
        reaching ??= reach().finally(() => {
          reaching = undefined;
        });
        await reaching;
      }
    } catch (error) {
      throw samplesError(error);
    }
  };
}
