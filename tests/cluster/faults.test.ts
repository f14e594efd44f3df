// Faults in short form: one of each kind under load; `npm run cluster-faults -- --rounds 200` is the long one.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { missing } from '../../src/structures/missing.ts';
import { type FaultKind, faultKinds } from '../faults/faults.ts';
import { type FaultRig, startFaultRig } from '../faults/fault-rig.ts';
import type { RigNode } from '../faults/rig-node.ts';
import { type FaultRound, runFaultRounds } from '../faults/fault-rounds.ts';
import { createFaultWorld, type FaultDevice } from '../faults/fault-world.ts';
import { apiKey } from '../load/platform-process.ts';
import { randomFrom } from '../oracle/filtered-inventory.ts';
import { clickhouse } from '../servers/clickhouse.ts';
import { describeWith, describeWithCompiler } from '../servers/server-tests.ts';
import { zooKeeper } from '../servers/zookeeper.ts';

const startMsMax = 600_000;
const takeoverMsMax = 15_000;
/** Two seconds, and what a loaded machine adds; the lease of the rig is longer. */
const refusalMsMax = 4_000;
const kinds = Object.keys(faultKinds) as FaultKind[];

describeWith(clickhouse, 'faults of a cluster', () => {
  describeWith(zooKeeper, 'with replicas', () =>
    describeWithCompiler('of three nodes', () => {
      const folder = mkdtempSync(join(tmpdir(), 'heliograph-faults-'));
      let rig: FaultRig;
      beforeAll(async () => {
        const size = { nodes: 3, shards: 1, replicas: 2 };
        rig = await startFaultRig({ folder, ...size, leaseMs: 6_000 });
      }, startMsMax);
      afterAll(async () => {
        await rig.stop();
        rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
      }, startMsMax);

      test.each([
        ['GET', 200],
        ['POST', 201],
      ])(
        'reliability 9: %s at another node is refused soon while its owner is silent',
        async (method, served) => {
          const [asked, silent] = [
            rig.nodes[0] ?? missing('node'),
            rig.nodes[1] ?? missing('node'),
          ];
          const { devices, sink } = await createFaultWorld(rig, 12, method);
          const askAll = () =>
            Promise.all(devices.map((device) => answerOf(asked.url, method, device)));
          const areServed = async () => {
            expect(await partitionsOf(silent.url)).toBeGreaterThan(15);
            expect((await askAll()).every(({ status }) => status === served)).toBe(true);
          };
          await vi.waitFor(areServed, { timeout: 60_000 });
          silent.pause();
          const answers = await askAll().finally(() => silent.resume());
          const waits = answers.map(({ ms }) => ms);
          // Some are of the silent node, others are not.
          expect(Math.max(...waits)).toBeLessThan(refusalMsMax);
          expect([...new Set(answers.map(({ status }) => status))].sort()).toEqual([served, 503]);
          await sink.close();
        },
      );

      test('reliability 2: without PostgreSQL nodes say so, refuse at once, and write one line', async () => {
        const { nodes, records } = rig;
        const { devices, sink } = await createFaultWorld(rig, 6, 'without PostgreSQL');
        await untilNoServerIsDown(nodes);
        const begun = nodes.map((_, i) => linesOf(folder, i).length);
        const news = (i: number) => linesOf(folder, i).slice(begun[i]);
        const told = (i: number, msg: string) =>
          news(i).filter((line) => line.msg === msg && line.server === 'PostgreSQL');
        await records.kill();
        for (const { url } of nodes)
          await vi.waitFor(async () => {
            const answer = await fetch(`${url}/health/ready`);
            expect(answer.status).toBe(503);
            const reason = /holds no devices: PostgreSQL unreachable since 20\d\d-.*Z/;
            expect(await answer.text()).toMatch(reason);
            const figures = await (await fetch(`${url}/metrics`)).text();
            expect(figures).toContain('heliograph_not_ready{reason="leases"} 1');
            expect(figures).toContain('heliograph_server_down{server="PostgreSQL"} 1');
          }, 240_000);
        for (const { url } of nodes)
          for (const method of ['GET', 'POST'])
            for (const device of devices) {
              const { status, ms } = await answerOf(url, method, device);
              expect(status).toBe(503);
              expect(ms).toBeLessThan(refusalMsMax);
            }
        await records.restart();
        for (const [i, { url }] of nodes.entries())
          await vi.waitFor(async () => {
            expect((await fetch(`${url}/health/ready`)).status).toBe(200);
            expect(told(i, 'server back')).toHaveLength(1);
          }, 240_000);
        for (const i of nodes.keys()) {
          expect(told(i, 'server down')).toHaveLength(1);
          expect(news(i).filter(({ level }) => level === 'error')).toEqual([]);
        }
        await sink.close();
      });

      test('reliability 2: a node and ClickHouse that are away have one line, and one when they are back', async () => {
        const { nodes, samples } = rig;
        const [first = missing('node'), , third = missing('node')] = nodes;
        const { devices, sink } = await createFaultWorld(rig, 6, 'without ClickHouse');
        await untilNoServerIsDown(nodes);
        const before = linesOf(folder, 0).length;
        const news = () => linesOf(folder, 0).slice(before);
        const told = (msg: string, server: string | RegExp) =>
          news().filter((line) => line.msg === msg && RegExp(server).test(line.server ?? ''));
        const replicas = samples.shards.flat();
        for (const replica of replicas) await replica.kill();
        const sent = vi.waitFor(async () => {
          for (const device of devices) await answerOf(first.url, 'POST', device);
          expect(told('server down', 'ClickHouse')).toHaveLength(1);
        }, 240_000);
        try {
          await sent;
        } finally {
          await Promise.all(replicas.map((replica) => replica.restart()));
        }
        await vi.waitFor(() => expect(told('server back', 'ClickHouse')).toHaveLength(1), 60_000);
        await third.kill();
        try {
          await vi.waitFor(async () => {
            for (const device of devices) await answerOf(first.url, 'POST', device);
            expect(told('server down', 'node ')).toHaveLength(1);
          }, 240_000);
        } finally {
          await third.restart();
        }
        await vi.waitFor(() => expect(told('server back', 'node ')).toHaveLength(1), 60_000);
        expect(news().filter(({ level }) => level === 'error')).toEqual([]);
        await sink.close();
      }, 240_000);

      test('nothing acknowledged is lost, nothing is twice, and devices are served again in time', {
        timeout: 600_000,
      }, async () => {
        const rounds: FaultRound[] = [];
        const random = randomFrom(20_261_123);
        await runFaultRounds({
          rig,
          devices: 6,
          random,
          kinds,
          ended: (round) => void rounds.push(round),
        });
        const wrong = rounds.filter(({ violations }) => violations.length > 0);
        expect(wrong).toEqual([]);
        expect(rounds).toHaveLength(kinds.length);
        for (const { kind, gapMs } of rounds) expect(gapMs, kind).toBeLessThan(takeoverMsMax);
      });
    }),
  );
});

/** Sends to or reads a device, as a client that waits. */
async function answerOf(
  url: string,
  method: string,
  { id, deviceId, secret }: FaultDevice,
): Promise<{ readonly status: number; readonly ms: number }> {
  const sender = new URLSearchParams({ secret, deviceId });
  const path = method === 'GET' ? `/v3/devices/${id}` : `/v3/capture?${sender.toString()}`;
  const since = performance.now();
  const { status } = await fetch(url + path, {
    method,
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
    ...(method === 'POST' && { body: '{"n":1}' }),
  });
  return { status, ms: performance.now() - since };
}

/**
 * A node of a loaded machine may have missed a server before the fault, and its line of that outage
 * would be the one of the fault too.
 */
async function untilNoServerIsDown(nodes: readonly RigNode[]): Promise<void> {
  for (const { url } of nodes)
    await vi.waitFor(async () => {
      const figures = await (await fetch(`${url}/metrics`)).text();
      expect(figures).not.toContain('heliograph_server_down{');
    }, 60_000);
}

interface LogLine {
  readonly level: string;
  readonly msg: string;
  readonly server?: string;
}

/** What the node with the number wrote so far. */
function linesOf(folder: string, node: number): readonly LogLine[] {
  const text = readFileSync(join(folder, `node-${node + 1}`, 'log'), 'utf8');
  return text.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []));
}

async function partitionsOf(url: string): Promise<number> {
  const figures = await (await fetch(`${url}/metrics`)).text();
  return Number(/^heliograph_partitions_held (\d+)$/m.exec(figures)?.[1]);
}
