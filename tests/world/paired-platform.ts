// Paired platform: with CLUSTER=2, two nodes behind a proxy that gives them requests in turns, used as one platform.
import type { AddressInfo } from 'node:net';
import { freePort } from '../../bench/load/server-process.ts';
import { startPlatform } from '../../src/app/platform.ts';
import type { Platform } from '../../src/app/platform-parts.ts';
import { readConfig } from '../../src/app/config/config.ts';
import type { Log } from '../../src/telemetry/log.ts';
import { startRoundRobin } from './round-robin.ts';

/** Whether platforms of tests are two nodes. */
export const isPaired = process.env['CLUSTER'] === '2';

interface PairOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly now?: (() => number) | undefined;
  readonly log?: Log | undefined;
}

/** Devices move to the second node within a second. */
const leaseMs = 3_000;

/** The second node has a folder next to that of the first, and listens only for HTTP. */
export async function startPair({ environment, now, log }: PairOptions): Promise<Platform> {
  const ports: number[] = [];
  const proxy = await startRoundRobin(ports);
  const { port } = proxy.address() as AddressInfo;
  const common = { PUBLIC_URL: `http://127.0.0.1:${port}`, ...environment };
  const directory = `${environment['DATA_DIR']}-second`;
  const others = { MQTT_PORT: '0', MQTT_TLS_PORT: '0', COAP_PORT: '0', PORT: '0' };
  const nodes: Platform[] = [];
  for (const settings of [common, { ...common, ...others, DATA_DIR: directory }]) {
    const cluster = {
      nodeUrl: `http://127.0.0.1:${await freePort()}`,
      host: '127.0.0.1',
      leaseMs,
      secret: 'the secret of all nodes of this test',
    };
    const node = await startPlatform({ ...readConfig(settings), cluster }, now, log);
    nodes.push(node);
    ports.push(node.port);
  }
  const [first] = nodes;
  if (first === undefined) throw new Error('No node has started');
  return {
    ...first,
    port,
    publicUrl: common.PUBLIC_URL,
    async runMaintenance() {
      for (const node of nodes) await node.runMaintenance();
    },
    async close(reason) {
      proxy.closeAllConnections();
      proxy.close();
      for (const node of nodes.toReversed()) await node.close(reason);
    },
  };
}
