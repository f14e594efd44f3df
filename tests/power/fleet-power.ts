// Fleet power: power cuts, full disks and failing syncs while the store of a fleet seals, merges, deletes and drops.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CrashReport, crashRounds } from '../load/store-crash-rounds.ts';
import { powerWorld } from './power-world.ts';

/** What fails in a round, besides the power: each is met while the child writes, and ends with it. */
const faults: readonly (readonly string[])[] = [
  [],
  ['write segments ENOSPC'],
  [],
  ['fsync segments EIO'],
  ['write journal ENOSPC'],
  ['write devices.numbers ENOSPC'],
];

/** `random` gives numbers from 0 to 1. */
export async function fleetPowerRounds(
  library: string,
  rounds: number,
  random: () => number,
): Promise<CrashReport> {
  const root = mkdtempSync(join(tmpdir(), 'heliograph-fleet-power-'));
  const world = powerWorld(root, library);
  try {
    return await crashRounds(
      {
        folder: world.data,
        settings: world.settings,
        onlyCopies: true,
        disturb: (round) => world.faults(faults[round % faults.length]!),
        cut: () => {
          world.faults([]);
          world.cut(random() < 0.5 ? 'strict' : 'mixed', random);
        },
      },
      rounds,
    );
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}
