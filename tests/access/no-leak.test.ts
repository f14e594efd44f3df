// Requests with ids of another organization in paths, bodies, filters and tags, and live subscriptions: nothing of it leaks.
// A full run takes a minute: LEAK_REQUESTS=20000 npx vitest run tests/access/no-leak.test.ts
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openLive } from '../world/live-socket.ts';
import {
  type AccessWorld,
  type Acting,
  addMember,
  type Fixtures,
  makeFixtures,
  signIn,
  mailSettings,
  startAccessWorld,
} from './access-world.ts';
import type { Cell } from './route-cell.ts';
import { routeCells } from './route-cells.ts';

// Everything of the other organization carries this word; no answer to the first one may.
const mark = 'BRAVO';
const requests = Number(process.env['LEAK_REQUESTS'] ?? 1_000);
const lanes = 16;
let at: AccessWorld;
let ours: Fixtures;
let theirs: Fixtures;
let admin: Acting;

beforeAll(async () => {
  at = await startAccessWorld(mailSettings);
  const { base, world, owner, otherOwner, otherOrganizationId, otherWorkspaceId } = at;
  ours = await makeFixtures(owner, world.workspaceId, 'alpha');
  theirs = await makeFixtures(otherOwner, otherWorkspaceId, mark);
  await otherOwner.must('PUT', `/v3/organizations/${otherOrganizationId}`, {
    name: `${mark} company`,
  });
  await otherOwner.must('PUT', `/v3/workspaces/${otherWorkspaceId}`, { name: `${mark} workspace` });
  await addMember(
    base,
    otherOwner,
    `/v3/organizations/${otherOrganizationId}`,
    `${mark}@example.org`,
    'EDITOR',
  );
  await capture(theirs, mark);
  await capture(ours, 'alpha');
  // The owner is a member of both organizations, this caller only of ours.
  await addMember(
    base,
    owner,
    `/v3/organizations/${world.organizationId}`,
    'admin@example.org',
    'ADMIN',
  );
  admin = await signIn(base, 'admin@example.org');
}, 240_000);
afterAll(() => at.close());

async function capture(of: Fixtures, note: string): Promise<void> {
  const query = new URLSearchParams({ secret: of.secret, deviceId: of.physicalId });
  await at.nobody.must('POST', `/v3/capture?${query.toString()}`, { note, a: 1 });
}

/** The same numbers on every run (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const random = seeded(20_260_101);
const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;

function mixed(theirShare: number): Fixtures {
  const entries = Object.entries(ours).map(([field, value]) => [
    field,
    random() < theirShare ? theirs[field as keyof Fixtures] : value,
  ]);
  return Object.fromEntries(entries) as Fixtures;
}

/** Filters that name what is not ours. */
function filtersOf(of: Fixtures): string {
  const parameters = [
    `organizationId=${of.organization}`,
    `workspaceId=${of.workspace}`,
    `workspaceIds=${ours.workspace},${of.workspace}`,
    `tags.ids=${of.tag}`,
    `dataFlowId=${of.dataFlow}`,
    `assetIds=%5B${of.device}%2C%20${ours.device}%5D`,
    `search=${mark}`,
    `actorId=${of.apiKey}`,
    `resourceId=${of.device}`,
    'size=1000',
    'page=1',
    'details=true',
    'global=true',
  ];
  return parameters.filter(() => random() < 0.3).join('&');
}

function withReferences(body: unknown, of: Fixtures): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body;
  const filter = pick([
    { field: 'id', predicate: 'EQUALS', values: [of.device] },
    { field: 'tags.name', predicate: 'CONTAINS_ANY', values: [`${mark} record`] },
    { field: 'name', predicate: 'STARTS_WITH', values: [mark.toLowerCase()] },
  ]);
  const extra = pick<object>([
    {},
    {},
    { tags: [{ id: of.tag }] },
    { dataFlowId: of.dataFlow },
    { deviceType: { id: of.deviceType } },
    { deviceConnector: { id: of.deviceConnector } },
    { outputConnectors: [{ id: of.dataFlow, topic: '*' }] },
    { deviceIds: [ours.device, of.device] },
    { workspaces: [{ id: of.workspace }], allWorkspaces: false },
    { expression: { operator: 'OR', expressions: [filter] } },
    { workspaceIds: [of.workspace, ours.workspace] },
    { id: of.device },
  ]);
  return { ...body, ...extra };
}

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
}

function nextRequest(rows: readonly (readonly [string, Cell])[]): Sent {
  const [route, cell] = pick(rows);
  const method = route.split(' ')[0]!;
  // What is deleted is theirs, so that ours is there to the end.
  const of =
    cell.needs?.[1] === 'delete' || route.includes('/bulk/move')
      ? theirs
      : mixed(pick([0.2, 0.5, 1]));
  const path = cell.path(of);
  const filters = filtersOf(of);
  const joined = filters === '' ? path : `${path}${path.includes('?') ? '&' : '?'}${filters}`;
  // Preferences are whatever their user sends, and are answered as they are.
  const isOwn = route.includes('/preferences');
  const body = cell.body?.(of);
  return { method, path: joined, body: isOwn ? body : withReferences(body, of) };
}

test(`${requests} requests with swapped ids: 0 leaks`, { timeout: 300_000 }, async () => {
  const [key, client] = [await at.key(), await at.client()];
  const local = await at.key({ workspaces: [{ id: at.secondWorkspaceId }] });
  const callers: readonly Acting[] = [key, client, local, admin];
  const rows = Object.entries(routeCells).filter(
    ([, cell]) => cell.who !== 'anybody' && cell.who !== 'anyUser',
  );
  const leaks: string[] = [];
  const counts = new Map<number, number>();
  let left = requests;
  const lane = async () => {
    while (left > 0) {
      left -= 1;
      const { method, path, body } = nextRequest(rows);
      const answer = await pick(callers).call(method, path, body);
      counts.set(answer.status, (counts.get(answer.status) ?? 0) + 1);
      // The caller knows what it sent; a refusal may repeat it.
      const text = JSON.stringify(answer.body).replaceAll(theirs.physicalId, '');
      if (text.includes(mark) || answer.status >= 500)
        leaks.push(`${method} ${path}: ${answer.status} ${text.slice(0, 300)}`);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  console.log(
    `swapped ids: ${requests} requests, ${leaks.length} leaks`,
    Object.fromEntries(counts),
  );
  expect(leaks).toEqual([]);
  // Enough must get through, or nothing was tried.
  expect(counts.get(200) ?? 0).toBeGreaterThan(requests / 20);
});

test('nothing of theirs was changed, and all of it is there', async () => {
  for (const path of [
    `devices/${theirs.device}`,
    `tags/${theirs.tag}`,
    `data-flows/${theirs.dataFlow}`,
    `device-types/${theirs.deviceType}`,
  ]) {
    expect((await at.otherOwner.must('GET', `/v3/${path}`)).name).toBe(`${mark} record`);
  }
  const { content } = await at.otherOwner.must(
    'GET',
    `/v3/assets?workspaceId=${at.otherWorkspaceId}`,
  );
  expect(content).toHaveLength(1);
  const samples = await at.otherOwner.must('POST', `/v3/devices/${theirs.device}/query`, {
    topic: '*',
  });
  expect(samples.map((sample: { data: object }) => sample.data)).toEqual([{ note: mark, a: 1 }]);
});

test('the live stream: devices and tags of others cannot be subscribed to, by any credential', async () => {
  const [key, client] = [await at.key(), await at.client()];
  for (const parameter of [`xApiKey=${key.secret}`, `access_token=${client.token}`]) {
    const live = await openLive(`${at.base.replace('http', 'ws')}/v3/data-streams?${parameter}`);
    const subscriptions = [
      { assetId: theirs.device, topic: '*' },
      { tagId: theirs.tag, topic: '*' },
      { assetId: ours.device, topic: '*' },
    ];
    const answer = await live.ask({ type: 'subscribe', id: 1, subscriptions });
    const valid = answer['subscriptions'].filter((one: { valid: boolean }) => one.valid);
    expect(valid.map((one: { assetId?: string }) => one.assetId)).toEqual([ours.device]);
    await live.ask({
      type: 'subscribe',
      id: 2,
      since: '2020-01-01T00:00:00Z',
      subscriptions: [{ assetId: theirs.device }],
    });
    await capture(theirs, mark);
    await capture(ours, 'alpha');
    const first = await live.next();
    expect([first.type, first['sample'].deviceId]).toEqual(['sample_insert', ours.device]);
    expect(JSON.stringify(await live.sofar())).not.toContain(mark);
    live.close();
  }
});
