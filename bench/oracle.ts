// Random KPIs and series against an independent SQL oracle: 20,000, or as many as the first argument says.
import { oracleRun } from '../tests/oracle/oracle-run.ts';

const wanted = Number(process.argv[2] ?? 20_000);
const aRun = 1_000;
const started = performance.now();
let queries = 0;
let points = 0;
for (let seed = 1; queries < wanted; seed++) {
  const run = await oracleRun(seed, 4_000 + (seed % 5) * 1_000, Math.min(aRun, wanted - queries));
  queries += run.queries;
  points += run.points;
}
const seconds = (performance.now() - started) / 1_000;
console.log(
  `${queries} queries with ${points} points equal the SQL oracle within 1e-9 (${seconds.toFixed(1)} s)`,
);
