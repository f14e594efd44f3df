// Queries after a change: whatever ends an access ends it for the next request of the same connection, though all before were admitted from memory.
import { Agent, request } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { dayMs } from '../../src/model/instant.ts';
import {
  type AccessWorld,
  type Acting,
  addMember,
  signIn,
  startAccessWorld,
} from './access-world.ts';

let now = Date.UTC(2026, 0, 1);
let at: AccessWorld;
let deviceId: string;
let count = 0;
const open: Agent[] = [];

beforeAll(async () => {
  at = await startAccessWorld({}, { now: () => now });
  deviceId = (await at.world.device()).id;
});
afterAll(async () => {
  for (const agent of open) agent.destroy();
  await at.close();
});

const bodies: Readonly<Record<string, object>> = {
  query: { topic: 'default', limit: 1 },
  'query/raw/kpi': {
    topic: 'default',
    dataKey: 'value',
    accumulator: 'COUNT',
    interval: { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' },
  },
};

interface Answer {
  readonly status: number;
  readonly code: string | undefined;
}

/** Queries of a device over one connection, which is kept; `sockets` are those that answered. */
function querying({ headers }: Pick<Acting, 'headers'>, base = at.base, id = deviceId) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  open.push(agent);
  const sockets = new Set<unknown>();
  const ask = (kind: string): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const json = { 'content-type': 'application/json', ...headers };
      const path = `${base}/v3/devices/${id}/${kind}`;
      const sent = request(path, { method: 'POST', agent, headers: json }, (response) => {
        sockets.add(response.socket);
        response.setEncoding('utf8');
        let text = '';
        response.on('data', (piece) => (text += piece));
        response.on('end', () => {
          const { errorCode } = JSON.parse(text) as { readonly errorCode?: string };
          resolve({ status: response.statusCode ?? 0, code: errorCode });
        });
      });
      sent.on('error', reject);
      sent.end(JSON.stringify(bodies[kind]));
    });
  return {
    sockets,
    async all(): Promise<Answer[]> {
      const answers: Answer[] = [];
      for (const kind of Object.keys(bodies)) answers.push(await ask(kind));
      return answers;
    },
  };
}

/** Asks until everything is in memory, makes the change, and asks at once. */
async function afterChange(
  acting: Pick<Acting, 'headers'>,
  change: () => Promise<unknown>,
): Promise<(number | string | undefined)[]> {
  const queries = querying(acting);
  for (let round = 0; round < 3; round++)
    expect(new Set((await queries.all()).map(({ status }) => status))).toEqual(new Set([200]));
  await change();
  const answers = await queries.all();
  expect(queries.sockets.size).toBe(1);
  // It stays so.
  expect(await queries.all()).toEqual(answers);
  const [first, ...others] = answers;
  for (const other of others) expect(other).toEqual(first);
  return [first?.status, first?.code];
}

const readers = { permissions: { asset: ['read'] } } as const;

/** A member of the workspace alone, signed in. */
async function member(role = 'VIEWER') {
  const email = `query-${++count}@example.org`;
  const workspace = `/v3/workspaces/${at.world.workspaceId}`;
  const { userId } = await addMember(at.base, at.owner, workspace, email, role);
  const path = `${workspace}/members/${userId}`;
  return { userId, path, ...(await signIn(at.base, email)) };
}

test('an API key that is deleted', async () => {
  const key = await at.key(readers);
  const change = () => at.owner.must('DELETE', `/v3/api-keys/${key.id}`);
  expect(await afterChange(key, change)).toEqual([401, '40100_UNAUTHORIZED']);
});

test('an API key that expires', async () => {
  const { secret } = await at.owner.must('POST', '/v3/api-keys', {
    name: 'short',
    organizationId: at.world.organizationId,
    ...readers,
    expiration: new Date(now + 60_000).toISOString(),
  });
  const later = async () => void (now += 60_000);
  expect(await afterChange({ headers: { 'x-api-key': secret } }, later)).toEqual([
    401,
    '40105_API_KEY_EXPIRED',
  ]);
});

test('an OAuth client that is deleted, and a token that expires', async () => {
  const [deleted, expiring] = [await at.client(readers), await at.client(readers)];
  const change = () => at.owner.must('DELETE', `/v3/oauth-clients/${deleted.id}`);
  expect((await afterChange(deleted, change))[0]).toBe(401);
  const later = async () => void (now += 3_600_000);
  expect((await afterChange(expiring, later))[0]).toBe(401);
});

test('a member who leaves the workspace, and a session that ends', async () => {
  const leaving = await member();
  const leave = () => at.owner.must('DELETE', leaving.path);
  expect((await afterChange(leaving, leave))[0]).toBeOneOf([401, 403, 404]);
  const ending = await member();
  const end = () => ending.must('POST', '/v3/auth/logout');
  expect((await afterChange(ending, end))[0]).toBe(401);
});

test('an organization role that is taken back', async () => {
  const email = `query-${++count}@example.org`;
  const organization = `/v3/organizations/${at.world.organizationId}`;
  const { userId } = await addMember(at.base, at.owner, organization, email, 'ADMIN');
  const acting = await signIn(at.base, email);
  const lower = () => at.owner.must('PUT', `${organization}/members/${userId}`, { role: 'MEMBER' });
  expect((await afterChange(acting, lower))[0]).toBeOneOf([403, 404]);
});

test('a device that is deleted, and one that moves out of reach of its key', async () => {
  const { world, owner, secondWorkspaceId } = at;
  const restricted = { ...readers, workspaces: [{ id: world.workspaceId }] };
  const key = await at.key(restricted);
  for (const kind of ['deleted', 'moved']) {
    const device = await world.device({ tags: [] });
    const queries = querying(key, at.base, device.id);
    for (let round = 0; round < 3; round++)
      expect((await queries.all()).map(({ status }) => status)).toEqual([200, 200]);
    if (kind === 'deleted') {
      await owner.must('DELETE', `/v3/devices/${device.id}`);
      expect((await queries.all()).map(({ status }) => status)).toEqual([404, 404]);
      continue;
    }
    const connector = await owner.must('POST', '/v3/device-connectors', {
      name: 'c',
      workspaceId: secondWorkspaceId,
      connectivity: 'HTTP',
    });
    const flow = await owner.must('POST', '/v3/data-flows', {
      name: 'f',
      workspaceId: secondWorkspaceId,
      deviceConnector: { id: connector.id },
      outputConnectors: [{ id: '0900000000000000', topic: '*' }],
    });
    const { id } = await owner.must('POST', '/v3/devices/bulk/move', {
      workspaceId: world.workspaceId,
      deviceIds: [device.id],
      targetWorkspaceId: secondWorkspaceId,
      dataFlowId: flow.id,
    });
    await expect
      .poll(async () => (await owner.must('GET', `/v3/operations/${id}`)).succeeded)
      .toBe(true);
    // An operation can be read as completed up to one sync before what follows changes is told.
    await expect
      .poll(async () => (await queries.all()).map(({ status }) => status))
      .toEqual([403, 403]);
    expect(queries.sockets.size).toBe(1);
  }
});

test('refused credentials stay refused, and none of another request is taken for them', async () => {
  const key = await at.key(readers);
  const queries = querying(key);
  await queries.all();
  for (const secret of [`${key.secret}x`, key.secret.slice(0, -1), key.secret.toUpperCase(), 'x'])
    for (let round = 0; round < 2; round++)
      expect((await querying({ headers: { 'x-api-key': secret } }).all())[0]?.status).toBe(401);
  const both = { ...key.headers, authorization: 'Bearer x' };
  expect((await querying({ headers: both }).all())[0]?.status).toBe(401);
  expect((await queries.all())[0]?.status).toBe(200);
  // Known to the platform, and without the permission.
  const writer = await at.key({ permissions: { asset: ['create'] } });
  expect((await querying(writer).all())[0]?.status).toBe(403);
  const elsewhere = await at.key({ ...readers, workspaces: [{ id: at.secondWorkspaceId }] });
  for (let round = 0; round < 2; round++)
    expect((await querying(elsewhere).all())[0]?.status).toBe(403);
});

test('a session needs its token against forgery in each query, also when it is in memory', async () => {
  const { headers } = await member();
  const queries = querying({ headers });
  for (let round = 0; round < 2; round++) expect((await queries.all())[0]?.status).toBe(200);
  const { 'x-csrf-token': token = '', ...without } = headers;
  for (const sent of [
    without,
    { ...without, 'x-csrf-token': `${token}x` },
    { ...without, 'x-csrf-token': '' },
  ])
    expect((await querying({ headers: sent }).all())[0]?.status).toBe(403);
});

test('the limit of requests counts queries that are admitted from memory', async () => {
  const limited = await startAccessWorld({ RATE_LIMIT_PER_SECOND: '10' }, { now: () => now });
  try {
    const { id } = await limited.world.device();
    const key = await limited.key(readers);
    const queries = querying(key, limited.base, id);
    const statuses: number[] = [];
    for (let round = 0; round < 8; round++)
      for (const { status } of await queries.all()) statuses.push(status);
    expect(statuses).toEqual([...Array(10).fill(200), ...Array(6).fill(429)]);
    now += 1_000;
    expect((await queries.all())[0]?.status).toBe(200);
  } finally {
    await limited.close();
  }
});

test('a session that is too old', async () => {
  const idle = await member();
  const later = async () => void (now += 8 * dayMs);
  expect((await afterChange(idle, later))[0]).toBe(401);
});
