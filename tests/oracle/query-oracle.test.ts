// Random queries equal an independent SQL oracle; `npm run bench -- oracle` asks many more.
import { expect, test } from 'vitest';
import { fleetRun } from './fleet-run.ts';
import { oracleRun } from './oracle-run.ts';

test('300 random KPIs and series are what SQL answers, within 1e-9', async () => {
  const { points, nonNull } = await oracleRun(1, 5_000, 300);
  // Most points must say something, or the comparison would be of nulls.
  expect(nonNull / points).toBeGreaterThan(0.1);
});

test('300 random reads of a sparse fleet are what SQL answers, wherever its rows are', {
  timeout: 240_000,
}, async () => {
  const run = await fleetRun(8, { devices: 300, samples: 2_500, steps: 12, queries: 300 });
  const { history } = run;
  expect(run.nonNull / run.points).toBeGreaterThan(0.05);
  for (const level of [0, 1, 2]) expect([...history.levels]).toContain(level);
  for (const met of ['chunks', 'restarts', 'dropped', 'repeated', 'late', 'expired'] as const)
    expect(history[met], met).toBeGreaterThan(0);
});
