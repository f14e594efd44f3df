// Parts of a cluster on this machine: databases first, then nodes, each a process in its own folder.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startServer, untilReady } from '../../bench/load/server-process.ts';
import { clickhouse } from '../../tests/servers/clickhouse.ts';
import { startClickHouseCluster } from '../../tests/servers/clickhouse-cluster.ts';
import { postgresql, startPostgresqlIn } from '../../tests/servers/postgresql.ts';
import type { ServerProgram } from '../../tests/servers/server-tests.ts';
import { zooKeeper } from '../../tests/servers/zookeeper.ts';
import { UsageError } from './cluster-options.ts';
import type { ClusterSettings, NodePorts } from './cluster-settings.ts';
import { openFront } from './front.ts';

/** The first start migrates the databases, on a machine that may be busy. */
const readyMsMax = 180_000;

/** A process of the cluster. */
export interface ClusterPart {
  readonly name: string;
  readonly address: string;
  readonly pid: number;
  /** Throws with the end of its log when it has ended. */
  assertAlive(): void;
}

export interface ClusterParts {
  /** In the order of their start. */
  readonly parts: readonly ClusterPart[];
  /** Ends them in reverse order. */
  stop(): Promise<void>;
}

const programs: readonly ServerProgram[] = [clickhouse, zooKeeper, postgresql];
const pathOf = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const startProgram = pathOf('../../bin/start.js');

/** Throws UsageError with the command that installs what is missing. */
export function refuseMissingPrograms(exists: (path: string) => boolean): void {
  const missing = programs.filter(({ path }) => !exists(path));
  if (missing.length === 0) return;
  const names = missing.map(({ debianPackage }) => debianPackage).join(' ');
  throw new UsageError(
    `A cluster on this machine needs programs that are not installed: run "apt-get install ${names}" as root`,
  );
}

/** Starts all parts. When one does not start, those before it are ended again. */
export async function startParts(
  folder: string,
  settings: ClusterSettings,
  told: (text: string) => void,
): Promise<ClusterParts> {
  const parts: ClusterPart[] = [];
  const stops: (() => Promise<void>)[] = [];
  const stop = async (): Promise<void> => {
    for (let last = stops.pop(); last !== undefined; last = stops.pop()) await last();
  };
  try {
    told('PostgreSQL');
    const records = await startRecords(join(folder, 'postgresql'), settings);
    parts.push(records.part);
    stops.push(records.stop);
    told('ZooKeeper and ClickHouse');
    const samples = await startSamples(folder, settings);
    parts.push(...samples.parts);
    stops.push(samples.stop);
    for (const [index, ports] of settings.nodes.entries()) {
      told(`node ${index + 1}`);
      const urls = { recordsUrl: records.url, samplesUrl: samples.url };
      const node = await startNode(join(folder, `node-${index + 1}`), { ports, settings, ...urls });
      parts.push({ name: `Node ${index + 1}`, ...node.part });
      stops.push(node.stop);
    }
    if (areSeveral(settings)) {
      const ports = settings.nodes.map(({ http }) => http);
      const front = await openFront(settings.front, ports);
      stops.push(() => front.close());
    }
    return { parts, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startRecords(folder: string, settings: ClusterSettings) {
  mkdirSync(folder, { recursive: true });
  const server = await startPostgresqlIn(folder, {
    port: settings.postgresql,
    username: 'heliograph',
    password: settings.databasePassword,
    database: 'heliograph',
    isGroup: true,
  });
  const address = `127.0.0.1:${settings.postgresql}`;
  const part = partOf('PostgreSQL', address, server);
  const url = `postgres://heliograph:${settings.databasePassword}@${address}/heliograph`;
  return { part, url, stop: () => server.stop() };
}

async function startSamples(folder: string, settings: ClusterSettings) {
  const { clickHouse: ports, zooKeeper: port, databasePassword: password } = settings;
  const size = { shards: ports.length, replicas: ports[0]?.length ?? 0 };
  const cluster = await startClickHouseCluster(folder, size, {
    ports,
    password,
    stopSignal: 'SIGTERM',
    isGroup: true,
    zooKeeper: { port, isGroup: true },
  });
  const servers = cluster.shards.flatMap((ofShard, shard) =>
    ofShard.map((server, replica) =>
      partOf(
        `ClickHouse ${shard + 1}-${replica + 1}`,
        `http://127.0.0.1:${server.ports.http}`,
        server,
      ),
    ),
  );
  const keeper = partOf('ZooKeeper', `127.0.0.1:${port}`, cluster.zooKeeper);
  return { parts: [keeper, ...servers], url: cluster.url, stop: () => cluster.stop() };
}

function partOf(
  name: string,
  address: string,
  server: Pick<ClusterPart, 'pid' | 'assertAlive'>,
): ClusterPart {
  return { name, address, pid: server.pid, assertAlive: () => server.assertAlive() };
}

interface NodeStart {
  readonly ports: NodePorts;
  readonly settings: ClusterSettings;
  readonly recordsUrl: string;
  readonly samplesUrl: string;
}

const areSeveral = ({ nodes }: ClusterSettings): boolean => nodes.length > 1;

/** Where clients reach the cluster. */
export function publicUrlOf(settings: ClusterSettings): string {
  const [first] = settings.nodes;
  const port = areSeveral(settings) ? settings.front : (first?.http ?? settings.front);
  return `http://127.0.0.1:${port}`;
}

/** What makes a node one of several. */
function clusterEnvironment({ ports, settings }: NodeStart): Readonly<Record<string, string>> {
  if (!areSeveral(settings)) return {};
  return {
    NODE_URL: `http://127.0.0.1:${ports.internal}`,
    CLUSTER_SECRET: settings.clusterSecret,
  };
}

async function startNode(folder: string, start: NodeStart) {
  const { ports, settings, recordsUrl, samplesUrl } = start;
  mkdirSync(folder, { recursive: true });
  const url = `http://127.0.0.1:${ports.http}`;
  const server = startServer({
    command: process.execPath,
    args: [startProgram],
    logPath: join(folder, 'log'),
    isGroup: true,
    env: {
      DATA_DIR: join(folder, 'data'),
      HOST: '127.0.0.1',
      PORT: String(ports.http),
      MQTT_PORT: String(ports.mqtt),
      MQTT_TLS_PORT: '0',
      COAP_PORT: String(ports.coap),
      PUBLIC_URL: publicUrlOf(settings),
      LOG_LEVEL: 'warn',
      ADMIN_PASSWORD: settings.ownerPassword,
      ADMIN_API_KEY: settings.apiKey,
      SECRETS_KEY: settings.secretsKey,
      RECORDS_URL: recordsUrl,
      SAMPLES_URL: samplesUrl,
      // The node ends when this program is gone.
      HELIOGRAPH_WRAPPER_PID: String(process.pid),
      ...clusterEnvironment(start),
    },
  });
  try {
    const isReady = async () => (await fetch(`${url}/health/ready`)).status === 200;
    await untilReady(server, isReady, readyMsMax);
  } catch (error) {
    await server.stop();
    throw error;
  }
  const address = `${url}/  MQTT ${ports.mqtt}  CoAP ${ports.coap}`;
  const part = { address, pid: server.pid, assertAlive: () => server.assertAlive() };
  return { part, stop: () => server.stop() };
}
