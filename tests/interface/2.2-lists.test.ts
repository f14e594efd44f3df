// Interface 2.2 and contract 0.1: the page envelope, and every form of page, order and list parameter that clients send.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectRefusal, pageEnvelope } from '../world/expectations.ts';
import { startWorld, type TestDevice, type World } from '../world/world.ts';

let world: World;
let devices: TestDevice[];
let tags: { id: string }[];
const names = ['Alpha', 'bravo', 'Charlie'];

beforeAll(async () => {
  world = await startWorld();
  const { workspaceId } = world;
  tags = [];
  for (const name of ['red', 'blue'])
    tags.push(await world.must('POST', '/v3/tags', { workspaceId, name }));
  devices = [];
  for (const [at, name] of names.entries()) {
    devices.push(await world.device({ name, tags: at === 2 ? [] : [{ id: tags[at]!.id }] }));
  }
});
afterAll(() => world.close());

const list = (query: string) => world.call('GET', `/v3/assets?${query}`);
const namesOf = (answer: { body: { content: { name: string }[] } }) =>
  answer.body.content.map(({ name }) => name);

describe('interface 2.2: the envelope', () => {
  for (const [what, query, page] of [
    ['default size 25 for assets', '', { on: 3, total: 3, size: 25 }],
    ['one item a page', '&size=1', { on: 1, total: 3, size: 1 }],
    ['the last page', '&size=1&page=2', { on: 1, total: 3, size: 1, number: 2 }],
    ['a page beyond the last', '&size=2&page=7', { on: 0, total: 3, size: 2, number: 7 }],
    ['size 100', '&size=100', { on: 3, total: 3, size: 100 }],
    ['the largest size', '&size=1000', { on: 3, total: 3, size: 1000 }],
    ['sorted', '&sort=name,asc', { on: 3, total: 3, size: 25, sorted: true }],
    ['nothing found', '&search=nowhere', { on: 0, total: 0, size: 25 }],
  ] as const)
    test(what, async () => {
      const { body } = await list(`workspaceId=${world.workspaceId}${query}`);
      expect(body).toEqual(pageEnvelope({ content: expect.any(Array), ...page }));
      expect(body.content).toHaveLength(page.on);
    });

  for (const path of [
    '/v3/tags',
    '/v3/device-connectors',
    '/v3/output-connectors',
    '/v3/data-flows',
  ])
    test(`contract 0.1: default size 20 elsewhere: ${path}`, async () => {
      const { body } = await world.call('GET', `${path}?workspaceId=${world.workspaceId}`);
      const on = body.content.length;
      expect(body).toEqual(pageEnvelope({ content: expect.any(Array), on, total: on }));
    });

  for (const path of ['/v3/organizations', '/v3/workspaces', '/v3/device-types'])
    test(`contract 0.1: default size 20 elsewhere: ${path}`, async () => {
      const { body } = await world.call('GET', `${path}?organizationId=${world.organizationId}`);
      const on = body.content.length;
      expect(body).toEqual(pageEnvelope({ content: expect.any(Array), on, total: on }));
    });

  for (const query of [
    'page=&size=&sort=',
    'search=',
    'type=&dataFlowId=&connectivity=',
    'state=&online=',
    'assetIds=&tags.ids=[]',
  ])
    test(`contract 0.1: a parameter without a value counts as absent: ${query}`, async () => {
      const { body } = await list(`workspaceId=${world.workspaceId}&${query}`);
      expect(body).toEqual(pageEnvelope({ content: expect.any(Array), on: 3, total: 3, size: 25 }));
    });

  for (const query of ['page=-1', 'page=x', 'size=0', 'size=-5', 'size=1.5', 'size=many'])
    test(`a page that cannot be is refused: ${query}`, async () => {
      const refused = await list(`workspaceId=${world.workspaceId}&${query}`);
      expectRefusal(refused, 400, '40001_INVALID_REQUEST', { path: '/v3/assets' });
    });
});

describe('contract 0.1: sort in both orders, bare, encoded and repeated', () => {
  const up = ['Alpha', 'bravo', 'Charlie'];
  const down = up.toReversed();
  for (const [sort, expected] of [
    ['', up],
    ['sort=name,asc', up],
    ['sort=asc,name', up],
    ['sort=name,desc', down],
    ['sort=desc,name', down],
    ['sort=name%2Cdesc', down],
    ['sort=desc%2Cname', down],
    ['sort=name,DESC', down],
    ['sort=DESC%2Cname', down],
    ['sort=name', up],
    ['sort=created,desc', down],
    ['sort=created', up],
    ['sort=connectivity,asc&sort=name,desc', down],
    ['sort=', up],
  ] as const) {
    test(`GET ${sort || 'without sort: by name'}`, async () => {
      expect(namesOf(await list(`workspaceId=${world.workspaceId}&${sort}`))).toEqual(expected);
    });
    test(`POST ${sort || 'without sort: by name'}`, async () => {
      const answer = await world.call('POST', `/v3/assets/list?${sort}`, {
        workspaceIds: [world.workspaceId],
      });
      expect(namesOf(answer)).toEqual(expected);
    });
  }
});

describe('contract 0.1: lists as [a, b], a,b, repeated and key[]', () => {
  const forms = (key: string, ids: readonly string[]): [string, string][] => [
    [
      'as Java prints a set',
      `${key}=${encodeURIComponent(`[${ids.join(', ')}]`).replaceAll('%20', '+')}`,
    ],
    ['the same with %20', `${key}=${encodeURIComponent(`[${ids.join(', ')}]`)}`],
    ['not encoded', `${key}=[${ids.join(',%20')}]`],
    ['with commas', `${key}=${ids.join(',')}`],
    ['repeated', ids.map((id) => `${key}=${id}`).join('&')],
    ['with brackets', ids.map((id) => `${key}[]=${id}`).join('&')],
    ['with encoded brackets', ids.map((id) => `${key}%5B%5D=${id}`).join('&')],
  ];
  const check = (key: string, at: number, ids: () => string[], expected: string[]) =>
    test(`${key} ${forms(key, ['a', 'b'])[at]![0]}`, async () => {
      const answer = await list(`workspaceId=${world.workspaceId}&${forms(key, ids())[at]![1]}`);
      expect(namesOf(answer)).toEqual(expected);
    });
  for (let at = 0; at < forms('', []).length; at++) {
    check('assetIds', at, () => [devices[2]!.id, devices[0]!.id], ['Alpha', 'Charlie']);
    check('tags.ids', at, () => tags.map(({ id }) => id), ['Alpha', 'bravo']);
  }

  test('only one asset', async () => {
    const answer = await list(`workspaceId=${world.workspaceId}&assetIds=${devices[1]!.id}`);
    expect(namesOf(answer)).toEqual(['bravo']);
  });

  for (let at = 0; at < forms('', []).length; at++)
    test(`workspaceIds ${forms('', [])[at]![0]}`, async () => {
      const other = await world.must('POST', '/v3/workspaces', {
        name: 'Second',
        organizationId: world.organizationId,
      });
      const answer = await list(forms('workspaceIds', [world.workspaceId, other.id])[at]![1]);
      expect(namesOf(answer)).toEqual(names);
      await world.must('DELETE', `/v3/workspaces/${other.id}`);
    });
});
