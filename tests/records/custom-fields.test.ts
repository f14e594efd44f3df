// Custom fields, the values devices have in them, and lists filtered by them and by LoRa properties (contract 4, 5).
import { Value } from 'typebox/value';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Body, makeDevice, type RecordsWorld, startRecordsWorld } from './records-world.ts';

let world: RecordsWorld;
const fields: Record<string, Body> = {};
let device: Body;

const meta = (draft: object) =>
  world.admin('POST', '/v3/custom-fields/meta', { workspaceId: world.workspaceId, ...draft });

beforeAll(async () => {
  world = await startRecordsWorld();
  for (const type of ['STRING', 'NUMBER', 'DATE', 'JSON', 'GPS_COORDINATES']) {
    const { status, body } = await meta({ name: `my ${type}`, type, description: 'd' });
    expect(status).toBe(201);
    fields[type] = body;
  }
  fields['pick'] = (
    await meta({ name: 'floor', type: 'STRING', selectOptions: ['1st', '2nd'] })
  ).body;
  const values = {
    STRING: 'Größe',
    NUMBER: 4.5,
    DATE: '2026-01-31T09:00:00+01:00',
    JSON: { a: [1] },
    GPS_COORDINATES: { latitude: 47.4, longitude: 8.5 },
  };
  const customFields = Object.entries(values).map(([type, value]) => ({
    fieldMetaId: fields[type].id,
    [type]: value,
  }));
  device = (
    await makeDevice(world.admin, world.workspaceId, 'cf-1', {
      customFields,
      loraProperties: {
        carrier: 'TTN',
        deviceClass: 'A',
        actilityProperties: { deviceProfileId: 'p1' },
      },
    })
  ).device;
});
afterAll(async () => {
  expect(world.failures).toEqual([]);
  await world.close();
});

const keysOf = (body: object) => Object.keys(body).sort();
const put = (customFields: unknown) =>
  world.admin('PUT', `/v3/devices/${device.id}`, { customFields });
const listed = async (query: string) =>
  (
    await world.admin('GET', `/v3/assets?workspaceId=${world.workspaceId}&${query}`)
  ).body.content.map((item: Body) => item.deviceId);

test('contract 5: a custom field has exactly its fields', async () => {
  const { body } = await world.admin('GET', `/v3/custom-fields/meta/${fields['pick'].id}`);
  expect(keysOf(body)).toEqual(
    'created description id name required selectOptions type updated version workspaceId'.split(
      ' ',
    ),
  );
  expect(body).toMatchObject({
    selectOptions: ['1st', '2nd'],
    required: false,
    description: null,
    version: 0,
  });
  expect(fields['NUMBER']).toMatchObject({ selectOptions: null, description: 'd' });
  const list = await world.admin(
    'GET',
    `/v3/custom-fields/meta?workspaceId=${world.workspaceId}&type=NUMBER,DATE`,
  );
  expect(list.body.content.map((item: Body) => item.name)).toEqual(['my DATE', 'my NUMBER']);
  const route = world.routes.find(
    (known) => known.path === '/v3/custom-fields/meta' && known.method === 'GET',
  )!;
  expect([...Value.Errors(route.response!, list.body)]).toEqual([]);
});

test('contract 4: a value is nested with its field, only under the name of its type', async () => {
  const byType = (type: string) =>
    device.customFields.find((item: Body) => item.meta.type === type);
  expect(device.customFields).toHaveLength(5);
  const { id, workspaceId, name, created, updated } = fields['STRING'];
  expect(byType('STRING')).toEqual({
    meta: { id, workspaceId, name, type: 'STRING', created, updated },
    fieldMetaId: id,
    fieldMetaName: name,
    created: expect.any(String),
    updated: null,
    STRING: 'Größe',
  });
  expect(byType('NUMBER').NUMBER).toBe(4.5);
  expect(byType('DATE').DATE).toBe('2026-01-31T08:00:00.000Z');
  expect(byType('JSON').JSON).toEqual({ a: [1] });
  expect(byType('GPS_COORDINATES').GPS_COORDINATES).toEqual({ latitude: 47.4, longitude: 8.5 });
  expect((await world.admin('GET', `/v3/devices/${device.id}`)).body.customFields).toEqual(
    device.customFields,
  );
});

test('an update sets what it names, keeps the rest, clears with null, and takes back what was read', async () => {
  const changed = await put([
    { fieldMetaId: fields['NUMBER'].id, NUMBER: 5 },
    { meta: { id: fields['pick'].id }, STRING: '1st' },
  ]);
  expect(changed.body.customFields).toHaveLength(6);
  const echoed = await put(changed.body.customFields);
  expect(echoed.body.customFields.map((item: Body) => item.NUMBER ?? item.STRING ?? null)).toEqual(
    changed.body.customFields.map((item: Body) => item.NUMBER ?? item.STRING ?? null),
  );
  // Old clients send all five keys, the unused ones null or empty.
  const cleared = await put([
    { fieldMetaId: fields['pick'].id, STRING: null, NUMBER: null, JSON: {}, DATE: null },
  ]);
  expect(cleared.body.customFields).toHaveLength(5);
});

test.each<[string, string, unknown]>([
  ['NUMBER', 'NUMBER', '5'],
  ['STRING', 'STRING', 5],
  ['DATE', 'DATE', 'soon'],
  ['GPS_COORDINATES', 'GPS_COORDINATES', { latitude: 91, longitude: 0 }],
  ['pick', 'STRING', '3rd'],
])('a %s field refuses %s of %j', async (field, type, value) => {
  const { status, body } = await put([{ fieldMetaId: fields[field].id, [type]: value }]);
  expect([status, body.errorCode]).toEqual([400, '40014_CUSTOM_FIELD_INVALID']);
});

test('an unknown field, or one of another workspace, is a 400', async () => {
  const other = await world.admin('POST', '/v3/custom-fields/meta', {
    workspaceId: world.secondWorkspace,
    name: 'x',
    type: 'STRING',
  });
  for (const fieldMetaId of ['69ffffffffffffff', other.body.id]) {
    expect((await put([{ fieldMetaId, STRING: 'x' }])).body.errorCode).toBe(
      '40010_UNKNOWN_REFERENCE',
    );
  }
});

test('a required field is needed by new devices and cannot be cleared', async () => {
  const { body: required } = await meta({ name: 'must', type: 'STRING', required: true });
  expect((await makeDevice(world.admin, world.workspaceId, 'cf-2')).status).toBe(400);
  const customFields = [{ fieldMetaId: required.id, STRING: 'here' }];
  const made = await makeDevice(world.admin, world.workspaceId, 'cf-3', { customFields });
  expect(made.status).toBe(201);
  const clearing = { customFields: [{ fieldMetaId: required.id, STRING: null }] };
  expect((await world.admin('PUT', `/v3/devices/${made.device.id}`, clearing)).status).toBe(400);
  expect(
    (await world.admin('PUT', `/v3/devices/${made.device.id}`, { name: 'other' })).status,
  ).toBe(200);
  const path = `/v3/custom-fields/meta/${required.id}`;
  expect((await world.admin('PUT', path, { required: false })).body).toMatchObject({
    required: false,
    version: 1,
  });
  const inUse = await world.admin('DELETE', path);
  expect([inUse.status, inUse.body.message]).toEqual([
    409,
    expect.stringContaining(made.device.id),
  ]);
  expect((await world.admin('DELETE', `${path}?force=true`)).status).toBe(204);
  expect((await world.admin('GET', `/v3/devices/${made.device.id}`)).body.customFields).toEqual([]);
});

test('names are unique within the workspace, types fixed, options only for strings', async () => {
  expect((await meta({ name: 'floor', type: 'NUMBER' })).body.errorCode).toBe(
    '40903_NAME_NOT_UNIQUE',
  );
  const path = `/v3/custom-fields/meta/${fields['pick'].id}`;
  expect((await world.admin('PUT', path, { type: 'NUMBER' })).status).toBe(400);
  expect(
    (await world.admin('PUT', path, { type: 'STRING', selectOptions: ['1st', '2nd', '3rd'] }))
      .status,
  ).toBe(200);
  expect((await meta({ name: 'x', type: 'NUMBER', selectOptions: ['1'] })).status).toBe(400);
  expect((await meta({ name: 'x', type: 'BOOLEAN' })).status).toBe(400);
});

test('rows of others: 404 and 403', async () => {
  const path = `/v3/custom-fields/meta/${fields['STRING'].id}`;
  for (const [method, body] of [['GET'], ['PUT', { name: 'x' }], ['DELETE']] as const) {
    expect((await world.foreign(method, path, body)).status).toBe(404);
    expect((await world.restricted(method, path, body)).status).toBe(403);
  }
});

test.each([
  ['loraProperties.carrier=ttn', 1],
  ['loraProperties.carrier=LORIOT', 0],
  ['loraProperties.actilityProperties.deviceProfileId=p1&loraProperties.deviceClass=A', 1],
  ['search=CF-1&connectivity=HTTP', 1],
])('contract 4: %s finds %i', async (query, count) =>
  expect(await listed(query)).toHaveLength(count),
);

test('contract 4: customFields.ids finds devices that have a value', async () => {
  expect(await listed(`customFields.ids=%5B${fields['NUMBER'].id}%2C%20x%5D`)).toEqual(['cf-1']);
  expect(await listed('customFields.ids=x')).toEqual([]);
});

test('interface 4.2: a filter form can be built from the filter options only', async () => {
  const { admin, workspaceId, organizationId } = world;
  const { status, body } = await admin(
    'GET',
    `/v3/assets/filter-options-v2?organizationId=${organizationId}`,
  );
  expect(status).toBe(200);
  const posted = await admin('POST', '/v3/assets/filter-options-v2', {
    organizationId,
    workspaceIds: [workspaceId],
  });
  expect(posted.body.filterOptions.length).toBeLessThan(body.filterOptions.length);
  const route = world.routes.find((known) => known.path.endsWith('filter-options-v2'))!;
  expect([...Value.Errors(route.response!, body)]).toEqual([]);
  // One filter per option and predicate, made of nothing but the options, is understood.
  const samples: Record<string, unknown> = {
    NUMBER: 1,
    DATE: 0,
    BOOLEAN: true,
    STRING: 'x',
    ENUM: 'x',
  };
  let tried = 0;
  for (const { field, customFieldName, filterTypes, values } of body.filterOptions) {
    const type = filterTypes.find((name: string) => samples[name] !== undefined);
    const value = values?.[0]?.value ?? samples[type];
    for (const predicate of new Set<string>(
      filterTypes.flatMap((name: string) => body.definitions.predicates[name]),
    )) {
      const filled = Array.from({ length: body.definitions.values[predicate].min }, () => value);
      const expression = { operator: 'FILTER', field, customFieldName, predicate, values: filled };
      const answer = await admin('POST', '/v3/assets/list', { organizationId, expression });
      expect(answer.status, JSON.stringify([expression, answer.body.message])).toBe(200);
      tried += 1;
    }
  }
  expect(tried).toBeGreaterThan(300);
  expect(body.definitions).toMatchObject({ operators: ['AND', 'OR'], maxDepth: 3 });
});
