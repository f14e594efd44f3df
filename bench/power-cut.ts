// Power cuts under load: what was acknowledged is there once, and no rule misses a sample (`--rounds 60 --seed 1`).
// The clock steps forth and back meanwhile. Needs Linux, gcc and the headers of libc (libc6-dev).
// With `--fleet` only the store of a fleet, on full and failing disks.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { fleetPowerRounds } from '../tests/power/fleet-power.ts';
import { powerRounds } from '../tests/power/power-rounds.ts';
import { compilePowerCut } from '../tests/power/power-world.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '60' },
    seed: { type: 'string', default: '1' },
    fleet: { type: 'boolean', default: false },
  },
});
let turn = Number(values.seed);
const random = (): number => ((turn += 1) * 0.618_033_988) % 1;
const folder = mkdtempSync(join(tmpdir(), 'heliograph-power-library-'));
const library = compilePowerCut(folder);
const { violations, ...found } = values.fleet
  ? await fleetRounds(library)
  : await powerRounds(
      library,
      Number(values.rounds),
      () => (random() < 0.5 ? 'strict' : 'mixed'),
      random,
    );
console.log(JSON.stringify({ ...found, violations: violations.slice(0, 100) }, undefined, 2));
process.exitCode = violations.length === 0 ? 0 : 1;
rmSync(folder, { recursive: true, force: true });

async function fleetRounds(library: string) {
  const report = await fleetPowerRounds(library, Number(values.rounds), random);
  return {
    seed: values.seed,
    ...report,
    acknowledged: report.acknowledged.size,
    deleted: report.deleted.size,
    stored: report.stored.size,
    removed: report.removed.size,
  };
}
