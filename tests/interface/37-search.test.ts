// Contract 37: one search over all records that the caller may read.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type AccessWorld,
  type Acting,
  addMember,
  type Fixtures,
  makeFixtures,
  signIn,
  startAccessWorld,
} from '../access/access-world.ts';

interface Hit {
  readonly kind: string;
  readonly id: string;
  readonly name: string;
  readonly workspaceId: string | null;
  readonly match: { readonly field: string; readonly value: string };
}

let at: AccessWorld;
let own: Fixtures;
let second: Fixtures;
let other: Fixtures;
beforeAll(async () => {
  at = await startAccessWorld();
  own = await makeFixtures(at.owner, at.world.workspaceId, 'zebra');
  second = await makeFixtures(at.owner, at.secondWorkspaceId, 'zebra two');
  other = await makeFixtures(at.otherOwner, at.otherWorkspaceId, 'zebra other');
}, 240_000);
afterAll(() => at.close());

async function hits(who: Acting, query: Record<string, string>): Promise<Hit[]> {
  const answer = await who.must('GET', `/v3/search?${new URLSearchParams(query)}`);
  return answer.hits;
}
const kindsOf = (found: readonly Hit[]) => [...new Set(found.map(({ kind }) => kind))].sort();
const idsOf = (found: readonly Hit[]) => found.map(({ id }) => id);

const everyKind = [
  'API_KEY',
  'CUSTOM_FIELD',
  'CUSTOM_LOGIC',
  'DASHBOARD',
  'DASHBOARD_GROUP',
  'DATA_FLOW',
  'BLOB',
  'DEVICE',
  'DEVICE_CONNECTOR',
  'DEVICE_TYPE',
  'INTEGRATION',
  'OAUTH_CLIENT',
  'PLACE',
  'RULE',
  'TAG',
  'VIEW',
].sort();

test('finds every kind by name, in the workspaces of the caller and nowhere else', async () => {
  const found = await hits(at.owner, { q: 'zebra', limit: '100' });
  expect(kindsOf(found)).toEqual(everyKind);
  for (const id of [own.device, own.rule, second.device, second.dashboard, own.apiKey])
    expect(idsOf(found)).toContain(id);
  for (const id of Object.values(other)) expect(idsOf(found)).not.toContain(id);
  expect(found.find(({ id }) => id === own.device)).toEqual({
    kind: 'DEVICE',
    id: own.device,
    name: 'zebra record',
    workspaceId: own.workspace,
    match: { field: 'name', value: 'zebra record' },
  });
  expect(found.find(({ id }) => id === own.deviceType)?.workspaceId).toBeNull();
});

describe('only what the caller may read', () => {
  test('a key with one permission in one workspace', async () => {
    const key = await at.key({
      permissions: { dashboard: ['read'], rule: ['update'] },
      workspaces: [{ id: second.workspace }],
    });
    expect(idsOf(await hits(key, { q: 'zebra', limit: '100' }))).toEqual([second.dashboard]);
    expect(await hits(key, { q: own.dashboard })).toEqual([]);
    expect(await hits(key, { q: second.rule })).toEqual([]);
    expect(idsOf(await hits(key, { q: second.dashboard }))).toEqual([second.dashboard]);
    const path = `/v3/search?q=zebra&workspaceId=`;
    expect((await key.call('GET', path + own.workspace)).status).toBe(403);
    expect((await key.call('GET', path + other.workspace)).status).toBe(404);
  });

  test('a key does not find credentials, however much it may', async () => {
    const found = await hits(await at.key(), { q: 'zebra', limit: '100' });
    expect(kindsOf(found)).toEqual(
      everyKind.filter((kind) => !['API_KEY', 'OAUTH_CLIENT'].includes(kind)),
    );
  });

  test('a member of one workspace', async () => {
    const where = `/v3/workspaces/${own.workspace}`;
    await addMember(at.base, at.owner, where, 'one@example.org', 'VIEWER');
    const member = await signIn(at.base, 'one@example.org');
    const found = await hits(member, { q: 'zebra', limit: '100' });
    expect(new Set(found.map(({ workspaceId }) => workspaceId))).toEqual(
      new Set([own.workspace, null]),
    );
    expect(kindsOf(found)).not.toContain('API_KEY');
    expect(await hits(member, { q: 'one@example.org' })).toEqual([]);
    expect(await hits(member, { q: second.device })).toEqual([]);
  });

  test('private views of others are not found', async () => {
    const { workspace: workspaceId } = own;
    const draft = { name: 'quagga', kind: 'x', workspaceId };
    const { id } = await at.owner.must('POST', '/v3/views', draft);
    expect(idsOf(await hits(at.owner, { q: 'quagga' }))).toEqual([id]);
    const key = await at.key();
    expect(await hits(key, { q: 'quagga' })).toEqual([]);
    expect(await hits(key, { q: id })).toEqual([]);
  });
});

describe('a pasted id', () => {
  test.each<keyof Fixtures>([
    ...(['device', 'tag', 'deviceType', 'dataFlow', 'rule', 'dashboard', 'workspace'] as const),
    ...(['deviceConnector', 'integration', 'customLogic', 'apiKey', 'view', 'blob'] as const),
  ])('of a %s finds exactly this record', async (kind) => {
    const [hit, ...others] = await hits(at.owner, { q: ` ${own[kind].toUpperCase()} ` });
    expect(hit).toMatchObject({ id: own[kind], match: { field: 'id', value: own[kind] } });
    expect(others).toEqual([]);
  });

  test('a physical id and an EUI, in any spelling', async () => {
    const [byPhysicalId] = await hits(at.owner, { q: own.physicalId.toUpperCase() });
    expect(byPhysicalId).toMatchObject({
      id: own.device,
      match: { field: 'deviceId', value: own.physicalId },
    });
    const { id } = await at.owner.must('POST', '/v3/devices', {
      name: 'okapi',
      deviceId: 'okapi-1',
      workspaceId: own.workspace,
      dataFlowId: own.dataFlow,
      loRaProperties: { deviceEui: '00AABBCCDDEEFF11' },
    });
    for (const q of ['00aabbccddeeff11', '00-AA-BB-CC-DD-EE-FF-11', '00:aa:bb:cc:dd:ee:ff:11'])
      expect(await hits(at.owner, { q })).toMatchObject([{ id, match: { field: 'deviceEui' } }]);
    expect(await hits(at.otherOwner, { q: '00aabbccddeeff11' })).toEqual([]);
  });
});

test('ranks: same name, start of the name, starts of words, inside, other fields, tags', async () => {
  const { owner } = at;
  const tag = await owner.must('POST', '/v3/tags', {
    name: 'Gnu herd',
    workspaceId: own.workspace,
  });
  const named = ['wild gnu', 'wildgnus', 'gnu', 'gnu north', 'antelope'];
  for (const [n, name] of named.entries())
    await owner.must('POST', '/v3/devices', {
      name,
      deviceId: name === 'antelope' ? 'the-gnu-id' : `herd-${n}`,
      workspaceId: own.workspace,
      dataFlowId: own.dataFlow,
      tags: name === 'wildgnus' ? [] : [{ id: tag.id }],
    });
  await owner.must('POST', '/v3/devices', {
    name: 'lion',
    deviceId: 'lion',
    workspaceId: own.workspace,
    dataFlowId: own.dataFlow,
    tags: [{ id: tag.id }],
  });
  const found = await hits(owner, { q: 'GNU', kinds: 'DEVICE' });
  expect(found.map(({ name, match }) => `${name}: ${match.field} ${match.value}`)).toEqual([
    'gnu: name gnu',
    'gnu north: name gnu north',
    'wild gnu: name wild gnu',
    'wildgnus: name wildgnus',
    'antelope: deviceId the-gnu-id',
    'lion: tag Gnu herd',
  ]);
  expect(idsOf(await hits(owner, { q: 'gnu', limit: '2', kinds: 'device,tag' }))).toHaveLength(2);
  expect(await hits(owner, { q: 'north gnu' })).toMatchObject([{ name: 'gnu north' }]);
});

test('members are found by name and address', async () => {
  const of = `/v3/organizations/${at.world.organizationId}`;
  const { userId } = await addMember(at.base, at.owner, of, 'ibex@example.org', 'VIEWER');
  for (const q of ['IBEX@example', userId])
    expect(await hits(at.owner, { q })).toMatchObject([{ kind: 'MEMBER', id: userId }]);
});

test('workspaces narrow what is in them', async () => {
  const query = { q: 'zebra', limit: '100', workspaceId: second.workspace };
  const found = await hits(at.owner, query);
  expect(new Set(found.map(({ workspaceId }) => workspaceId))).toEqual(
    new Set([second.workspace, null]),
  );
  expect(await hits(at.owner, { q: 'Second' })).toMatchObject([
    { kind: 'WORKSPACE', id: second.workspace, workspaceId: second.workspace },
  ]);
});

test.each([
  ['nothing to search', ''],
  ['an unknown kind', 'q=x&kinds=UNICORN'],
  ['too many hits', 'q=x&limit=101'],
  ['a long word', `q=${'x'.repeat(201)}`],
])('%s is refused', async (_, query) => {
  expect((await at.owner.call('GET', `/v3/search?${query}`)).status).toBe(400);
});

test('no character of the words has a meaning', async () => {
  for (const q of ['%', '_', '100%!', '"', "'", '\\', '\u0000', '[', ' * '])
    expect(await hits(at.owner, { q }), q).toEqual([]);
});
