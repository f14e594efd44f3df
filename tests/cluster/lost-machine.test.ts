// Lost machine: what a killed node had not shipped returns with its disk, and is lost without it.
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, test } from 'vitest';
import { clickhouse, startClickHouse } from '../servers/clickhouse.ts';
import { describeWith, startedBefore } from '../servers/server-tests.ts';
import { type LostNodeWorld, startLostNodeWorld } from '../world/lost-node.ts';

describeWith(clickhouse, 'a machine that is lost', () => {
  const server = startedBefore(startClickHouse);
  let lostNode: LostNodeWorld;
  beforeAll(async () => {
    const samplesUrl = `${server().url}/lost_machine_${process.pid}`;
    lostNode = await startLostNodeWorld({ samplesUrl });
  }, 600_000);
  afterAll(() => lostNode.close(), 240_000);

  test('its disk in another machine returns everything that was acknowledged, once', async () => {
    const { cluster, sendRound, mustSee, mustShipAll, survivors, loseNode } = lostNode;
    const { lost, without } = await loseNode();
    await mustSee(survivors(), without);
    const directory = mkdtempSync(join(tmpdir(), 'heliograph-node-'));
    cpSync(lost.directory, directory, { recursive: true });
    rmSync(lost.directory, { recursive: true });
    // The others have its devices, and store more of them.
    await sendRound();
    const returned = await cluster.addProcess({ directory });
    const all = [...survivors(), returned.port];
    await mustSee(all, lostNode.sent);
    await sendRound();
    await mustSee(all, lostNode.sent);
    // Nothing of it depends on the second machine from now on.
    await mustShipAll(returned);
    await returned.kill();
    await mustSee(survivors(), lostNode.sent);
  }, 900_000);

  test('without its disk, what it had not shipped is lost, and nothing else', async () => {
    const { sendRound, mustSee, survivors, loseNode } = lostNode;
    const { lost, without } = await loseNode();
    rmSync(lost.directory, { recursive: true });
    await mustSee(survivors(), without);
    lostNode.sent = without;
    await sendRound();
    await mustSee(survivors(), lostNode.sent);
  }, 900_000);
});
