// Removed samples: a node that hides them is killed before they have left ClickHouse. Nothing comes back, and nothing else goes.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { clickhouse, startClickHouse } from '../servers/clickhouse.ts';
import { describeWith, startedBefore } from '../servers/server-tests.ts';
import { type LostNodeWorld, startLostNodeWorld } from '../world/lost-node.ts';

const rounds = 12;
const taggedDevices = 8;
/** Minutes of the rounds that are removed; the first round is that of minute 1. */
const removed = { from: 4, to: 8 };
const minute = (n: number) => new Date(Date.UTC(2026, 0, 5, 0, n)).toISOString();
const slow = { timeout: 240_000, interval: 200 };

describeWith(clickhouse, 'samples that a killed node removed', () => {
  const server = startedBefore(startClickHouse);
  const database = `removed_${process.pid}`;
  let lostNode: LostNodeWorld;
  beforeAll(async () => {
    lostNode = await startLostNodeWorld({ samplesUrl: `${server().url}/${database}` });
  }, 600_000);
  afterAll(() => lostNode.close(), 240_000);

  /** What merges would do waits, deletions of rows included. */
  async function merges(verb: 'stop' | 'start'): Promise<void> {
    for (const table of ['samples', 'points', 'hours'])
      await server().ask(`system ${verb} merges ${database}.${table}`);
  }

  /** Counts of the tagged devices from hours, which the removed samples must leave too. */
  async function hours(tagId: string): Promise<readonly number[]> {
    const { world } = lostNode.cluster;
    const body = {
      ...{ topic: 'default', dataKey: 'n', accumulator: 'COUNT' },
      interval: { from: minute(0), to: minute(60) },
    };
    const path = `/v3/tags/${tagId}/query/aggregated/hourly/kpi?size=100`;
    const { content } = await world.must('POST', path, body);
    return content.map(({ kpi }: { kpi: number | null }) => kpi ?? 0);
  }

  test('the operation is completed by the next one, with true counts', async () => {
    const { cluster, sendRound, mustSee, mustHold, mustShipAll, survivors, sent } = lostNode;
    const { addWorkspaceElsewhere } = lostNode;
    const { world } = cluster;
    const third = await cluster.addProcess();
    await mustHold(third);
    const { workspaceId, tagId } = await addWorkspaceElsewhere(taggedDevices);
    for (let round = 0; round < rounds; round++) await sendRound();
    await mustShipAll(third);
    const tagged = sent.slice(-taggedDevices);
    const left = [
      ...sent.slice(0, -taggedDevices),
      ...tagged.map((values) =>
        values.filter((_, at) => at + 1 < removed.from || at + 1 >= removed.to),
      ),
    ];
    await merges('stop');
    const operation = await world.must('POST', '/v3/samples/delete', {
      ...{ workspaceId, tagId, reason: 'wrong place' },
      ...{ from: minute(removed.from), to: minute(removed.to) },
    });
    // Hidden everywhere, and only there: ClickHouse still has the rows.
    await mustSee([...survivors(), third.port], left);
    const read = () => world.must('GET', `/v3/operations/${operation.id}`);
    expect((await read()).completed).toBeNull();
    const [[stored] = []] = await server().ask(`select count() from ${database}.samples`);
    expect(Number(stored)).toBe(sent.flat().length);
    await third.kill();
    await merges('start');
    await expect.poll(async () => (await read()).completed, slow).not.toBeNull();
    const done = await read();
    expect(done).toMatchObject({ succeeded: true, actionsCompleted: taggedDevices });
    const perDevice = removed.to - removed.from;
    expect(done.actions.map(({ data }: { data: { samples: number } }) => data.samples)).toEqual(
      tagged.map(() => perDevice),
    );
    await mustSee(survivors(), left);
    expect(await hours(tagId)).toEqual(tagged.map(() => rounds - perDevice));
    // The killed node comes back with what it hid and with what it had not told anybody.
    lostNode.sent = left;
    await sendRound();
    const returned = await cluster.addProcess({ directory: third.directory });
    await mustSee([...survivors(), returned.port], lostNode.sent);
    await mustShipAll(returned);
    await expect.poll(() => hours(tagId), slow).toEqual(tagged.map(() => rounds - perDevice + 1));
    await returned.kill();
    await mustSee(survivors(), lostNode.sent);
  }, 900_000);
});
