// Random queries of samples in ClickHouse equal the SQL oracle, also while some of the samples are open.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openClickHouseSamples } from '../../src/storage/samples/clickhouse/testing-clickhouse.ts';
import { clickhouse, startClickHouse } from '../servers/clickhouse.ts';
import { describeWith, startedBefore } from '../servers/server-tests.ts';
import { appendAll, type FillStore } from './filled-store.ts';
import { oracleRun } from './oracle-run.ts';

describeWith(clickhouse, 'queries of ClickHouse', () => {
  const server = startedBefore(startClickHouse);

  const fill: FillStore = async (samples) => {
    const directory = mkdtempSync(join(tmpdir(), 'heliograph-oracle-'));
    const url = `${server().url}/oracle`;
    const store = await openClickHouseSamples({ directory, url, now: () => Date.now() });
    const half = samples.length / 2;
    await appendAll(store, samples.slice(0, half));
    await store.store.flush();
    await appendAll(store, samples.slice(half));
    return {
      store,
      async close() {
        await store.close();
        rmSync(directory, { recursive: true, force: true });
      },
    };
  };

  test('100 random KPIs and series are what SQL answers, within 1e-9', {
    timeout: 240_000,
  }, async () => {
    const { points, nonNull } = await oracleRun(2, 3_000, 100, fill);
    expect(nonNull / points).toBeGreaterThan(0.1);
  });
});
