// Checks the delivery log of a data folder: reads every block, changes nothing.
import { checkBlocks, type DeliveryLogDamage } from './segment.ts';
import { findSegments } from './open-segments.ts';

export interface DeliveryLogFindings {
  readonly records: number;
  /** Without a torn end, whose deliveries are sent again. */
  readonly damage: readonly DeliveryLogDamage[];
}

/** `expected`: whether the folder had files before. */
export async function verifyDeliveryLog(
  directory: string,
  expected: boolean,
): Promise<DeliveryLogFindings> {
  const { closed, open, damage } = await findSegments(directory, { repair: false, expected });
  const found = [...damage];
  const told = new Set(damage.map(({ path }) => path));
  for (const { path, bytes } of closed) {
    if (!told.has(path)) found.push(...(await checkBlocks(path, 0, bytes)).damage);
  }
  const records = closed.reduce((sum, segment) => sum + segment.records, open?.records ?? 0);
  return { records, damage: found };
}
