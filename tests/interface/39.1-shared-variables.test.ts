// Contract 39.1: a link to a dashboard fixes the values of its variables, and its token reads what these name, and no other device.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type AccessWorld,
  type Acting,
  actingBy,
  startAccessWorld,
} from '../access/access-world.ts';

let at: AccessWorld;
let workspaceId: string;
/** Of the workspace by name. */
const devices = new Map<string, string>();
const idOf = (name: string) => devices.get(name) ?? '';
let floor: string;
let room: string;
let cellar: string;
let tag: string;
let field: string;
const day = { from: '2026-03-01T00:00:00Z', to: '2026-03-02T00:00:00Z' };

async function device(name: string, more: object = {}): Promise<void> {
  devices.set(name, (await at.world.device({ name, ...more })).id);
}

beforeAll(async () => {
  at = await startAccessWorld();
  ({ workspaceId } = at.world);
  const place = async (name: string, more: object = {}) =>
    (await at.owner.must('POST', '/v3/places', { workspaceId, name, ...more })).id as string;
  floor = await place('Floor');
  room = await place('Room', { parentId: floor });
  cellar = await place('Cellar');
  tag = (await at.owner.must('POST', '/v3/tags', { workspaceId, name: 'Pumps' })).id;
  field = (
    await at.owner.must('POST', '/v3/custom-fields/meta', {
      workspaceId,
      name: 'Line',
      type: 'STRING',
    })
  ).id;
  for (const name of ['chosen', 'other', 'on floor', 'in room', 'in cellar']) await device(name);
  await device('tagged', { tags: [{ id: tag }] });
  for (const [name, value] of [
    ['line A', 'A'],
    ['line B', 'B'],
  ] as const) {
    await device(name);
    const customFields = [{ fieldMetaId: field, STRING: value }];
    await at.owner.must('PUT', `/v3/devices/${idOf(name)}`, { customFields });
  }
  for (const [id, name] of [
    [floor, 'on floor'],
    [room, 'in room'],
    [cellar, 'in cellar'],
  ] as const)
    await at.owner.must('POST', `/v3/places/${id}/devices`, { add: [idOf(name)] });
  await at.world.must(
    'POST',
    '/v3/samples/bulk',
    [...devices.values()].map((deviceId) => ({
      deviceId,
      timestamp: '2026-03-01T10:00:00Z',
      data: { t: 1, secret: 2, column: 3, mark: 4 },
    })),
  );
});
afterAll(() => at.close());

const tile = (id: string, more: object) => ({
  ...{ id, kind: 'line', x: 0, y: 0, width: 4, height: 4, ...more },
});
const lines = (...series: object[]) => tile('lines', { series });
const variable = (name: string, kind: string, more: object = {}) => ({ name, kind, ...more });

async function create(variables: object[], tiles: object[]): Promise<string> {
  const configuration = { schema: 'heliograph-dashboard', version: 2, variables, tiles };
  const { id } = await at.owner.must('POST', '/v3/dashboards', {
    name: 'Shared',
    workspaceId,
    configuration,
  });
  return id;
}

const share = (id: string, variables?: object) =>
  at.owner.call('POST', `/v3/dashboards/${id}/share`, variables && { variables });

async function readerOf(id: string, variables?: object): Promise<Acting> {
  const { status, body } = await share(id, variables);
  expect(body).toMatchObject({ token: expect.stringMatching(/^share_/) });
  expect(status).toBe(201);
  return actingBy(at.base, { authorization: `Bearer ${body.token}` });
}

/** Names of the devices of which the token reads the key, asked for every device there is. */
async function readable(reader: Acting, dataKey = 't'): Promise<string[]> {
  const names: string[] = [];
  for (const [name, id] of devices) {
    const body = { topic: 'default', dataKey, accumulator: 'MAX', interval: day };
    const answer = await reader.call('POST', `/v3/devices/${id}/query/raw/kpi`, body);
    expect([200, 403], name).toContain(answer.status);
    if (answer.status === 200) names.push(name);
  }
  return names;
}

describe.each<[kind: string, source: object, value: () => unknown, expected: readonly string[]]>([
  ['DEVICE', {}, () => idOf('chosen'), ['chosen']],
  ['DEVICE', { multiple: true }, () => [idOf('chosen'), idOf('other')], ['chosen', 'other']],
  ['PLACE', {}, () => floor, ['on floor', 'in room']],
  ['PLACE', {}, () => room, ['in room']],
  ['CUSTOM_FIELD', { field: true }, () => 'A', ['line A']],
  ['TAG', {}, () => tag, ['tagged']],
])(
  'a variable of kind %s %j',
  (kind, { field: hasField, ...more }: { field?: true }, value, expected) => {
    let reader: Acting;
    beforeAll(async () => {
      const declared = { ...more, ...(hasField && { fieldMetaId: field }) };
      const id = await create(
        [variable('it', kind, declared)],
        [lines({ variable: 'it', dataKey: 't' })],
      );
      reader = await readerOf(id, { it: value() });
    });

    test('reads the devices that the value names, and the key of the series', async () => {
      expect(await readable(reader)).toEqual(expected);
      expect(await readable(reader, 'secret')).toEqual([]);
    });

    test('sends and changes nothing', async () => {
      for (const [method, path] of [
        ['POST', `/v3/devices/${idOf('chosen')}/downlink`],
        ['PUT', `/v3/devices/${idOf('chosen')}`],
        ['POST', '/v3/samples/bulk'],
        ['GET', `/v3/annotations?workspaceId=${workspaceId}`],
      ] as const)
        expect(
          (await reader.call(method, path, method === 'GET' ? undefined : {})).status,
          path,
        ).toBe(403);
    });
  },
);

test('the devices of a tag and of a custom field value are listed, and those of no other filter', async () => {
  const id = await create(
    [variable('tag', 'TAG'), variable('line', 'CUSTOM_FIELD', { fieldMetaId: field })],
    [lines({ variable: 'tag', dataKey: 't' }, { variable: 'line', dataKey: 't' })],
  );
  const reader = await readerOf(id, { tag, line: 'A' });
  const latest = (body: object) => reader.call('POST', '/v3/devices/query/latest', body);
  const ofLine = { field: 'customFields', predicate: 'EQUALS', customFieldName: field };
  for (const [body, name] of [
    [{ tagId: tag }, 'tagged'],
    [{ workspaceId, expression: { values: ['A'], ...ofLine } }, 'line A'],
  ] as const) {
    const { status, body: page } = await latest(body);
    expect([status, page.totalElements]).toEqual([200, 1]);
    expect(page.content).toMatchObject([{ deviceId: idOf(name), samples: [{ data: { t: 1 } }] }]);
    expect(JSON.stringify(page)).not.toContain('secret');
  }
  for (const body of [
    { workspaceId },
    { workspaceId, expression: { ...ofLine, values: ['B'] } },
    { workspaceId, expression: { ...ofLine, predicate: 'NOT_EQUALS', values: ['A'] } },
    { workspaceId, expression: { field: 'name', predicate: 'EQUALS', values: ['line A'] } },
    { tagId: tag, expression: { field: 'name', predicate: 'EQUALS', values: ['tagged'] } },
    { workspaceId: at.secondWorkspaceId, expression: { ...ofLine, values: ['A'] } },
  ])
    expect((await latest(body)).status, JSON.stringify(body)).toBe(403);
});

test('a place is looked up for each request', async () => {
  const id = await create([], [lines({ placeId: floor, dataKey: 't' })]);
  const reader = await readerOf(id);
  await device('comes later');
  expect(await readable(reader)).toEqual(['on floor', 'in room']);
  const devicesPath = `/v3/places/${room}/devices`;
  await at.owner.must('POST', devicesPath, { add: [idOf('comes later')] });
  expect(await readable(reader)).toEqual(['on floor', 'in room', 'comes later']);
  const latest = (placeId: string) =>
    reader.call('POST', '/v3/devices/query/latest', { placeId, keys: ['t', 'secret'], size: 2 });
  const { body } = await latest(floor);
  expect(body).toMatchObject({ totalElements: 3, size: 2 });
  expect(JSON.stringify(body)).not.toContain('secret');
  expect((await latest(cellar)).status).toBe(403);
  await at.owner.must('POST', devicesPath, { remove: [idOf('comes later')] });
  expect(await readable(reader)).toEqual(['on floor', 'in room']);
  devices.delete('comes later');
});

test('the values of a tag or a place as a whole, and of no other', async () => {
  const id = await create(
    [variable('tag', 'TAG'), variable('place', 'PLACE')],
    [lines({ variable: 'tag', dataKey: 't' }, { variable: 'place', dataKey: 't' })],
  );
  const reader = await readerOf(id, { tag, place: floor });
  const kpi = { topic: 'default', dataKey: 't', accumulator: 'SUM', interval: day };
  const sum = async (path: string, dataKey = 't') =>
    (await reader.call('POST', `${path}/query/raw/accumulated-kpi`, { ...kpi, dataKey })).status;
  expect(await sum(`/v3/tags/${tag}`)).toBe(200);
  expect(await sum(`/v3/places/${floor}`)).toBe(200);
  expect(await sum(`/v3/places/${floor}`, 'secret')).toBe(403);
  expect(await sum(`/v3/places/${cellar}`)).toBe(403);
});

test('tables of devices, plans and controls: columns, marks and pictures, nothing that sends', async () => {
  const blobOf = async (name: string) =>
    (
      await at.owner.call('POST', `/v3/blobs?workspaceId=${workspaceId}&name=${name}`, name, {
        'content-type': 'text/plain',
      })
    ).body.id;
  const [blobId, otherBlob] = [await blobOf('plan'), await blobOf('other')];
  const mark = { deviceId: idOf('other'), dataKey: 'mark', x: 0, y: 0 };
  const downlink = { deviceId: idOf('tagged'), dataKey: 'secret' };
  const id = await create(
    [variable('one', 'DEVICE', { default: idOf('chosen') })],
    [
      tile('a', { kind: 'devices', variable: 'one', columns: [{ dataKey: 'column' }] }),
      tile('b', { kind: 'plan', blobId, marks: [mark] }),
      tile('c', { kind: 'control', variable: 'one', label: 'On', downlink }),
    ],
  );
  const reader = await readerOf(id);
  expect(await readable(reader, 'column')).toEqual(['chosen']);
  expect(await readable(reader, 'mark')).toEqual(['other']);
  expect(await readable(reader, 'secret')).toEqual([]);
  const command = await reader.call('POST', `/v3/devices/${idOf('chosen')}/downlink`, {});
  expect(command.status).toBe(403);
  expect((await reader.call('GET', `/v3/blobs/${blobId}/content`)).status).toBe(200);
  expect((await reader.call('GET', `/v3/blobs/${otherBlob}/content`)).status).toBe(403);
  expect((await reader.call('GET', `/v3/blobs/${blobId}`)).status).toBe(403);
});

test('the values stay as they were fixed, and are listed', async () => {
  const variables = [
    variable('one', 'DEVICE', { default: idOf('other') }),
    variable('text', 'TEXT'),
  ];
  const tiles = [lines({ variable: 'one', dataKey: 't' })];
  const id = await create(variables, tiles);
  const { body } = await share(id, { text: 'Hall' });
  const fixed = { one: [idOf('other')], text: ['Hall'] };
  expect(body.url).toContain(`/shared/dashboards/${id}?var.one=${idOf('other')}&var.text=Hall#`);
  const reader = actingBy(at.base, { authorization: `Bearer ${body.token}` });
  await at.owner.must('PUT', `/v3/dashboards/${id}`, {
    configuration: {
      schema: 'heliograph-dashboard',
      version: 2,
      variables: [
        variable('one', 'DEVICE', { default: idOf('chosen') }),
        variable('two', 'DEVICE'),
      ],
      tiles: [...tiles, { ...lines({ variable: 'two', dataKey: 't' }), id: 'two' }],
    },
  });
  expect(await readable(reader)).toEqual(['other']);
  const { shares } = await at.owner.must('GET', `/v3/dashboards/${id}/shares`);
  expect(shares).toMatchObject([{ variables: fixed }]);
});

test('a link that would leave a variable open, or name what is not there, is refused', async () => {
  const id = await create(
    [variable('device', 'DEVICE'), variable('note', 'TEXT', { default: '-' })],
    [lines({ variable: 'device', dataKey: 't' })],
  );
  const elsewhere = await at.world.device({ workspaceId: at.secondWorkspaceId });
  for (const [variables, reason] of [
    [undefined, 'body variables.device: is required, because the variable has no default'],
    [{ note: 'x' }, 'body variables.device: is required'],
    [{ device: idOf('chosen'), devices: 'x' }, 'body variables.devices: no variable has this name'],
    [{ device: [idOf('chosen'), idOf('other')] }, 'body variables.device: must be one value'],
    [{ device: tag }, `body variables.device: no device with id ${tag}`],
    [{ device: elsewhere.id }, `body variables.device: no device with id ${elsewhere.id}`],
    [{ device: [] }, 'variables'],
  ] as const) {
    const answer = await share(id, variables);
    expect(answer, JSON.stringify(variables)).toMatchObject({ status: 400 });
    expect(answer.body.message).toContain(reason);
  }
  expect((await at.owner.must('GET', `/v3/dashboards/${id}/shares`)).shares).toEqual([]);
});
