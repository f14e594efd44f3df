// Random queries equal an independent SQL oracle; `npm run bench -- oracle` asks many more.
import { expect, test } from 'vitest';
import { oracleRun } from './oracle-run.ts';

test('300 random KPIs and series are what SQL answers, within 1e-9', async () => {
  const { points, nonNull } = await oracleRun(1, 5_000, 300);
  // Most points must say something, or the comparison would be of nulls.
  expect(nonNull / points).toBeGreaterThan(0.1);
});
