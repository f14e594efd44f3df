// `npm run cluster` in its shortest form: it keeps data over a restart, and ends with the part that ends.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { payloadOf } from '../clients/simulate/payload.ts';
import { setUp } from '../clients/simulate/setup.ts';
import { clickhouse } from '../tests/servers/clickhouse.ts';
import { postgresql } from '../tests/servers/postgresql.ts';
import { describeWith } from '../tests/servers/server-tests.ts';
import { zooKeeper } from '../tests/servers/zookeeper.ts';
import { clusterOptions } from './cluster/cluster-options.ts';
import { refuseMissingPrograms } from './cluster/cluster-parts.ts';

const program = join(import.meta.dirname, 'cluster.ts');
const startMsMax = 240_000;

interface RunningCluster {
  readonly child: ChildProcess;
  /** All that it has printed. */
  readonly printed: () => string;
  /** Takes the nodes in turns. */
  readonly url: string;
  readonly nodeUrls: readonly string[];
  readonly apiKey: string;
  readonly pidOf: (part: string) => number;
  /** Its exit code. */
  readonly ended: Promise<number | null>;
}

async function startCluster(args: readonly string[]): Promise<RunningCluster> {
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  const ready = Promise.withResolvers<void>();
  const ended = once(child, 'exit').then(([code]) => {
    ready.reject(new Error(text));
    return code as number | null;
  });
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (part: Buffer) => {
      text += part.toString();
      if (text.includes('Ctrl-C ends it')) ready.resolve();
    });
  await ready.promise;
  const found = (pattern: RegExp): string => pattern.exec(text)?.[1] ?? '';
  return {
    child,
    printed: () => text,
    url: found(/Platform +(http:\S+)\//),
    nodeUrls: [...text.matchAll(/Node \d +(http:\S+)\//g)].map(([, url = '']) => url),
    apiKey: found(/API key +(\S+)/),
    pidOf: (part) => Number(found(new RegExp(`${part} .*process (\\d+)`))),
    ended,
  };
}

test('a missing program is one sentence with the command that installs it', () => {
  expect(() => refuseMissingPrograms((path) => path === postgresql.path)).toThrow(
    'run "apt-get install clickhouse-server zookeeper" as root',
  );
  expect(() => refuseMissingPrograms(() => true)).not.toThrow();
});

test.each([
  [['--shards', '9'], '--shards 9 cannot be used: a whole number from 1 to 8'],
  [['--nodes', '0'], '--nodes 0 cannot be used'],
  [['--nodes', '9'], '--nodes 9 cannot be used: a whole number from 1 to 8'],
  [['--fast'], "Unknown option '--fast'"],
])('%j is refused', (args, message) => {
  expect(() => clusterOptions(args)).toThrow(message);
});

describeWith(clickhouse, 'a cluster on this machine', () => {
  describeWith(zooKeeper, 'of two nodes, a shard and a replica', () => {
    const folder = mkdtempSync(join(tmpdir(), 'heliograph-cluster-'));
    const args = [
      '--folder',
      folder,
      '--port',
      '0',
      '--nodes',
      '2',
      '--shards',
      '1',
      '--replicas',
      '1',
    ];
    let cluster: RunningCluster;
    beforeAll(async () => {
      cluster = await startCluster(args);
    }, startMsMax);
    afterAll(async () => {
      cluster.child.kill('SIGINT');
      await cluster.ended;
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
    }, startMsMax);

    const ask = async (path: string, url = cluster.url): Promise<unknown> => {
      const { apiKey } = cluster;
      const answer = await fetch(`${url}${path}`, { headers: { 'x-api-key': apiKey } });
      expect(answer.status, path).toBe(200);
      return answer.json();
    };

    test('an uplink is there after a restart on the same folder, as a sample and raw', {
      timeout: 2 * startMsMax,
    }, async () => {
      const { url: front, apiKey } = cluster;
      const signal = AbortSignal.timeout(startMsMax);
      const made = await setUp({ url: front, apiKey, connectivity: 'HTTP', devices: 1, signal });
      const body = new Uint8Array(payloadOf(0, 0, Date.now()));
      const send = async (): Promise<number> => {
        const { status } = await fetch(`${front}/v3/capture?deviceId=simulated-http-00001`, {
          method: 'POST',
          body,
          headers: {
            'content-type': 'application/json',
            'x-uplink-secret': made.uplinkSecret,
            'idempotency-key': 'the only uplink',
          },
        });
        return status;
      };
      // While devices get their first owners, a busy machine may answer 503.
      await expect.poll(send, { timeout: 60_000 }).toBe(201);
      cluster.child.kill('SIGINT');
      expect(await cluster.ended).toBe(0);
      cluster = await startCluster(args);
      const named = '/v3/devices/by-device-id?deviceId=simulated-http-00001';
      const { id } = (await ask(named)) as { id: string };
      expect(cluster.nodeUrls).toHaveLength(2);
      for (const url of [cluster.url, ...cluster.nodeUrls]) {
        // A node that gives devices away ships their raw uplinks later than their samples.
        const raw = () => ask(`/v3/devices/${id}/uplinks`, url);
        await expect.poll(raw, { timeout: startMsMax }).toMatchObject({ totalElements: 1 });
        const latest = await ask(`/v3/devices/${id}/query/latest-sample?topic=default`, url);
        expect(latest).toMatchObject({ topic: 'default' });
      }
    });

    test('when a part ends, the program says which and ends the others', {
      timeout: startMsMax,
    }, async () => {
      process.kill(cluster.pidOf('ClickHouse 1-1'), 'SIGKILL');
      expect(await cluster.ended).toBe(1);
      expect(cluster.printed()).toContain('ClickHouse 1-1 is gone');
      for (const part of ['Node 1', 'Node 2', 'ZooKeeper', 'PostgreSQL'])
        expect(() => process.kill(cluster.pidOf(part), 0), part).toThrow('ESRCH');
    });
  });
});
