// Cluster of a test: several platforms on one PostgreSQL, behind a proxy that takes them in turns.
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../bench/load/server-process.ts';
import { recordsSettings } from '../../src/storage/records/testing-engine.ts';
import type { ClusterConfig } from '../../src/app/config/cluster-settings.ts';
import { freeUdpPort } from './coap-device.ts';
import { type NodeProcess, startNodeProcess } from './node-process.ts';
import { startRoundRobin } from './round-robin.ts';
import { startWorld, type World } from './world.ts';

export interface TestCluster {
  /** Its calls go to the nodes in turns. */
  readonly world: World;
  /** Each with its own address. */
  readonly nodes: readonly World[];
  /** Of the nodes, in their order. */
  readonly coapPorts: readonly number[];
  readonly mqttPorts: readonly number[];
  /** Internal addresses of the nodes, and that of their records. */
  readonly nodeUrls: readonly string[];
  readonly recordsUrl: string | undefined;
  /** Data folders of the nodes. */
  readonly directories: readonly string[];
  /** What all nodes know, as settings. */
  readonly secrets: Readonly<Record<string, string>>;
  /** Starts one more node as a process, which can be killed. Its MQTT port is the last one. */
  addProcess(options?: AddedNodeOptions): Promise<AddedNode>;
  close(): Promise<void>;
}

export interface AddedNodeOptions {
  /** The data folder of an earlier node; a new one by default. */
  readonly directory?: string;
  /** Differs from that of the other nodes. */
  readonly environment?: Readonly<Record<string, string>>;
}

export interface AddedNode extends NodeProcess {
  readonly directory: string;
}

export interface ClusterOptions {
  readonly leaseMs?: number;
  readonly journalCopies?: number;
  readonly environment?: Record<string, string>;
}

/** Two nodes that share all but their data folders. */
export async function startCluster(options: ClusterOptions = {}): Promise<TestCluster> {
  const targets: number[] = [];
  const proxy = await startRoundRobin(targets);
  const { port } = proxy.address() as AddressInfo;
  const base = `http://127.0.0.1:${port}`;
  const directories = [1, 2].map(() => mkdtempSync(join(tmpdir(), 'heliograph-node-')));
  const [first = ''] = directories;
  const common = { ...(await recordsSettings(first)), ...options.environment };
  const nodes: World[] = [];
  const processes: NodeProcess[] = [];
  const coapPorts = await Promise.all(directories.map(freeUdpPort));
  const mqttPorts: number[] = [];
  const nodePorts: number[] = [];
  for (const _ of directories) {
    mqttPorts.push(await freePort());
    nodePorts.push(await freePort());
  }
  for (const [place, directory] of directories.entries()) {
    const node = await startWorld({
      directory,
      environment: {
        ...common,
        PUBLIC_URL: base,
        COAP_PORT: String(coapPorts[place]),
        MQTT_PORT: String(mqttPorts[place]),
      },
      base,
      cluster: clusterOf(options, nodePorts[place] ?? 0),
    });
    nodes.push(node);
    targets.push(node.platform.port);
  }
  const [world] = nodes;
  if (world === undefined) throw new Error('No node has started');
  return {
    world,
    nodes,
    coapPorts,
    mqttPorts,
    nodeUrls: nodePorts.map(nodeUrlOf),
    recordsUrl: common['RECORDS_URL'],
    directories: directories.slice(0, 2),
    secrets: { CLUSTER_SECRET: secretOfNodes, SECRETS_KEY: common['SECRETS_KEY'] ?? '' },
    async addProcess({
      directory = mkdtempSync(join(tmpdir(), 'heliograph-node-')),
      environment,
    } = {}) {
      directories.push(directory);
      const mqttPort = await freePort();
      const MQTT_PORT = String(mqttPort);
      const added = await startNodeProcess({
        environment: {
          ...common,
          DATA_DIR: directory,
          PUBLIC_URL: base,
          MQTT_PORT,
          ...environment,
        },
        cluster: clusterOf(options, await freePort()),
      });
      processes.push(added);
      mqttPorts.push(mqttPort);
      return { ...added, directory };
    },
    async close() {
      for (const added of processes) await added.kill();
      proxy.closeAllConnections();
      proxy.close();
      for (const node of nodes) await node.close();
      for (const directory of directories) rmSync(directory, { recursive: true, force: true });
    },
  };
}

const secretOfNodes = 'the secret of all nodes of this test';

function clusterOf(
  { leaseMs = 10_000, journalCopies = 1 }: ClusterOptions,
  port: number,
): ClusterConfig {
  return {
    nodeUrl: nodeUrlOf(port),
    host: '127.0.0.1',
    secret: secretOfNodes,
    leaseMs,
    journalCopies,
  };
}

const nodeUrlOf = (port: number) => `http://127.0.0.1:${port}`;
