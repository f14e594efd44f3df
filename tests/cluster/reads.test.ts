// Reads of many devices at any node: what an owner acknowledged is in the next answer of every node.
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { clickhouse, startClickHouse } from '../servers/clickhouse.ts';
import { describeWith, startedBefore } from '../servers/server-tests.ts';
import { checkedFetch } from '../world/checked-fetch.ts';
import { startCluster, type TestCluster } from '../world/cluster.ts';
import { placedWorkspaces } from '../world/placed-workspaces.ts';
import type { TestDevice, World } from '../world/world.ts';

/** What answers have of a device. */
interface LatestOrKpi {
  readonly deviceId: string;
  readonly samples?: readonly { readonly data: { readonly n: number } }[];
  readonly kpi?: number | null;
  readonly dataPoints?: readonly (number | null)[];
}

const placesCount = 6;
const devicesPerPlace = 2;
const minute = (n: number) => new Date(Date.UTC(2026, 0, 5, 0, n)).toISOString();
const interval = { from: minute(0), to: minute(300) };

describeWith(clickhouse, 'reads of many devices with two nodes', () => {
  const server = startedBefore(startClickHouse);
  let cluster: TestCluster;
  const places: { readonly tagId: string; readonly devices: readonly TestDevice[] }[] = [];
  let devices: readonly TestDevice[];
  /** Values that were acknowledged, by device. */
  let sent: number[][];
  let count = 0;

  const addressOf = (node: World) => `http://127.0.0.1:${node.platform.port}`;
  function askAny(node: World, path: string, body: unknown) {
    const headers = { 'x-api-key': node.apiKey, 'content-type': 'application/json' };
    return checkedFetch(addressOf(node), 'POST', path, headers, body);
  }
  async function ask(node: World, path: string, body: unknown) {
    const answer = await askAny(node, path, body);
    expect(answer).toMatchObject({ status: 200 });
    return answer.body;
  }

  beforeAll(async () => {
    cluster = await startCluster({
      leaseMs: 3_000,
      environment: { SAMPLES_URL: `${server().url}/reads_${process.pid}` },
    });
    const { world } = cluster;
    for (const workspaceId of await placedWorkspaces(cluster, placesCount)) {
      const { id: tagId } = await world.must('POST', '/v3/tags', { workspaceId, name: 'all' });
      const tags = [{ id: tagId }];
      const ofPlace: TestDevice[] = [];
      for (let n = 0; n < devicesPerPlace; n++)
        ofPlace.push(await world.device({ workspaceId, tags }));
      places.push({ tagId, devices: ofPlace });
    }
    devices = places.flatMap((place) => place.devices);
    sent = devices.map(() => []);
  }, 240_000);
  afterAll(() => cluster.close());

  async function gaugeAt(port: number, name: string): Promise<number> {
    const answer = await fetch(`http://127.0.0.1:${port}/metrics`);
    return Number(new RegExp(`^heliograph_${name} (\\d+)$`, 'm').exec(await answer.text())?.[1]);
  }
  const heldBy = ({ nodes }: TestCluster) =>
    Promise.all(nodes.map(({ platform }) => gaugeAt(platform.port, 'partitions_held')));
  const openAt = (port: number) => gaugeAt(port, 'clickhouse_pending_samples');

  /** One more sample of each device, at the node. */
  async function sendTo(node: World): Promise<void> {
    count += 1;
    const at = count;
    await Promise.all(
      devices.map(async ({ secret, deviceId }, place) => {
        const query = new URLSearchParams({ secret, deviceId, timestamp: minute(at) });
        const path = `/v3/capture?${query.toString()}`;
        const type = { 'content-type': 'application/json' };
        const n = at * 100 + place;
        const answer = await checkedFetch(addressOf(node), 'POST', path, type, { n });
        expect(answer).toMatchObject({ status: 201 });
        sent[place]?.push(n);
      }),
    );
  }

  const sums = () => sent.map((values) => values.reduce((sum, n) => sum + n, 0));

  async function mustSeeAll(node: World): Promise<void> {
    const deviceIds = devices.map(({ id }) => id);
    const latest = await ask(node, '/v3/devices/query/latest', { deviceIds });
    expect(latest.content.map((one: LatestOrKpi) => one.samples?.[0]?.data.n)).toEqual(
      sent.map((values) => values.at(-1)),
    );
    const common = { topic: 'default', dataKey: 'n', accumulator: 'SUM', interval };
    for (const source of ['raw', 'aggregated/hourly']) {
      const byId = new Map<string, number | null | undefined>();
      let all = 0;
      for (const { tagId } of places) {
        const kpis = await ask(node, `/v3/tags/${tagId}/query/${source}/kpi?size=100`, common);
        for (const { deviceId, kpi } of kpis.content as readonly LatestOrKpi[])
          byId.set(deviceId, kpi);
        const total = await ask(node, `/v3/tags/${tagId}/query/${source}/accumulated-kpi`, common);
        all += total.kpi;
      }
      expect(deviceIds.map((id) => byId.get(id))).toEqual(sums());
      expect(all).toBe(sums().reduce((sum, n) => sum + n, 0));
      const series = await ask(node, `/v3/devices/query/batch/${source}/time-series`, {
        ...common,
        accumulator: 'COUNT',
        deviceIds,
        bucketInterval: 'PT1H',
      });
      const counts = series.map((one: LatestOrKpi) =>
        one.dataPoints?.reduce<number>((sum, n) => sum + (n ?? 0), 0),
      );
      expect(counts).toEqual(sent.map((values) => values.length));
    }
  }

  test('a sample that was acknowledged at one node is in every answer of both', async () => {
    for (let round = 0; round < 4; round++)
      for (const node of cluster.nodes) {
        await sendTo(node);
        for (const reader of cluster.nodes) await mustSeeAll(reader);
      }
  }, 240_000);

  test('the same while devices move to a node that joins', async () => {
    const added = await cluster.addProcess();
    const moving = vi.waitFor(
      async () => expect((await heldBy(cluster)).every((held) => held < 32)).toBe(true),
      { timeout: 60_000 },
    );
    let isMoved = false;
    void moving.then(() => (isMoved = true));
    while (!isMoved)
      for (const node of cluster.nodes) {
        await sendTo(node);
        for (const reader of cluster.nodes) await mustSeeAll(reader);
      }
    await moving;
    for (let round = 0; round < 2; round++)
      for (const node of cluster.nodes) {
        await sendTo(node);
        for (const reader of cluster.nodes) await mustSeeAll(reader);
      }
    // One at each node: of the devices above, the node that joined may have none.
    const nodeUrls = [...cluster.nodeUrls, `http://127.0.0.1:${added.port}`];
    const deviceIds: string[] = [];
    for (const workspaceId of await placedWorkspaces({ ...cluster, nodeUrls }, nodeUrls.length))
      deviceIds.push((await cluster.world.device({ workspaceId })).id);
    // Everything is shipped a second later, so that nothing is lost with the node.
    await vi.waitFor(async () => expect(await openAt(added.port)).toBe(0), 60_000);
    await added.kill();
    // Until its leases end, what it has is named as missing.
    const [reader = cluster.world] = cluster.nodes;
    const latest = () => askAny(reader, '/v3/devices/query/latest', { deviceIds });
    expect(await latest()).toMatchObject({
      status: 503,
      body: {
        errorCode: '50312_NODE_UNREACHABLE',
        message: expect.stringMatching(/node [\w-]{36}/),
      },
    });
    await vi.waitFor(async () => expect(await latest()).toMatchObject({ status: 200 }), 60_000);
    for (const node of cluster.nodes) await mustSeeAll(node);
  }, 240_000);
});
