// The ClickHouse servers that other tests use: they start, replicate, and bear what tests do to them.
import { expect, test } from 'vitest';
import { clickhouse, startClickHouse } from './clickhouse.ts';
import { startClickHouseCluster } from './clickhouse-cluster.ts';
import { currentClickHouse, startCurrentClickHouse } from './current-clickhouse.ts';
import { describeWith, startedBefore } from './server-tests.ts';
import { zooKeeper } from './zookeeper.ts';

const inserted = async (server: { ask(sql: string): Promise<string[][]> }) =>
  (await server.ask('select n from t order by n')).flat();

describeWith(clickhouse, 'one ClickHouse server', () => {
  const server = startedBefore(startClickHouse);
  test('keeps its rows when it is killed and started again', async () => {
    await server().ask('create table t (n UInt8) engine = MergeTree order by n');
    await server().ask('insert into t values (1), (2)');
    const { pid } = server();
    await server().kill();
    await expect(server().ask('select 1')).rejects.toThrow();
    await server().restart();
    expect(server().pid).not.toBe(pid);
    expect(await inserted(server())).toEqual(['1', '2']);
  });
  test('refuses a wrong password', async () => {
    const wrong = new URL(server().url);
    expect((await fetch(`${wrong.origin}/?query=select+1`)).ok).toBe(false);
  });
});

describeWith(currentClickHouse, 'a current ClickHouse', () => {
  const server = startedBefore(startCurrentClickHouse);
  test('runs the engine of chDB, and keeps its rows when it is killed', async () => {
    const [[version]] = (await server().ask('select version()')) as [[string]];
    expect(Number(version.split('.')[0])).toBeGreaterThanOrEqual(25);
    await server().ask('create table t (n UInt8) engine = MergeTree order by n');
    await server().ask('insert into t values (1)');
    await server().kill();
    await server().restart();
    expect(await inserted(server())).toEqual(['1']);
    await expect(server().ask('select nothing')).rejects.toThrow('Code: 47');
  });
});

describeWith(clickhouse, 'a ClickHouse cluster', () => {
  describeWith(zooKeeper, 'of 2 shards with 2 replicas', () => {
    const cluster = startedBefore((folder) => startClickHouseCluster(folder));
    test('a replica gets what was written while it was away, and shards are separate', async () => {
      const engine = "ReplicatedMergeTree('/tables/{shard}/t', '{replica}')";
      for (const server of cluster().shards.flat())
        await server.ask(`create table t (n UInt8) engine = ${engine} order by n`);
      const [[first, second], [other]] = cluster().shards as [
        [ServerOf, ServerOf],
        [ServerOf, ServerOf],
      ];
      await first.ask('insert into t values (1)');
      await second.ask('system sync replica t');
      await first.kill();
      await second.ask('insert into t values (2)');
      await first.restart();
      await first.ask('system sync replica t');
      expect(await inserted(first)).toEqual(['1', '2']);
      expect(await inserted(other)).toEqual([]);
      expect(cluster().url.split(/[;,]/)).toHaveLength(4);
    });
    test('a paused replica does not answer until it is resumed', async () => {
      const [[, second]] = cluster().shards as [[ServerOf, ServerOf]];
      second.pause();
      const answer = second.ask('select 1');
      const first = await Promise.race([answer, cluster().shards[0]![0]!.ask('select 2')]);
      expect(first).toEqual([['2']]);
      second.resume();
      expect(await answer).toEqual([['1']]);
    });
  });
});

type ServerOf = Awaited<ReturnType<typeof startClickHouse>>;
