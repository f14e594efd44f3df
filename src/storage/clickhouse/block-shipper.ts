// Block shipper: inserts closed blocks in their order, each row exactly once, also after errors and restarts.
import { setTimeout as delay } from 'node:timers/promises';
import { RetryingWorker } from '../../structures/retrying-worker.ts';
import { setTimer } from '../../structures/timers.ts';
import type { BlockInsert } from './block-insert.ts';
import { mayHaveBeenStored } from './replica.ts';
import type { Shard } from './shard.ts';

const retryDelaysMs = [250, 1_000, 3_000] as const;
/** Before a look: a server that hung reads what is in its sockets first. */
const settleMs = 1_000;

/**
 * Whether some of a block may be stored already: by an insert that may still run, or by one that has
 * ended.
 */
export type BlockDoubt = 'none' | 'running' | 'ended';

export interface ShippedBlock {
  doubt: BlockDoubt;
}

/** What differs between samples, hours and raw uplinks. */
interface BlockKind<Block extends ShippedBlock> {
  /** The oldest closed block. */
  first(): Block | undefined;
  /** Saves where the block ends, so that a restart repeats the same block. */
  begin(block: Block): Promise<void>;
  /** In order for each shard. Asked once for a block, so that every attempt sends the same. */
  inserts(block: Block): ReadonlyMap<Shard, readonly BlockInsert[]>;
  /** Saves that the block is stored, and discards it. */
  end(block: Block): Promise<void>;
}

export interface BlockShipper {
  /** Call after a block was closed. */
  wake(): void;
  /** Does not wait for the next retry. */
  retryNow(): void;
  /** Why nothing is shipped now; undefined while it works. */
  failure(): Error | undefined;
  /** Resolves when a block was shipped or an attempt has failed. */
  attempted(): Promise<void>;
  /** Resolves when the condition holds. Rejects with what the last attempt failed with. */
  until(isReached: () => boolean): Promise<void>;
  /** Starts no other attempt. Resolves when the present one has ended. */
  close(): Promise<void>;
}

export function createBlockShipper<Block extends ShippedBlock>(
  kind: BlockKind<Block>,
  failed: (error: unknown) => void,
): BlockShipper {
  let failure: Error | undefined;
  let attempts: Attempts<Block> | undefined;
  let attempt = Promise.withResolvers<void>();

  const worker = new RetryingWorker({
    hasWork: () => kind.first() !== undefined,
    work: async (progressed) => {
      for (let block = kind.first(); block !== undefined; block = kind.first()) {
        if (attempts?.block !== block)
          attempts = { block, inserts: kind.inserts(block), done: new Set() };
        await shipBlock(attempts, kind);
        failure = undefined;
        progressed();
        ended();
      }
      attempts = undefined;
    },
    failed: (error) => {
      failure = error instanceof Error ? error : new Error(String(error));
      failed(error);
      ended();
    },
    retryDelaysMs,
    setTimer,
  });

  function ended(): void {
    attempt.resolve();
    attempt = Promise.withResolvers();
  }

  return {
    wake: worker.wake,
    retryNow: worker.retryNow,
    failure: () => failure,
    attempted: () => attempt.promise,
    async until(isReached) {
      while (!isReached()) {
        worker.retryNow();
        await attempt.promise;
        if (failure !== undefined) throw failure;
      }
    },
    close: worker.close,
  };
}

/** A block that is being shipped. */
interface Attempts<Block> {
  readonly block: Block;
  readonly inserts: ReadonlyMap<Shard, readonly BlockInsert[]>;
  readonly done: Set<BlockInsert>;
}

async function shipBlock<Block extends ShippedBlock>(
  { block, inserts, done }: Attempts<Block>,
  kind: BlockKind<Block>,
): Promise<void> {
  await kind.begin(block);
  if (block.doubt === 'running') await delay(settleMs);
  const isDoubtful = block.doubt !== 'none';
  const ends = await Promise.allSettled(
    [...inserts].map(async ([shard, ofShard]) => {
      for (const insert of ofShard) {
        if (done.has(insert)) continue;
        await insert.run(shard, isDoubtful);
        done.add(insert);
      }
    }),
  );
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed !== undefined) {
    if (
      isDoubtful ||
      ends.some((end) => end.status === 'rejected' && mayHaveBeenStored(end.reason))
    )
      block.doubt = 'running';
    throw failed.reason;
  }
  await kind.end(block);
}
