// Random filter expressions against the slow reference: 20,000, or as many as the first argument says.
import { filterRun } from '../tests/oracle/filter-run.ts';

const wanted = Number(process.argv[2] ?? 20_000);
const aRun = 2_000;
const started = performance.now();
let expressions = 0;
let found = 0;
for (let seed = 1; expressions < wanted; seed++) {
  const run = await filterRun(seed, 120 + (seed % 5) * 20, Math.min(aRun, wanted - expressions));
  expressions += run.expressions;
  found += run.found;
}
const seconds = (performance.now() - started) / 1_000;
console.log(
  `${expressions} expressions with ${found} devices found equal the reference (${seconds.toFixed(1)} s)`,
);
