// Block cache: the unpacked blocks that were read last, since neighbors are often read next.
import { createBoundedMap } from '../structures/bounded-map.ts';
import { type DeliveryLogDamage, readBlock, unreadableReason } from './segment.ts';

export interface BlockCache {
  /** Undefined when the block cannot be read, which is reported, or its segment was removed. */
  read(path: string, offset: number): Promise<Buffer | undefined>;
}

export function createBlockCache(
  blocksMax: number,
  damaged: (damage: DeliveryLogDamage) => void,
): BlockCache {
  const blocks = createBoundedMap<string, Promise<Buffer | undefined>>(blocksMax);

  async function load(path: string, offset: number): Promise<Buffer | undefined> {
    try {
      const block = await readBlock(path, offset);
      if (block === undefined) damaged({ path, reason: unreadableReason(offset, 1) });
      return block;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  return {
    read(path, offset) {
      const key = `${path} ${offset}`;
      const known = blocks.use(key);
      if (known !== undefined) return known;
      const block = load(path, offset);
      blocks.set(key, block);
      // What failed is tried again.
      block.then(
        (found) => found === undefined && blocks.delete(key),
        () => blocks.delete(key),
      );
      return block;
    },
  };
}
