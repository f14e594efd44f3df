// Placed workspaces: created until each node of a cluster holds some, because the devices of a workspace are of one node.
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import {
  isOfWorkspaces,
  type LeaseName,
  leaseOfWorkspace,
  workspaceLeases,
} from '../../src/cluster/leases/leases.ts';
import type { TestCluster } from './cluster.ts';
import { createWhere } from './different.ts';

const waitMsMax = 120_000;
const pollMs = 100;

/** Nodes that share leases in PostgreSQL. */
interface SharingNodes {
  readonly recordsUrl: string | undefined;
  readonly count: number;
}

/** The internal address of the node that holds each lease of workspaces. */
export async function holdersOf({
  recordsUrl,
}: Pick<SharingNodes, 'recordsUrl'>): Promise<ReadonlyMap<LeaseName, string>> {
  const client = new pg.Client({ connectionString: recordsUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ name: LeaseName; url: string }>(
      `select "leases"."name", "nodes"."url" from "leases"
       join "nodes" on "nodes"."id" = "leases"."node" where "leases"."until" > now()`,
    );
    return new Map(rows.filter(isOfWorkspaces).map(({ name, url }) => [name, url]));
  } finally {
    await client.end();
  }
}

/** Waits until each node has its share. */
async function untilShared(nodes: SharingNodes): Promise<ReadonlyMap<LeaseName, string>> {
  const share = Math.floor(workspaceLeases.length / nodes.count);
  const giveUpAt = performance.now() + waitMsMax;
  for (;;) {
    const holders = await holdersOf(nodes);
    const held = [...Map.groupBy(holders.values(), (url) => url).values()];
    if (held.length === nodes.count && held.every(({ length }) => length >= share)) return holders;
    if (performance.now() > giveUpAt)
      throw new Error(`The nodes hold ${held.map(({ length }) => length).join(', ')} partitions`);
    await wait(pollMs);
  }
}

/** `count` workspaces, in turns at the nodes, each with another lease. `create` returns an id. */
export async function placeInTurns(
  nodes: SharingNodes,
  count: number,
  create: (number: number) => Promise<string>,
): Promise<readonly string[]> {
  const holders = await untilShared(nodes);
  const urls = [...new Set(holders.values())].toSorted();
  const placed = new Map<LeaseName, string>();
  let number = 0;
  for (let place = 0; place < count; place++) {
    const url = urls[place % urls.length];
    const isWanted = (id: string): boolean => {
      const lease = leaseOfWorkspace(id);
      return holders.get(lease) === url && !placed.has(lease);
    };
    const id = await createWhere(isWanted, () => create(number++));
    placed.set(leaseOfWorkspace(id), id);
  }
  return [...placed.values()];
}

/** Workspaces of the organization of the cluster. */
export function placedWorkspaces(
  { world, nodeUrls, recordsUrl }: TestCluster,
  count: number,
): Promise<readonly string[]> {
  return placeInTurns({ recordsUrl, count: nodeUrls.length }, count, async (number) => {
    const body = { name: `place ${number}`, organizationId: world.organizationId };
    return String((await world.must('POST', '/v3/workspaces', body)).id);
  });
}
