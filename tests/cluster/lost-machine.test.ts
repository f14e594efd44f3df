// Lost machine: what a killed node had not shipped returns with its disk, and is lost without it.
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { leaseOfDevice } from '../../src/leases/leases.ts';
import { type CutProxy, startCutProxy } from '../faults/cut-proxy.ts';
import { clickhouse, startClickHouse } from '../servers/clickhouse.ts';
import { describeWith, startedBefore } from '../servers/server-tests.ts';
import { checkedFetch } from '../world/checked-fetch.ts';
import { type AddedNode, startCluster, type TestCluster } from '../world/cluster.ts';
import type { TestDevice } from '../world/world.ts';

const devicesCount = 24;
const roundsCut = 20;
const minute = (n: number) => new Date(Date.UTC(2026, 0, 5, 0, n)).toISOString();
const interval = { from: minute(0), to: minute(1_000) };
const waitMsMax = 60_000;
/** A third of the partitions. */
const partitionsShare = 85;

interface Kpi {
  readonly deviceId: string;
  readonly kpi: number | null;
}

/** How many samples of each device there are, and the sum of their values. */
type Seen = readonly (readonly [count: number, sum: number])[];

describeWith(clickhouse, 'a machine that is lost', () => {
  const server = startedBefore(startClickHouse);
  let cluster: TestCluster;
  /** Between the node that is lost and ClickHouse. */
  let proxy: CutProxy;
  let devices: readonly TestDevice[];
  let tagId: string;
  /** What was acknowledged, by device. */
  let sent: number[][];
  let count = 0;

  function samplesUrl(port?: number): string {
    const url = new URL(server().url);
    if (port !== undefined) url.port = String(port);
    url.pathname = `/lost_machine_${process.pid}`;
    return url.href;
  }

  beforeAll(async () => {
    const { hostname: host, port } = new URL(server().url);
    proxy = await startCutProxy({ target: { host, port: Number(port) } });
    const environment = { SAMPLES_URL: samplesUrl() };
    cluster = await startCluster({ leaseMs: 3_000, environment });
    const { world } = cluster;
    const { workspaceId } = world;
    ({ id: tagId } = await world.must('POST', '/v3/tags', { workspaceId, name: 'all' }));
    const tags = [{ id: tagId }];
    const first = await world.device({ tags });
    const others: TestDevice[] = [];
    for (let n = 1; n < devicesCount; n++) {
      const deviceId = `other-${n}`;
      const record = { name: deviceId, deviceId, workspaceId, tags, connectivity: 'HTTP' };
      const { dataFlowId } = first;
      const { id } = await world.must('POST', '/v3/devices', { ...record, dataFlowId });
      others.push({ ...first, id, deviceId });
    }
    devices = [first, ...others];
    sent = devices.map(() => []);
  }, 180_000);
  afterAll(async () => {
    await cluster.close();
    await proxy.close();
  }, 60_000);

  /** One more sample of each device, sent again until it is acknowledged. */
  async function sendRound(): Promise<void> {
    count += 1;
    const at = count;
    await Promise.all(
      devices.map(async ({ secret, deviceId }, place) => {
        const query = new URLSearchParams({ secret, deviceId, timestamp: minute(at) });
        const path = `/v3/capture?${query.toString()}`;
        const headers = { 'content-type': 'application/json' };
        const n = at * 100 + place;
        const capture = async () => {
          const { platform } = cluster.nodes[at % 2] ?? cluster.world;
          const base = `http://127.0.0.1:${platform.port}`;
          return (await checkedFetch(base, 'POST', path, headers, { n })).status;
        };
        await expect.poll(capture, { timeout: waitMsMax }).toBe(201);
        sent[place]?.push(n);
      }),
    );
  }

  /** What the node on the port answers; undefined when it refuses. */
  async function seenAt(port: number): Promise<Seen | undefined> {
    const of = async (accumulator: string) => {
      const path = `/v3/tags/${tagId}/query/raw/kpi?size=100`;
      const headers = { 'x-api-key': cluster.world.apiKey, 'content-type': 'application/json' };
      const body = { topic: 'default', dataKey: 'n', accumulator, interval };
      const answer = await checkedFetch(`http://127.0.0.1:${port}`, 'POST', path, headers, body);
      if (answer.status !== 200) return undefined;
      const rows: readonly Kpi[] = answer.body.content;
      return new Map(rows.map(({ deviceId, kpi }) => [deviceId, kpi ?? 0]));
    };
    const [counts, sums] = [await of('COUNT'), await of('SUM')];
    if (counts === undefined || sums === undefined) return undefined;
    return devices.map(({ id }) => [counts.get(id) ?? 0, sums.get(id) ?? 0]);
  }

  const survivors = () => cluster.nodes.map(({ platform }) => platform.port);
  const expected = (values: readonly number[][]): Seen =>
    values.map((some) => [some.length, some.reduce((sum, n) => sum + n, 0)]);
  async function mustSee(ports: readonly number[], values: readonly number[][]): Promise<void> {
    for (const port of ports)
      await expect.poll(() => seenAt(port), { timeout: waitMsMax }).toEqual(expected(values));
  }

  /** Which devices nodes have that are not the survivors. */
  async function devicesElsewhere(): Promise<readonly boolean[]> {
    const client = new pg.Client({ connectionString: cluster.recordsUrl });
    await client.connect();
    try {
      const { rows } = await client.query<{ name: string }>(
        `select "leases"."name" from "leases" join "nodes" on "nodes"."id" = "leases"."node"
         where not "nodes"."url" = any($1)`,
        [cluster.nodeUrls],
      );
      const names = new Set(rows.map(({ name }) => name));
      return devices.map(({ id }) => names.has(leaseOfDevice(id)));
    } finally {
      await client.end();
    }
  }

  async function gaugeAt({ port }: AddedNode, name: string): Promise<number> {
    const answer = await fetch(`http://127.0.0.1:${port}/metrics`);
    return Number(new RegExp(`^heliograph_${name} (\\d+)$`, 'm').exec(await answer.text())?.[1]);
  }

  async function mustShipAll(node: AddedNode): Promise<void> {
    const open = () => gaugeAt(node, 'shipping_open_samples');
    await expect.poll(open, { timeout: waitMsMax }).toBe(0);
  }

  /**
   * A third node that has devices, stored samples that are only on its disk, and is killed. Returns
   * it, and what was acknowledged without that.
   */
  async function loseNode(): Promise<{ lost: AddedNode; without: number[][] }> {
    await proxy.set('open');
    const environment = { SAMPLES_URL: samplesUrl(proxy.port) };
    const lost = await cluster.addProcess({ environment });
    const held = () => gaugeAt(lost, 'partitions_held');
    await expect.poll(held, { timeout: waitMsMax }).toBeGreaterThanOrEqual(partitionsShare);
    await sendRound();
    await mustShipAll(lost);
    await proxy.set('refused');
    const isElsewhere = await devicesElsewhere();
    expect(isElsewhere).toContain(true);
    const shipped = sent.map((values) => values.length);
    for (let round = 0; round < roundsCut; round++) await sendRound();
    // The lost node has kept its devices meanwhile, so that all of it is on its disk only.
    expect(await devicesElsewhere()).toEqual(isElsewhere);
    await lost.kill();
    const without = sent.map((values, place) =>
      isElsewhere[place] === true ? values.slice(0, shipped[place]) : [...values],
    );
    return { lost, without };
  }

  test('its disk in another machine returns everything that was acknowledged, once', async () => {
    const { lost, without } = await loseNode();
    await mustSee(survivors(), without);
    const directory = mkdtempSync(join(tmpdir(), 'heliograph-node-'));
    cpSync(lost.directory, directory, { recursive: true });
    rmSync(lost.directory, { recursive: true });
    // The others have its devices, and store more of them.
    await sendRound();
    const returned = await cluster.addProcess({ directory });
    const all = [...survivors(), returned.port];
    await mustSee(all, sent);
    await sendRound();
    await mustSee(all, sent);
    // Nothing of it depends on the second machine from now on.
    await mustShipAll(returned);
    await returned.kill();
    await mustSee(survivors(), sent);
  }, 400_000);

  test('without its disk, what it had not shipped is lost, and nothing else', async () => {
    const { lost, without } = await loseNode();
    rmSync(lost.directory, { recursive: true });
    await mustSee(survivors(), without);
    sent = without;
    await sendRound();
    await mustSee(survivors(), sent);
  }, 400_000);
});
