// Settings of a cluster folder: ports and secrets, chosen at its first start and kept for the next ones.
import { randomBytes, randomUUID } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { freePort } from '../../bench/load/server-process.ts';
import type { ClickHousePorts } from '../../tests/servers/clickhouse-config.ts';
import { freePortsOf } from '../../tests/servers/clickhouse-cluster.ts';
import { type ClusterOptions, UsageError } from './cluster-options.ts';

export interface NodePorts {
  readonly http: number;
  readonly mqtt: number;
  readonly coap: number;
  /** For the other nodes. */
  readonly internal: number;
}

export interface ClusterSettings {
  /** The port that takes several nodes in turns. */
  readonly front: number;
  readonly nodes: readonly NodePorts[];
  /** By shard and replica. */
  readonly clickHouse: readonly (readonly ClickHousePorts[])[];
  readonly zooKeeper: number;
  readonly postgresql: number;
  /** Of the owner that the first start creates. */
  readonly ownerPassword: string;
  /** Secret of an API key with every permission. */
  readonly apiKey: string;
  readonly databasePassword: string;
  readonly secretsKey: string;
  readonly clusterSecret: string;
}

/**
 * Reads the settings of the folder, or chooses them. Throws UsageError when the folder is of another
 * cluster size, or a port is in use.
 */
export async function openSettings(options: ClusterOptions): Promise<ClusterSettings> {
  const { folder } = options;
  mkdirSync(folder, { recursive: true });
  // A server that runs as another account must reach its own folder.
  chmodSync(folder, 0o711);
  const path = join(folder, 'settings.json');
  const settings = existsSync(path) ? readSettings(path, options) : await chooseSettings(options);
  await refuseUsedPorts(settings, folder);
  writeFileSync(path, `${JSON.stringify(settings, null, 2)}\n`, { mode: 0o600 });
  return settings;
}

function readSettings(path: string, options: ClusterOptions): ClusterSettings {
  const settings = JSON.parse(readFileSync(path, 'utf8')) as ClusterSettings;
  const found = sizeText({
    nodes: settings.nodes.length,
    shards: settings.clickHouse.length,
    replicas: settings.clickHouse[0]?.length ?? 0,
  });
  const wanted = sizeText(options);
  if (found === wanted) return settings;
  throw new UsageError(
    `${options.folder} holds a cluster of ${found}, and not of ${wanted}: name another folder, or start with the same numbers`,
  );
}

function sizeText({
  nodes,
  shards,
  replicas,
}: Pick<ClusterOptions, 'nodes' | 'shards' | 'replicas'>): string {
  return `${nodes} nodes and ${shards} x ${replicas} ClickHouse servers`;
}

async function chooseSettings(options: ClusterOptions): Promise<ClusterSettings> {
  const { port, nodes, shards, replicas } = options;
  const secret = (): string => randomBytes(18).toString('base64url');
  const nodePorts: NodePorts[] = [];
  for (let node = 0; node < nodes; node++) {
    // Behind the front.
    const http = port === 0 ? await freePort() : port + node + Number(nodes > 1);
    const [mqtt, coap, internal] = [await freePort(), await freePort(), await freePort()];
    nodePorts.push({ http, mqtt, coap, internal });
  }
  return {
    front: port === 0 ? await freePort() : port,
    nodes: nodePorts,
    clickHouse: await freePortsOf(shards, replicas),
    zooKeeper: await freePort(),
    postgresql: await freePort(),
    ownerPassword: secret(),
    apiKey: `${randomBytes(8).toString('hex')}.${randomUUID()}`,
    databasePassword: secret(),
    secretsKey: secret(),
    clusterSecret: randomBytes(32).toString('base64url'),
  };
}

async function refuseUsedPorts(settings: ClusterSettings, folder: string): Promise<void> {
  const ports = [
    settings.front,
    ...settings.nodes.flatMap(({ http, mqtt, internal }) => [http, mqtt, internal]),
    ...settings.clickHouse.flat().flatMap(({ http, tcp, interserver }) => [http, tcp, interserver]),
    settings.zooKeeper,
    settings.postgresql,
  ];
  for (const port of ports) {
    if (await isFree(port)) continue;
    throw new UsageError(
      `Port ${port} is in use, perhaps by a cluster that still runs on ${folder}: end it, or name another --port and --folder`,
    );
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}
