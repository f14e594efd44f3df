// Usual values of the demo: faults are told from weather, sun and people that differ from day to day (design of the data, table of section 9).
import { expect, test } from 'vitest';
import { demoKinds, foundIn, sensitivities } from './usual-values.ts';

// Weeks and seeds of the first line were looked at when the statistics were made, those of the others were not.
test.each([
  ['May and August 2026', [Date.UTC(2026, 4, 1), Date.UTC(2026, 7, 1)], 1],
  ['another year', [Date.UTC(2027, 4, 20), Date.UTC(2027, 8, 5)], 6_001],
])(
  'contract 38: MEDIUM finds faults in series of the demo from %s, and few other values',
  { timeout: 600_000 },
  async (_, starts, seed) => {
    const sum = { found: 0, right: 0, noticed: 0, faults: 0, wrong: 0, tested: 0 };
    const precisions: Record<string, number> = {};
    for (const [kind, series] of demoKinds) {
      const medium = (await foundIn(series, starts, seed))[sensitivities.indexOf('MEDIUM')];
      if (medium === undefined) throw new Error('MEDIUM is not judged');
      precisions[kind] = medium.right / medium.found;
      for (const name of ['found', 'right', 'noticed', 'faults', 'wrong', 'tested'] as const)
        sum[name] += medium[name];
    }
    const figures = {
      precision: sum.right / sum.found,
      least: Math.min(...Object.values(precisions)),
      recall: sum.noticed / sum.faults,
      clean: sum.wrong / sum.tested,
    };
    if (process.env['USUAL'] !== undefined) console.log(figures, precisions);
    expect(figures.precision).toBeGreaterThanOrEqual(0.95);
    expect(figures.least).toBeGreaterThanOrEqual(0.8);
    expect(figures.recall).toBeGreaterThanOrEqual(0.9);
    expect(figures.clean).toBeLessThan(0.005);
  },
);
