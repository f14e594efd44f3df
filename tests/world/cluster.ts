// Cluster of a test: several platforms on one PostgreSQL, behind a proxy that takes them in turns.
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, request as httpRequest, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream';
import { freePort } from '../../bench/load/server-process.ts';
import { recordsSettings } from '../../src/records/testing-engine.ts';
import { freeUdpPort } from './coap-device.ts';
import { startWorld, type World } from './world.ts';

export interface TestCluster {
  /** Its calls go to the nodes in turns. */
  readonly world: World;
  /** Each with its own address. */
  readonly nodes: readonly World[];
  /** Of the nodes, in their order. */
  readonly coapPorts: readonly number[];
  close(): Promise<void>;
}

export interface ClusterOptions {
  readonly leaseMs?: number;
  readonly environment?: Record<string, string>;
}

/** Two nodes that share all but their data folders. */
export async function startCluster(options: ClusterOptions = {}): Promise<TestCluster> {
  const targets: number[] = [];
  const proxy = await startProxy(targets);
  const { port } = proxy.address() as AddressInfo;
  const base = `http://127.0.0.1:${port}`;
  const directories = [1, 2].map(() => mkdtempSync(join(tmpdir(), 'heliograph-node-')));
  const [first = ''] = directories;
  const common = { ...(await recordsSettings(first)), ...options.environment };
  const nodes: World[] = [];
  const coapPorts = await Promise.all(directories.map(freeUdpPort));
  for (const [place, directory] of directories.entries()) {
    const node = await startWorld({
      ...{
        directory,
        environment: { ...common, PUBLIC_URL: base, COAP_PORT: String(coapPorts[place]) },
        base,
      },
      cluster: {
        nodeUrl: `http://127.0.0.1:${await freePort()}`,
        host: '127.0.0.1',
        secret: 'the secret of all nodes of this test',
        leaseMs: options.leaseMs ?? 10_000,
      },
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
    async close() {
      proxy.closeAllConnections();
      proxy.close();
      for (const node of nodes) await node.close();
      for (const directory of directories) rmSync(directory, { recursive: true, force: true });
    },
  };
}

function startProxy(targets: readonly number[]): Promise<Server> {
  let turn = 0;
  const server = createServer((request, response) => {
    const { method, url: path, headers } = request;
    const target = targets[turn++ % targets.length];
    const sent = httpRequest(
      { host: '127.0.0.1', port: target, method, path, headers },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
        pipeline(answer, response, () => undefined);
      },
    );
    sent.on('error', () => response.destroy());
    pipeline(request, sent, () => undefined);
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(server));
  });
}
