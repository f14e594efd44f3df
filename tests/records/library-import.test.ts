// A device type library: hundreds of types in one run, references written out from the same folder (contract 7).
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Body, type RecordsWorld, startRecordsWorld } from './records-world.ts';

let world: RecordsWorld;
beforeAll(async () => {
  world = await startRecordsWorld();
});
afterAll(async () => {
  expect(world.failures).toEqual([]);
  await world.close();
});

const modelUrl = 'https://models.example.org/environment/1.0.0/schema.json';
const model = {
  $id: modelUrl,
  $defs: {
    temperature: { celsius: { $ref: '#/$defs/base', unit: '°C', title: 'Temperature' } },
    base: { type: 'number', minimum: -273 },
  },
};

function library(types: number, keys: number): Record<string, string> {
  const files: Record<string, string> = { 'models/environment.json': JSON.stringify(model) };
  for (let n = 0; n < types; n++) {
    const folder = `acme/type-${n}/`;
    const properties = Object.fromEntries(
      Array.from({ length: keys }, (_, k) => [
        `t${k}`,
        { $ref: `${modelUrl}#/$defs/temperature/celsius`, title: `T${k}` },
      ]),
    );
    files[`${folder}meta.json`] = JSON.stringify({
      name: `Type ${n}`,
      version: '1.0.0',
      manufacturer: 'Acme',
      author: 'a@example.org',
      encoding: 'HEX',
      connectivity: 'LORA',
      loraDeviceClass: 'A',
      outputTopics: ['default', 'lifecycle'],
    });
    files[`${folder}uplink.js`] = `function consume(event) { emit('sample', { data: { n: ${n} } }); }`;
    for (const topic of ['default', 'lifecycle']) {
      files[`${folder}${topic}.schema.json`] = JSON.stringify({
        $id: `https://example.org/${n}/${topic}`,
        type: 'object',
        topic,
        properties,
      });
    }
  }
  return files;
}

const upload = (files: Record<string, string>) =>
  world.admin('POST', '/v3/device-types/import', { organizationId: world.organizationId, files });

test('figures: 400 types with schemas in one run, well under 30 s; the same again changes nothing', async () => {
  const files = library(400, 6);
  const startedAt = performance.now();
  const { status, body } = await upload(files);
  expect([status, body]).toEqual([200, { types: 400, created: 400, updated: 0, unchanged: 0, problems: [] }]);
  expect(performance.now() - startedAt).toBeLessThan(30_000);
  expect((await upload(files)).body).toMatchObject({ created: 0, unchanged: 400 });
  files['acme/type-7/uplink.js'] += ' ';
  expect((await upload(files)).body).toMatchObject({ updated: 1, unchanged: 399 });
  const list = await world.admin('GET', '/v3/device-types?types=library&search=type%207&details=true&size=200');
  const type = list.body.content.find((item: Body) => item.name === 'Type 7');
  expect(type).toMatchObject({ type: 'library', libraryPath: 'acme/type-7', uplinkScript: { version: 1 }, version: 1 });
  expect(JSON.parse(type.schemas.default).properties.t0).toEqual({
    type: 'number',
    minimum: -273,
    unit: '°C',
    title: 'T0',
  });
  expect(type.meta).toMatchObject({ properties: { version: '1.0.0', loraDeviceClass: 'A' }, encoding: 'HEX' });
});

test('what is wrong with a type is told and stops no other', async () => {
  const files = library(5, 1);
  const set = (path: string, change: (document: Body) => void) => {
    const document = JSON.parse(files[path]!);
    change(document);
    files[path] = JSON.stringify(document);
  };
  set('acme/type-0/meta.json', (meta) => delete meta.author);
  set(
    'acme/type-1/default.schema.json',
    (schema) => (schema.properties.t0.$ref = 'https://elsewhere.example.org/x#/$defs/y'),
  );
  set('acme/type-2/meta.json', (meta) => meta.outputTopics.push('other'));
  set('acme/type-3/default.schema.json', (schema) => (schema.properties.t0.$ref = '#/properties/t0'));
  files['acme/type-9/meta.json'] = '{';
  const { body } = await upload(files);
  expect(body.types).toBe(1);
  expect(body.problems.map(({ path, message }: Body) => `${path}: ${message}`).sort()).toEqual([
    'acme/type-0/meta.json: author is missing',
    expect.stringContaining(
      'type-1/meta.json: default.schema.json: there is no data model https://elsewhere.example.org/x',
    ),
    expect.stringContaining('type-2/meta.json: there is no other.schema.json'),
    expect.stringContaining('type-3/meta.json: default.schema.json: the schema nests deeper than 32'),
    expect.stringContaining('type-9/meta.json: is not JSON'),
  ]);
});

test('only who may make device types may import them', async () => {
  const body = { organizationId: world.organizationId, files: {} };
  expect((await world.foreign('POST', '/v3/device-types/import', body)).status).toBe(404);
  expect((await world.restricted('POST', '/v3/device-types/import', body)).status).toBe(403);
});
