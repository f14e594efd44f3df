// Faults in short form: one of each kind under load; `npm run cluster-faults -- --rounds 200` is the long one.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type FaultKind, faultKinds } from '../faults/faults.ts';
import { type FaultRig, startFaultRig } from '../faults/fault-rig.ts';
import { type FaultRound, runFaultRounds } from '../faults/fault-rounds.ts';
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
