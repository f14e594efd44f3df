// A cluster of ClickHouse for tests: shards with replicas, and their ZooKeeper.
import { mkdirSync } from 'node:fs';
import { untilReady } from '../../bench/load/server-process.ts';
import {
  type ClickHouseOptions,
  type ClickHouseServer,
  freeClickHousePorts,
  startClickHouse,
} from './clickhouse.ts';
import type { ClickHousePorts } from './clickhouse-config.ts';
import { startZooKeeper, type ZooKeeperOptions, type ZooKeeperServer } from './zookeeper.ts';

export interface ClickHouseCluster {
  /** By shard and replica. */
  readonly shards: readonly (readonly ClickHouseServer[])[];
  readonly zooKeeper: ZooKeeperServer;
  /** As SAMPLES_URL names it: replicas by comma, shards by semicolon. */
  readonly url: string;
  stop(): Promise<void>;
}

export interface ClusterSize {
  readonly shards: number;
  readonly replicas: number;
}

export interface ClusterOptions
  extends Pick<ClickHouseOptions, 'password' | 'deduplicationWindow' | 'isGroup' | 'stopSignal'> {
  /** By shard and replica; free ones by default. */
  readonly ports?: readonly (readonly ClickHousePorts[])[];
  readonly zooKeeper?: ZooKeeperOptions;
}

/** Starts ZooKeeper first and then all servers together. */
export async function startClickHouseCluster(
  folder: string,
  { shards, replicas }: ClusterSize = { shards: 2, replicas: 2 },
  { ports: given, zooKeeper: keeperOptions, ...options }: ClusterOptions = {},
): Promise<ClickHouseCluster> {
  const ports = given ?? (await freePortsOf(shards, replicas));
  const zooKeeper = await startZooKeeper(makeFolder(`${folder}/zookeeper`), keeperOptions);
  const cluster = ports.map((ofShard) => ofShard.map(({ tcp }) => tcp));
  const start = (shard: number, replica: number, own: ClickHousePorts) =>
    startClickHouse(makeFolder(`${folder}/clickhouse-${shard}-${replica}`), {
      ...options,
      ports: own,
      place: { shard, replica, zooKeeperPort: zooKeeper.port, cluster },
    });
  const starts = ports.flatMap((ofShard, shard) =>
    ofShard.map((own, replica) => start(shard + 1, replica + 1, own)),
  );
  const stopAll = async (): Promise<void> => {
    const started = (await Promise.allSettled(starts)).filter((one) => one.status === 'fulfilled');
    await Promise.all(started.map(({ value }) => value.stop()));
    await zooKeeper.stop();
  };
  try {
    const servers = await Promise.all(starts);
    for (const server of servers) await untilReplicating(server);
    const perShard = ports.map(({ length }, shard) =>
      servers.slice(shard * length, (shard + 1) * length),
    );
    const url = perShard.map((ofShard) => ofShard.map((one) => one.url).join(',')).join(';');
    return { shards: perShard, zooKeeper, url, stop: stopAll };
  } catch (error) {
    await stopAll();
    throw error;
  }
}

export async function freePortsOf(shards: number, replicas: number): Promise<ClickHousePorts[][]> {
  const ports: ClickHousePorts[][] = [];
  for (let shard = 0; shard < shards; shard++) {
    const ofShard: ClickHousePorts[] = [];
    for (let replica = 0; replica < replicas; replica++) ofShard.push(await freeClickHousePorts());
    ports.push(ofShard);
  }
  return ports;
}

/** A server answers before its session with ZooKeeper begins. */
async function untilReplicating(server: ClickHouseServer): Promise<void> {
  const asked = "select count() from system.zookeeper where path = '/'";
  await untilReady(server, async () => (await server.ask(asked)).length === 1);
}

function makeFolder(folder: string): string {
  mkdirSync(folder, { recursive: true });
  return folder;
}
