// Samples on two shards with two replicas: a replica dies while it ships, and nothing is missing or there twice.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { clickhouse } from '../../../../tests/servers/clickhouse.ts';
import { startClickHouseCluster } from '../../../../tests/servers/clickhouse-cluster.ts';
import { describeWith, startedBefore } from '../../../../tests/servers/server-tests.ts';
import { zooKeeper } from '../../../../tests/servers/zookeeper.ts';
import type { OpenRange } from '../remote-pending-samples.ts';
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
        // What only the killed one has would have to wait for it.
        await samples.store.askReplicas();
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
        // The journal keeps what the replica that is away may lack; that stops nothing else.
        await expect(samples.store.askReplicas()).rejects.toThrow();
        expect(samples.store.figures().waitingForReplicasMs).toBeGreaterThan(0);
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
        await samples.store.askReplicas();
        expect(samples.store.figures().waitingForReplicasMs).toBe(0);
        const { sealedSamples, damage } = await verifyShippedSamples(directory, samples.clickhouse);
        expect({ sealedSamples, damage }).toEqual({ sealedSamples: 3_000, damage: [] });
      } finally {
        await samples.close();
        rmSync(directory, { recursive: true, force: true });
      }
    });

    test('a read of another replica has what a node has shipped', {
      timeout: 240_000,
    }, async () => {
      const directories = [1, 2].map((n) => mkdtempSync(join(tmpdir(), `clickhouse-nodes-${n}-`)));
      const now = () => Date.now();
      const { url } = cluster();
      const owner = await openClickHouseSamples({ directory: directories[0]!, url, now });
      const read = async ({ deviceIds }: OpenRange) => {
        const { samples, ...place } = owner.store.openHere({ ranges: [{ deviceIds }] });
        return [{ ...place, samples: [...samples()] }];
      };
      const reader = await openClickHouseSamples({
        directory: directories[1]!,
        now,
        url: url
          .split(';')
          .map((ofShard) => ofShard.split(',').toReversed().join(','))
          .join(';'),
        elsewhere: { read, usage: async () => [], changes: () => 0 },
      });
      const fetches = async (state: 'stop' | 'start') => {
        for (const { replicas } of reader.clickhouse.shards)
          for (const table of ['samples', 'points'])
            await replicas[0]!.text({ sql: `system ${state} fetches ${table}` });
      };
      try {
        const countOf = async () =>
          (
            await Promise.all(devices.map(async (id) => (await allSamples(reader, id)).length))
          ).reduce((sum, count) => sum + count, 0);
        const before = await countOf();
        await fetches('stop');
        for (const device of devices)
          await owner.append(entryOf(device, [{ at: 50_000, data: { n: 1 } }]));
        await owner.store.flush();
        const reading = countOf();
        await fetches('start');
        expect(await reading).toBe(before + devices.length);
      } finally {
        await reader.close();
        await owner.close();
        for (const each of directories) rmSync(each, { recursive: true, force: true });
      }
    });
  });
});
