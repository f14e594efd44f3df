// Lost node: a cluster of which a third node stores samples that are only on its disk, and is killed.
import { expect } from 'vitest';
import { leaseOfWorkspace } from '../../src/cluster/leases/leases.ts';
import { startCutProxy } from '../faults/cut-proxy.ts';
import { checkedFetch } from './checked-fetch.ts';
import { type AddedNode, startCluster, type TestCluster } from './cluster.ts';
import { createDifferent, createWhere } from './different.ts';
import { holdersOf } from './placed-workspaces.ts';
import type { TestDevice, World } from './world.ts';

const devicesCount = 24;
const roundsCut = 20;
const minute = (n: number) => new Date(Date.UTC(2026, 0, 5, 0, n)).toISOString();
const interval = { from: minute(0), to: minute(1_000) };
const waitMsMax = 240_000;
/** A third of the partitions. */
const partitionsShare = 21;

interface Series {
  readonly deviceId: string;
  readonly dataPoints: readonly (number | null)[];
}

interface PlacedDevice extends TestDevice {
  readonly workspaceId: string;
}

/** How many samples of each device there are, and the sum of their values. */
type Seen = readonly (readonly [count: number, sum: number])[];

export interface LostNodeWorld {
  readonly cluster: TestCluster;
  /** What was acknowledged, by device. */
  sent: number[][];
  /** One more sample of each device, sent again until it is acknowledged. */
  sendRound(): Promise<void>;
  /** Ports of the nodes that stay. */
  survivors(): readonly number[];
  mustSee(ports: readonly number[], values: readonly number[][]): Promise<void>;
  mustShipAll(node: AddedNode): Promise<void>;
  /** Waits until the node has its share of the devices. */
  mustHold(node: AddedNode): Promise<void>;
  /**
   * Adds devices in one workspace, held by a node that does not stay. They have a tag, and come after
   * all other devices in `sent`.
   */
  addWorkspaceElsewhere(count: number): Promise<TaggedWorkspace>;
  /**
   * A third node that has devices, stored samples that are only on its disk, and is killed. Returns
   * it, and what was acknowledged without that.
   */
  loseNode(): Promise<{ readonly lost: AddedNode; readonly without: number[][] }>;
  close(): Promise<void>;
}

interface TaggedWorkspace {
  readonly workspaceId: string;
  readonly tagId: string;
}

export interface LostNodeOptions {
  /** Of ClickHouse, with a database. */
  readonly samplesUrl: string;
  readonly journalCopies?: number;
}

export async function startLostNodeWorld({
  samplesUrl,
  journalCopies = 1,
}: LostNodeOptions): Promise<LostNodeWorld> {
  const { hostname: host, port } = new URL(samplesUrl);
  /** Between the node that is lost and ClickHouse. */
  const proxy = await startCutProxy({ target: { host, port: Number(port) } });
  const environment = { SAMPLES_URL: samplesUrl };
  const cluster = await startCluster({ leaseMs: 3_000, environment, journalCopies });
  const devices = await createPlacedDevices(cluster.world);
  const seen = createSeen(cluster, devices);
  let count = 0;
  const lostNode: LostNodeWorld = {
    ...seen,
    cluster,
    sent: devices.map(() => []),
    async sendRound() {
      count += 1;
      const at = count;
      const capture = createCapture(cluster, at);
      await Promise.all(
        devices.map(async (device, place) => {
          const n = at * 100 + place;
          await expect.poll(() => capture(device, n), { timeout: waitMsMax }).toBe('stored');
          lostNode.sent[place]?.push(n);
        }),
      );
    },
    async addWorkspaceElsewhere(added) {
      const workspace = await createTaggedWorkspace(cluster);
      devices.push(...(await createTaggedDevices(cluster.world, workspace, added)));
      while (lostNode.sent.length < devices.length) lostNode.sent.push([]);
      return workspace;
    },
    survivors: () => cluster.nodes.map(({ platform }) => platform.port),
    async loseNode() {
      await proxy.set('open');
      const proxied = new URL(samplesUrl);
      proxied.port = String(proxy.port);
      const lost = await cluster.addProcess({ environment: { SAMPLES_URL: proxied.href } });
      await seen.mustHold(lost);
      await lostNode.sendRound();
      await seen.mustShipAll(lost);
      await proxy.set('refused');
      const isElsewhere = await devicesElsewhere(cluster, devices);
      expect(isElsewhere).toContain(true);
      const shipped = lostNode.sent.map((values) => values.length);
      for (let round = 0; round < roundsCut; round++) await lostNode.sendRound();
      // The lost node has kept its devices meanwhile, so that all of it is on its disk only.
      expect(await devicesElsewhere(cluster, devices)).toEqual(isElsewhere);
      await lost.kill();
      const without = lostNode.sent.map((values, place) =>
        isElsewhere[place] === true ? values.slice(0, shipped[place]) : [...values],
      );
      return { lost, without };
    },
    async close() {
      await cluster.close();
      await proxy.close();
    },
  };
  return lostNode;
}

async function createWorkspace(world: World, name: string): Promise<string> {
  const body = { name, organizationId: world.organizationId };
  return String((await world.must('POST', '/v3/workspaces', body)).id);
}

/** Each in a workspace of another partition. */
async function createPlacedDevices(world: World): Promise<PlacedDevice[]> {
  const workspaceIds = await createDifferent(devicesCount, leaseOfWorkspace, (n) =>
    createWorkspace(world, `place ${n}`),
  );
  const devices: PlacedDevice[] = [];
  for (const workspaceId of workspaceIds)
    devices.push({ ...(await world.device({ workspaceId })), workspaceId });
  return devices;
}

async function createTaggedWorkspace(cluster: TestCluster): Promise<TaggedWorkspace> {
  const { world } = cluster;
  const isElsewhere = await elsewhere(cluster);
  const workspaceId = await createWhere(isElsewhere, (n) => createWorkspace(world, `tagged ${n}`));
  const { id: tagId } = await world.must('POST', '/v3/tags', { workspaceId, name: 'all' });
  return { workspaceId, tagId };
}

async function createTaggedDevices(
  world: World,
  { workspaceId, tagId }: TaggedWorkspace,
  count: number,
): Promise<readonly PlacedDevice[]> {
  const tags = [{ id: tagId }];
  const first = await world.device({ workspaceId, tags });
  const devices = [{ ...first, workspaceId }];
  for (let n = 1; n < count; n++) {
    const deviceId = `other-${n}`;
    const record = { name: deviceId, deviceId, workspaceId, tags, connectivity: 'HTTP' };
    const { dataFlowId } = first;
    const { id } = await world.must('POST', '/v3/devices', { ...record, dataFlowId });
    devices.push({ ...first, id, deviceId, workspaceId });
  }
  return devices;
}

/** Sends a sample of the round to one of the nodes that stay. Resolves with what it answers. */
function createCapture({ nodes, world }: TestCluster, at: number) {
  const { platform } = nodes[at % 2] ?? world;
  const base = `http://127.0.0.1:${platform.port}`;
  return async ({ secret, deviceId }: TestDevice, n: number): Promise<string> => {
    const query = new URLSearchParams({ secret, deviceId, timestamp: minute(at) });
    const headers = { 'content-type': 'application/json' };
    const path = `/v3/capture?${query.toString()}`;
    const answer = await checkedFetch(base, 'POST', path, headers, { n });
    return answer.status === 201 ? 'stored' : JSON.stringify(answer.body);
  };
}

function createSeen(
  { world }: TestCluster,
  devices: readonly TestDevice[],
): Pick<LostNodeWorld, 'mustSee' | 'mustShipAll' | 'mustHold'> {
  /** What the node on the port answers; undefined when it refuses. */
  async function seenAt(port: number): Promise<Seen | undefined> {
    const of = async (accumulator: string) => {
      const path = '/v3/devices/query/batch/raw/time-series';
      const headers = { 'x-api-key': world.apiKey, 'content-type': 'application/json' };
      const deviceIds = devices.map(({ id }) => id);
      const asked = { topic: 'default', dataKey: 'n', accumulator, interval };
      const body = { ...asked, deviceIds, bucketInterval: 'P1D' };
      const answer = await checkedFetch(`http://127.0.0.1:${port}`, 'POST', path, headers, body);
      if (answer.status !== 200) return undefined;
      return (answer.body as readonly Series[]).map(({ dataPoints }) =>
        dataPoints.reduce<number>((sum, point) => sum + (point ?? 0), 0),
      );
    };
    const [counts, sums] = [await of('COUNT'), await of('SUM')];
    if (counts === undefined || sums === undefined) return undefined;
    return devices.map((_, place) => [counts[place] ?? 0, sums[place] ?? 0]);
  }

  async function gaugeAt({ port }: AddedNode, name: string): Promise<number> {
    const answer = await fetch(`http://127.0.0.1:${port}/metrics`);
    return Number(new RegExp(`^heliograph_${name} (\\d+)$`, 'm').exec(await answer.text())?.[1]);
  }

  return {
    async mustSee(ports, values) {
      const expected = values.map((some) => [some.length, some.reduce((sum, n) => sum + n, 0)]);
      for (const port of ports)
        await expect.poll(() => seenAt(port), { timeout: waitMsMax }).toEqual(expected);
    },
    async mustShipAll(node) {
      const open = () => gaugeAt(node, 'clickhouse_pending_samples');
      await expect.poll(open, { timeout: waitMsMax }).toBe(0);
    },
    async mustHold(node) {
      const held = () => gaugeAt(node, 'partitions_held');
      await expect.poll(held, { timeout: waitMsMax }).toBeGreaterThanOrEqual(partitionsShare);
    },
  };
}

/** Which devices nodes have that do not stay. */
async function devicesElsewhere(
  cluster: TestCluster,
  devices: readonly PlacedDevice[],
): Promise<readonly boolean[]> {
  const isElsewhere = await elsewhere(cluster);
  return devices.map(({ workspaceId }) => isElsewhere(workspaceId));
}

/** Whether a node has the workspace that does not stay. */
async function elsewhere(cluster: TestCluster): Promise<(workspaceId: string) => boolean> {
  const holders = await holdersOf(cluster);
  const staying = new Set(cluster.nodeUrls);
  return (workspaceId) => {
    const url = holders.get(leaseOfWorkspace(workspaceId));
    return url !== undefined && !staying.has(url);
  };
}
