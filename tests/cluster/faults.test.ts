// Faults in short form: one of each kind under load; `npm run cluster-faults -- --rounds 200` is the long one.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { missing } from '../../src/structures/missing.ts';
import { type FaultKind, faultKinds } from '../faults/faults.ts';
import { type FaultRig, startFaultRig } from '../faults/fault-rig.ts';
import { type FaultRound, runFaultRounds } from '../faults/fault-rounds.ts';
import { createFaultWorld, type FaultDevice } from '../faults/fault-world.ts';
import { apiKey } from '../load/platform-process.ts';
import { randomFrom } from '../oracle/filtered-inventory.ts';
import { clickhouse } from '../servers/clickhouse.ts';
import { describeWith } from '../servers/server-tests.ts';
import { zooKeeper } from '../servers/zookeeper.ts';

const startMsMax = 240_000;
const takeoverMsMax = 15_000;
const kinds = Object.keys(faultKinds) as FaultKind[];

describeWith(clickhouse, 'faults of a cluster', () => {
  describeWith(zooKeeper, 'of three nodes', () => {
    const folder = mkdtempSync(join(tmpdir(), 'heliograph-faults-'));
    let rig: FaultRig;
    beforeAll(async () => {
      const size = { nodes: 3, shards: 1, replicas: 2 };
      rig = await startFaultRig({ folder, ...size, leaseMs: 3_000 });
    }, startMsMax);
    afterAll(async () => {
      await rig.stop();
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
    }, startMsMax);

    test.each([
      ['GET', [200]],
      ['POST', [201, 503]],
    ])(
      '%s at another node waits for a silent owner no longer than a takeover',
      async (method, known) => {
        const [asked, silent] = [rig.nodes[0] ?? missing('node'), rig.nodes[1] ?? missing('node')];
        const { devices, sink } = await createFaultWorld(asked.url, 12, method);
        const askAll = () =>
          Promise.all(devices.map((device) => answerOf(asked.url, method, device)));
        const areServed = async () => {
          expect(await partitionsOf(silent.url)).toBeGreaterThan(60);
          expect((await askAll()).every(({ status }) => status === known[0])).toBe(true);
        };
        await vi.waitFor(areServed, { timeout: 60_000 });
        silent.pause();
        const answers = await askAll().finally(() => silent.resume());
        const waits = answers.map(({ ms }) => ms);
        // Some are of the silent node, others are not.
        expect(Math.min(...waits)).toBeLessThan(1_000);
        expect(Math.max(...waits)).toBeGreaterThan(1_000);
        expect(Math.max(...waits)).toBeLessThan(takeoverMsMax);
        expect([...new Set(answers.map(({ status }) => status))].sort()).toEqual(known);
        await sink.close();
      },
    );

    test('nothing acknowledged is lost, nothing is twice, and devices are served again in time', {
      timeout: 600_000,
    }, async () => {
      const rounds: FaultRound[] = [];
      const random = randomFrom(20_261_123);
      await runFaultRounds({
        ...{ rig, devices: 6, random, kinds },
        ended: (round) => void rounds.push(round),
      });
      const wrong = rounds.filter(({ violations }) => violations.length > 0);
      expect(wrong).toEqual([]);
      expect(rounds).toHaveLength(kinds.length);
      for (const { kind, gapMs } of rounds) expect(gapMs, kind).toBeLessThan(takeoverMsMax);
    });
  });
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

async function partitionsOf(url: string): Promise<number> {
  const figures = await (await fetch(`${url}/metrics`)).text();
  return Number(/^heliograph_partitions_held (\d+)$/m.exec(figures)?.[1]);
}
