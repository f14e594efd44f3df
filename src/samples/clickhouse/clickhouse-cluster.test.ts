// Samples on two shards with two replicas: a replica dies while it ships, and nothing is missing or there twice.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { clickhouse } from '../../../tests/servers/clickhouse.ts';
import { startClickHouseCluster } from '../../../tests/servers/clickhouse-cluster.ts';
import { describeWith, startedBefore } from '../../../tests/servers/server-tests.ts';
import { zooKeeper } from '../../../tests/servers/zookeeper.ts';
import { allSamples, entryOf } from '../conformance/sample-entries.ts';
import { openClickHouseSamples } from './testing-clickhouse.ts';
import { verifyShippedSamples } from './verify-samples.ts';

const devices = Array.from({ length: 20 }, (_, i) => `d${i}`);

describeWith(clickhouse, 'samples in a cluster of ClickHouse', () => {
  describeWith(zooKeeper, 'of 2 shards with 2 replicas', () => {
    const cluster = startedBefore((folder) => startClickHouseCluster(folder));

    test('a replica is killed between two blocks, and comes back', {
      timeout: 240_000,
    }, async () => {
      const directory = mkdtempSync(join(tmpdir(), 'clickhouse-cluster-'));
      const url = cluster().url;
      const open = () => openClickHouseSamples({ directory, url, now: () => Date.now() });
      let samples = await open();
      const append = async (from: number) => {
        for (const device of devices)
          await samples.append(
            entryOf(
              device,
              Array.from({ length: 50 }, (_, i) => ({ at: from + i, data: { n: from + i } })),
            ),
          );
      };
      try {
        expect(samples.clickhouse.isReplicated).toBe(true);
        await append(0);
        await samples.store.flush();
        const first = cluster().shards[0]![0]!;
        await first.kill();
        await append(1_000);
        // The other replica takes the block after a failed attempt.
        await expect
          .poll(
            () =>
              samples.store.flush().then(
                () => true,
                () => false,
              ),
            { timeout: 60_000 },
          )
          .toBe(true);
        const counts = async () =>
          Promise.all(devices.map(async (id) => (await allSamples(samples, id)).length));
        expect(await counts()).toEqual(devices.map(() => 100));
        // A start while the replica is away uses the other one.
        await samples.close();
        samples = await open();
        expect(await counts()).toEqual(devices.map(() => 100));
        await first.restart();
        await append(2_000);
        await samples.store.flush();
        expect(await counts()).toEqual(devices.map(() => 150));
        for (const { replicas } of samples.clickhouse.shards)
          for (const replica of replicas)
            for (const table of ['samples', 'points'])
              await replica.text({ sql: `system sync replica ${table}` });
        const { sealedSamples, damage } = await verifyShippedSamples(directory, samples.clickhouse);
        expect({ sealedSamples, damage }).toEqual({ sealedSamples: 3_000, damage: [] });
      } finally {
        await samples.close();
        rmSync(directory, { recursive: true, force: true });
      }
    });
  });
});
