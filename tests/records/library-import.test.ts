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
    files[`${folder}uplink.js`] =
      `function consume(event) { emit('sample', { data: { n: ${n} } }); }`;
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
  expect([status, body]).toEqual([
    200,
    { types: 400, created: 400, updated: 0, unchanged: 0, problems: [], warnings: [] },
  ]);
  expect(performance.now() - startedAt).toBeLessThan(30_000);
  expect((await upload(files)).body).toMatchObject({ created: 0, unchanged: 400 });
  files['acme/type-7/uplink.js'] += ' ';
  expect((await upload(files)).body).toMatchObject({ updated: 1, unchanged: 399 });
  const list = await world.admin(
    'GET',
    '/v3/device-types?types=library&search=type%207&details=true&size=200',
  );
  const type = list.body.content.find((item: Body) => item.name === 'Type 7');
  expect(type).toMatchObject({
    type: 'library',
    libraryPath: 'acme/type-7',
    uplinkScript: { version: 1 },
    version: 1,
  });
  expect(JSON.parse(type.schemas.default).properties.t0).toEqual({
    type: 'number',
    minimum: -273,
    unit: '°C',
    title: 'T0',
  });
  expect(type.meta).toMatchObject({
    properties: { version: '1.0.0', loraDeviceClass: 'A' },
    encoding: 'HEX',
  });
});

const set = (files: Record<string, string>, path: string, change: (document: Body) => void) => {
  const document = JSON.parse(files[path]!);
  change(document);
  files[path] = JSON.stringify(document);
};
const notes = (list: readonly Body[]) =>
  list.map(({ path, message }) => `${path}: ${message}`).sort();

test('an invalid type is reported and stops no other', async () => {
  const files = library(2, 1);
  set(files, 'acme/type-0/meta.json', (meta) => delete meta.author);
  files['acme/type-9/meta.json'] = '{';
  const { body } = await upload(files);
  expect(body.types).toBe(1);
  expect(notes(body.problems)).toEqual([
    'acme/type-0/meta.json: author is required',
    expect.stringContaining('type-9/meta.json: is not valid JSON'),
  ]);
});

test('review behaviour 5: schemas refuse no type; what is odd about them is a warning', async () => {
  const files = Object.fromEntries(
    Object.entries(library(6, 1)).map(([path, text]) => [`odd/${path}`, text]),
  );
  const odd = (n: number, name: string) => `odd/acme/type-${n}/${name}`;
  set(files, odd(0, 'default.schema.json'), (it) => (it.topic = 'other'));
  set(
    files,
    odd(1, 'default.schema.json'),
    (it) => (it.properties.t0.$ref = 'https://elsewhere.example.org/x#/$defs/y'),
  );
  set(files, odd(2, 'meta.json'), (meta) => meta.outputTopics.push('other'));
  set(files, odd(3, 'default.schema.json'), (it) => (it.properties.t0.$ref = '#/properties/t0'));
  files[odd(4, 'lifecycle.schema.json')] = '{';
  files[odd(5, 'downlink.schema.json')] = JSON.stringify({
    type: 'object',
    processingType: 'downlink_encoder',
  });
  files['odd/.idea/type/meta.json'] = '{';
  files['odd/node_modules/x/meta.json'] = '{';
  const { status, body } = await upload(files);
  expect([status, body.types, body.created, body.problems]).toEqual([200, 6, 6, []]);
  expect(notes(body.warnings)).toEqual([
    `${odd(0, 'default.schema.json')}: declares topic "other" but is imported as default, after its file name`,
    expect.stringMatching(
      /type-1.default.schema.json: keeps its references: data model https:..elsewhere.* does not exist/,
    ),
    `${odd(2, 'meta.json')}: the output topic other has no other.schema.json`,
    expect.stringMatching(
      /type-3.default.schema.json: keeps its references: the schema exceeds the nesting depth of 32/,
    ),
    expect.stringMatching(/type-4.lifecycle.schema.json: skipped: it is not valid JSON/),
    `${odd(4, 'meta.json')}: the output topic lifecycle has no lifecycle.schema.json`,
    `${odd(5, 'downlink.schema.json')}: describes downlinks, not samples`,
  ]);
  const list = await world.admin(
    'GET',
    '/v3/device-types?types=library&details=true&size=200&search=type%200',
  );
  const type = list.body.content.find(({ libraryPath }: Body) => libraryPath === 'odd/acme/type-0');
  expect(Object.keys(type.schemas).sort()).toEqual(['default', 'lifecycle']);
});

test('a document that is too long is reported as such, for every purpose', async () => {
  const files = Object.fromEntries(
    Object.entries(library(3, 1)).map(([path, text]) => [`long/${path}`, text]),
  );
  const long = (path: string): void =>
    void (files[path] = files[path]!.padEnd(4 * 1024 * 1024 + 1));
  long('long/models/environment.json');
  long('long/acme/type-0/meta.json');
  long('long/acme/type-1/lifecycle.schema.json');
  const { body } = await upload(files);
  const reason = 'must be at most 4194304 characters';
  expect([body.types, notes(body.problems)]).toEqual([
    2,
    [`long/acme/type-0/meta.json: ${reason}`],
  ]);
  expect(notes(body.warnings)).toEqual([
    expect.stringContaining(
      'type-1/default.schema.json: keeps its references: data model https://models',
    ),
    `long/acme/type-1/lifecycle.schema.json: skipped: it ${reason}`,
    expect.stringContaining(
      'type-1/meta.json: the output topic lifecycle has no lifecycle.schema.json',
    ),
    expect.stringContaining(
      'type-2/default.schema.json: keeps its references: data model https://models',
    ),
    expect.stringContaining(
      'type-2/lifecycle.schema.json: keeps its references: data model https://models',
    ),
    `long/models/environment.json: skipped: it ${reason}`,
  ]);
});

test('review behaviour 5: a type is the same one wherever inside the library the import begins', async () => {
  const inside = library(1, 1);
  const whole = Object.fromEntries(
    Object.entries(inside).map(([path, text]) => [`types/${path}`, text]),
  );
  const twice = async (first: Record<string, string>, second: Record<string, string>) => {
    const into = { organizationId: world.organizationId };
    const named = (files: Record<string, string>) =>
      Object.fromEntries(
        Object.entries(files).map(([path, text]) => [path.replace('acme', 'same'), text]),
      );
    await world.admin('POST', '/v3/device-types/import', { ...into, files: named(first) });
    return (await world.admin('POST', '/v3/device-types/import', { ...into, files: named(second) }))
      .body;
  };
  expect(await twice(inside, whole)).toMatchObject({ created: 0, updated: 1 });
  expect(await twice(whole, inside)).toMatchObject({ created: 0, unchanged: 1 });
});

test('review behaviour 5: a picture up to 1 MiB becomes a blob, once', async () => {
  const png = (bytes: number) =>
    Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(bytes - 8)]).toString(
      'base64',
    );
  const files = Object.fromEntries(
    Object.entries(library(3, 1)).map(([path, text]) => [`pictured/${path}`, text]),
  );
  const send = (pictures: object) =>
    world.admin('POST', '/v3/device-types/import', {
      organizationId: world.organizationId,
      files,
      pictures,
    });
  const pictures = {
    'pictured/acme/type-0/b.png': png(1024 * 1024),
    'pictured/acme/type-1/large.png': png(1024 * 1024 + 1),
    'pictured/acme/type-2/no.png': Buffer.from('<html>').toString('base64'),
  };
  const first = await send(pictures);
  expect(first.body).toMatchObject({ created: 3, problems: [] });
  expect(notes(first.body.warnings)).toEqual([
    'pictured/acme/type-1/large.png: skipped: it must be at most 1048576 bytes',
    'pictured/acme/type-2/no.png: skipped: The content does not match the type image/png',
  ]);
  expect((await send(pictures)).body).toMatchObject({ unchanged: 3 });
  expect((await send({})).body).toMatchObject({ unchanged: 3 });
  const pictureUrl = async () => {
    const list = await world.admin(
      'GET',
      '/v3/device-types?types=library&size=200&search=type%200',
    );
    return list.body.content.find(({ libraryPath }: Body) => libraryPath === 'pictured/acme/type-0')
      .pictureUrl;
  };
  const url: string = await pictureUrl();
  expect((await world.admin('GET', url)).status).toBe(200);
  expect((await send({ 'pictured/acme/type-0/b.png': png(9) })).body).toMatchObject({ updated: 1 });
  expect(await pictureUrl()).not.toBe(url);
  expect((await world.admin('GET', url)).status).toBe(404);
});

test('only who may make device types may import them', async () => {
  const body = { organizationId: world.organizationId, files: {} };
  expect((await world.foreign('POST', '/v3/device-types/import', body)).status).toBe(404);
  expect((await world.restricted('POST', '/v3/device-types/import', body)).status).toBe(403);
});
