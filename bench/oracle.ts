// Random reads against an independent SQL oracle: 20,000 of busy devices, then 20,000 of sparse fleets.
// Arguments: another number of reads, then `busy` or `fleets` for one of the two.
import { fleetRun } from '../tests/oracle/fleet-run.ts';
import { oracleRun } from '../tests/oracle/oracle-run.ts';

const wanted = Number(process.argv[2] ?? 20_000);
const only = process.argv[3];
const busyPerRun = 1_000;
const fleetPerRun = 1_000;

async function compare(
  what: string,
  perRun: number,
  run: (seed: number, queries: number) => Promise<{ queries: number; points: number }>,
): Promise<void> {
  const started = performance.now();
  let queries = 0;
  let points = 0;
  for (let seed = 1; queries < wanted; seed++) {
    const done = await run(seed, Math.min(perRun, wanted - queries));
    queries += done.queries;
    points += done.points;
  }
  const seconds = (performance.now() - started) / 1_000;
  console.log(
    `${queries} reads of ${what} with ${points} points equal the SQL oracle within 1e-9 (${seconds.toFixed(1)} s)`,
  );
}

if (only !== 'fleets')
  await compare('busy devices', busyPerRun, (seed, queries) =>
    oracleRun(seed, 4_000 + (seed % 5) * 1_000, queries),
  );
if (only !== 'busy')
  await compare('sparse fleets', fleetPerRun, (seed, queries) =>
    fleetRun(seed, {
      devices: 100 + (seed % 10) * 100,
      samples: 3_000 + (seed % 4) * 2_000,
      steps: 10 + (seed % 3) * 15,
      queries,
    }),
  );
