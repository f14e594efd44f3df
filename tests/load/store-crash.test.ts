// kill -9 of a fleet store while it writes, seals, merges, deletes, removes and recovers: nothing is lost.
// More than the usual 6 rounds, one for each moment: ROUNDS=500 npx vitest run tests/load/store-crash.test.ts
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { expect, test } from 'vitest';
import { crashRounds } from './store-crash-rounds.ts';
import { crashMoments } from './store-crash-samples.ts';

const rounds = Number(process.env['ROUNDS'] ?? 6);

test(`figures: ${rounds} kills under load, 0 lost, 0 invented`, {
  timeout: 240_000 + rounds * 10_000,
}, async () => {
  const root = mkdtempSync(join(tmpdir(), 'crash-'));
  try {
    const report = await crashRounds({ folder: join(root, 'store') }, rounds);
    const { acknowledged, deleted, removed, hits } = report;
    expect(report.violations).toEqual([]);
    expect(acknowledged.size).toBeGreaterThan(rounds * 20);
    console.info(
      `killed during: ${JSON.stringify(hits)}; ${acknowledged.size} samples acknowledged, ${deleted.size} devices deleted, samples of ${removed.size} removed`,
    );
    // A few rounds may miss a short moment.
    if (rounds >= 100)
      for (const moment of crashMoments) expect(hits[moment], moment).toBeGreaterThan(rounds / 50);
  } finally {
    rmSync(root, { recursive: true });
  }
});
