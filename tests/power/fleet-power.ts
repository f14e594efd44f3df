// Fleet power: power cuts, full disks and failing syncs while the store of a fleet seals, merges, deletes and drops.
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CrashReport, crashRounds } from '../load/store-crash-rounds.ts';
import { type CutMode, powerWorld } from './power-world.ts';

/** What fails in a round, besides the power: each is met while the child writes, and ends with it. */
const faults: readonly (readonly string[])[] = [
  [],
  ['write segments ENOSPC'],
  [],
  ['fsync segments EIO'],
  ['write journal ENOSPC'],
  ['write devices.numbers ENOSPC'],
];

function faultsOf(round: number): readonly string[] {
  return faults[round % faults.length] ?? [];
}

/**
 * `random` gives numbers from 0 to 1. A round with violations is the last, and its folders are kept:
 * when a child is ended depends on the machine, so that the same numbers do not repeat it.
 */
export async function fleetPowerRounds(
  library: string,
  rounds: number,
  random: () => number,
): Promise<CrashReport> {
  const root = mkdtempSync(join(tmpdir(), 'heliograph-fleet-power-'));
  const world = powerWorld(root, library);
  const ended = join(root, 'ended');
  let mode: CutMode = 'strict';
  let isKept = false;
  try {
    const report = await crashRounds(
      {
        folder: world.data,
        settings: world.settings,
        onlyCopies: true,
        disturb: (round) => world.faults(faultsOf(round)),
        until: (round) =>
          faultsOf(round).some((fault) => fault.startsWith('write journal'))
            ? 'refused'
            : undefined,
        cut: () => {
          world.faults([]);
          mode = random() < 0.5 ? 'strict' : 'mixed';
          rmSync(ended, { recursive: true, force: true });
          cpSync(world.data, ended, { recursive: true });
          world.cut(mode, random);
        },
      },
      rounds,
    );
    isKept = report.violations.length > 0;
    if (isKept)
      report.violations.push(`kept: ${world.data} is what the ${mode} cut left of ${ended}`);
    return report;
  } finally {
    if (!isKept) rmSync(root, { recursive: true, force: true });
  }
}
