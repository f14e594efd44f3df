// Contract 7: device types with every field, schemas as strings, scripts with counted versions.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { anyId, anyTime, expectRefusal } from '../world/expectations.ts';
import { startWorld, type World } from '../world/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

const emptyMeta = {
  manufacturer: null,
  url: null,
  author: null,
  properties: null,
  firmwareVersion: null,
  encoding: null,
  connectivity: null,
  availableSensors: null,
  outputTopics: null,
};
const code = 'function consume(event) { emit("sample", { data: event.data }); }';

const draft = (more: object = {}) => ({
  name: 'Meter',
  organizationId: world.organizationId,
  type: 'manual',
  meta: {},
  ...more,
});
const head = (known: object = {}) => ({
  id: anyId('33'),
  name: 'Meter',
  description: null,
  type: 'manual',
  organizationId: world.organizationId,
  version: 0,
  created: anyTime,
  updated: null,
  meta: emptyMeta,
  libraryPath: null,
  pictureUrl: null,
  ...known,
});
const whole = (known: object = {}) => ({
  ...head(),
  schemas: {},
  typedSchemas: null,
  sampleData: null,
  uplinkScript: null,
  downlinkScript: null,
  calculatedKeys: [],
  ...known,
});

describe('contract 7: create, read, list, update, delete', () => {
  test('every field is present, null where nothing was sent', async () => {
    const { status, body } = await world.call('POST', '/v3/device-types', draft());
    expect(status).toBe(201);
    expect(body).toEqual(whole());
    expect(await world.must('GET', `/v3/device-types/${body.id}`)).toEqual(body);
    const gone = await world.call('DELETE', `/v3/device-types/${body.id}`);
    expect({ status: gone.status, body: gone.body }).toEqual({ status: 204, body: '' });
    const path = `/v3/device-types/${body.id}`;
    expectRefusal(await world.call('GET', path), 404, '40400_NOT_FOUND', { path });
  });

  test('everything that a client can send comes back', async () => {
    const meta = {
      manufacturer: 'Maker',
      url: 'https://maker.test',
      author: 'me@maker.test',
      properties: { a: 1 },
      firmwareVersion: 'V1.2.3',
      encoding: 'HEX',
      connectivity: 'LORA',
      availableSensors: ['Temperature'],
      outputTopics: ['default', 'lifecycle'],
    };
    const sent = draft({
      description: 'with everything',
      meta,
      pictureUrl: 'https://maker.test/meter.png',
      sampleData: [{ port: 1 }],
      uplinkScript: { code },
      downlinkScript: { code, version: 7 },
    });
    const body = await world.must('POST', '/v3/device-types', sent);
    expect(body).toEqual(
      whole({ ...sent, uplinkScript: { code, version: 0 }, downlinkScript: { code, version: 0 } }),
    );
  });

  test('a script with null code is not a script; its version counts every change of the code', async () => {
    const made = await world.must(
      'POST',
      '/v3/device-types',
      draft({ downlinkScript: { code: null, version: 0 } }),
    );
    expect(made.downlinkScript).toBeNull();
    const path = `/v3/device-types/${made.id}`;
    const change = async (uplinkScript: unknown) =>
      (await world.must('PUT', path, { uplinkScript })).uplinkScript;
    expect(await change({ code })).toEqual({ code, version: 0 });
    expect(await change({ code, version: 0 })).toEqual({ code, version: 0 });
    expect(await change({ code: `${code} ` })).toEqual({ code: `${code} `, version: 1 });
    expect(await world.must('PUT', path, { name: 'Named' })).toMatchObject({
      uplinkScript: { version: 1 },
      version: 4,
    });
    expect(await change(null)).toBeNull();
  });

  test('contract 0: a GET body sent back as PUT changes nothing but version and updated', async () => {
    const schemas = { default: { type: 'object', properties: {} } };
    const made = await world.must(
      'POST',
      '/v3/device-types',
      draft({ schemas, uplinkScript: { code } }),
    );
    const body = await world.must('PUT', `/v3/device-types/${made.id}`, made);
    expect(body).toEqual({ ...made, version: 1, updated: anyTime });
    const path = `/v3/device-types/${made.id}`;
    expectRefusal(await world.call('PUT', path, made), 409, '40901_STALE_VERSION', { path });
  });

  test('list items leave schemas and scripts out unless details=true', async () => {
    const schemas = { default: '{"type":"object"}' };
    const made = await world.must(
      'POST',
      '/v3/device-types',
      draft({ name: 'Listed', schemas, uplinkScript: { code } }),
    );
    const found = async (query: string) =>
      (
        await world.must(
          'GET',
          `/v3/device-types?organizationId=${world.organizationId}&search=listed${query}`,
        )
      ).content;
    expect(await found('')).toEqual([head({ id: made.id, name: 'Listed' })]);
    expect(await found('&details=false')).toEqual([head({ id: made.id, name: 'Listed' })]);
    expect(await found('&details=true')).toEqual([made]);
    expect(await found('&types=manual')).toHaveLength(1);
    expect(await found('&types=[manual,%20library]')).toHaveLength(1);
    expect(await found('&types=MANUAL')).toHaveLength(1);
    expect(await found('&types=library')).toEqual([]);
  });
});

describe('contract 7: schemas are a map from topic to JSON Schema as a string', () => {
  const schema = {
    $id: 'https://maker.test/default.schema.json',
    $schema: 'http://json-schema.org/draft-07/schema#',
    processingType: 'uplink_decoder',
    topic: 'default',
    title: 'Default',
    type: 'object',
    properties: {
      temperature: {
        title: 'Temperature',
        unit: '°C',
        type: 'number',
        measurementType: 'maker/temperature',
        minimum: 0,
      },
    },
    required: ['temperature'],
  };
  for (const [what, sent] of [
    ['objects are accepted', schema],
    ['texts are accepted and stay as they are', JSON.stringify(schema, null, 2)],
  ] as const)
    test(what, async () => {
      const { schemas } = await world.must(
        'POST',
        '/v3/device-types',
        draft({ schemas: { default: sent } }),
      );
      expect(schemas).toEqual({ default: expect.any(String) });
      expect(JSON.parse(schemas.default)).toEqual(schema);
      if (typeof sent === 'string') expect(schemas.default).toBe(sent);
    });

  for (const sent of ['not json', '[]', '"text"', 7, null, [schema]])
    test(`refused: ${JSON.stringify(sent)}`, async () => {
      const path = '/v3/device-types';
      const refused = await world.call('POST', path, draft({ schemas: { default: sent } }));
      expectRefusal(refused, 400, '40001_INVALID_REQUEST', {
        path,
        message: expect.stringContaining('default'),
      });
    });
});

describe('contract 7: refusals', () => {
  for (const [what, body, status, code2] of [
    ['no name', { name: undefined }, 400, '40001_INVALID_REQUEST'],
    ['type library', { type: 'library' }, 400, '40001_INVALID_REQUEST'],
    [
      'an encoding that does not exist',
      { meta: { encoding: 'BASE64' } },
      400,
      '40001_INVALID_REQUEST',
    ],
    [
      'a script above 1 MiB',
      { uplinkScript: { code: ' '.repeat(1024 * 1024 + 1) } },
      400,
      '40001_INVALID_REQUEST',
    ],
    ['another organization', { organizationId: '2800000000000000' }, 404, '40400_NOT_FOUND'],
  ] as const)
    test(what, async () => {
      const path = '/v3/device-types';
      expectRefusal(await world.call('POST', path, draft(body)), status, code2, { path });
    });

  test('contract 15: a script of 258 kB, the largest of the library, is taken', async () => {
    const large = `${code}\n//${'x'.repeat(258_000)}`;
    const body = await world.must(
      'POST',
      '/v3/device-types',
      draft({ uplinkScript: { code: large } }),
    );
    expect(body.uplinkScript.code).toBe(large);
  });

  test('a type that a data flow uses cannot be deleted: 409 names the flow', async () => {
    const device = await world.device({ name: 'user of it', script: code });
    const path = `/v3/device-types/${device.deviceTypeId}`;
    const refused = await world.call('DELETE', path);
    expectRefusal(refused, 409, '40902_IN_USE', {
      path,
      message: expect.stringContaining('user of it'),
    });
  });
});
