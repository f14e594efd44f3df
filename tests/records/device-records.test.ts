// Device credentials, device configurations, blobs, dashboards and their groups (contract 11, 12, 31, 32).
import { createHash, generateKeyPairSync } from 'node:crypto';
import type { TSchema } from 'typebox';
import { Value } from 'typebox/value';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Body, makeDevice, type RecordsWorld, startRecordsWorld } from './records-world.ts';

let world: RecordsWorld;
let device: Body;

beforeAll(async () => {
  world = await startRecordsWorld();
  device = (await makeDevice(world.admin, world.workspaceId, 'dr-1')).device;
});
afterAll(async () => {
  expect(world.failures).toEqual([]);
  await world.close();
});

const keysOf = (body: object) => Object.keys(body).sort();
const words = (text: string) => text.split(/\s+/).sort();

function fits(method: string, path: string, body: unknown): void {
  const route = world.routes.find((known) => known.method === method && known.path === path)!;
  expect([...Value.Errors(route.response as TSchema, body)]).toEqual([]);
}

const pemOf = (key: { export(options: { type: 'spki'; format: 'pem' }): string | Buffer }) =>
  String(key.export({ type: 'spki', format: 'pem' }));

test('contract 11: a credential is a public key with its SHA-1; escaped line ends are taken', async () => {
  const path = `/v3/device-authorization/devices/${device.id}/credentials`;
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const pem = pemOf(publicKey);
  const draft = {
    akenzaDeviceId: device.id,
    algorithm: 'EC256_PEM',
    publicKey: pem.replaceAll('\n', '\\n'),
  };
  const made = await world.admin('POST', path, {
    ...draft,
    name: 'key',
    expiration: '2030-01-01T00:00:00Z',
  });
  expect(made.status).toBe(201);
  expect(keysOf(made.body)).toEqual(
    words(
      'id name akenzaDeviceId svcDeviceId deviceId algorithm publicKey fingerprint expiration created',
    ),
  );
  const der = publicKey.export({ type: 'spki', format: 'der' });
  expect(made.body).toMatchObject({
    akenzaDeviceId: device.id,
    deviceId: 'dr-1',
    publicKey: pem.trim(),
    fingerprint: createHash('sha1').update(der).digest('hex'),
    expiration: '2030-01-01T00:00:00.000Z',
  });
  fits('POST', '/v3/device-authorization/devices/:id/credentials', made.body);
  expect((await world.admin('POST', path, draft)).body.errorCode).toBe(
    '40904_CREDENTIAL_NOT_UNIQUE',
  );
  const list = (await world.admin('GET', path)).body;
  expect(list).toMatchObject({
    content: [made.body],
    pageable: 'INSTANCE',
    totalElements: 1,
    last: true,
  });
  fits('GET', '/v3/device-authorization/devices/:id/credentials', list);
  expect((await world.admin('DELETE', `${path}/99ffffffffffffff`)).status).toBe(404);
  expect((await world.admin('DELETE', `${path}/${made.body.id}`)).status).toBe(204);
  expect((await world.admin('GET', path)).body).toMatchObject({ content: [], last: true, size: 1 });
});

test('contract 11: keys that cannot be used are refused, private ones above all', async () => {
  const path = `/v3/device-authorization/devices/${device.id}/credentials`;
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const small = pemOf(generateKeyPairSync('rsa', { modulusLength: 1_024 }).publicKey);
  const curve = pemOf(generateKeyPairSync('ec', { namedCurve: 'secp384r1' }).publicKey);
  const secret = String(rsa.privateKey.export({ type: 'pkcs8', format: 'pem' }));
  const cases = [
    ['RSA256_PEM', small],
    ['EC256_PEM', curve],
    ['EC256_PEM', pemOf(rsa.publicKey)],
    ['RSA256_X509_PEM', pemOf(rsa.publicKey)],
    ['RSA256_PEM', secret],
    ['RSA256_PEM', 'no key'],
    ['DSA', pemOf(rsa.publicKey)],
  ];
  for (const [algorithm, publicKey] of cases) {
    const { status, body } = await world.admin('POST', path, { algorithm, publicKey });
    expect([status, JSON.stringify(body).includes('PRIVATE KEY')], algorithm).toEqual([400, false]);
  }
  expect(
    (await world.admin('POST', path, { algorithm: 'RSA256_PEM', publicKey: pemOf(rsa.publicKey) }))
      .status,
  ).toBe(201);
  expect((await world.restricted('GET', path)).status).toBe(403);
  expect((await world.foreign('GET', path)).status).toBe(404);
});

test('contract 12: versions count from 1 and are never given twice', async () => {
  const path = `/v3/devices/${device.id}/configuration`;
  expect((await world.admin('GET', `${path}/latest`)).status).toBe(404);
  const { workspaceId } = world;
  for (const n of [1, 2, 3]) {
    const { status, body } = await world.admin('POST', path, { workspaceId, configuration: { n } });
    expect([status, body.version, body.configuration]).toEqual([201, n, { n }]);
    fits('POST', '/v3/devices/:id/configuration', body);
  }
  expect((await world.admin('GET', `${path}/2`)).body).toMatchObject({
    deviceId: device.id,
    workspaceId,
    version: 2,
  });
  expect((await world.admin('DELETE', `${path}/3`)).status).toBe(204);
  expect((await world.admin('GET', `${path}/3`)).status).toBe(404);
  expect((await world.admin('GET', `${path}/latest`)).body.version).toBe(2);
  expect((await world.admin('POST', path, { configuration: {} })).body.version).toBe(4);
  const list = (await world.admin('GET', `${path}?workspaceId=${workspaceId}`)).body;
  expect(list.content.map((item: Body) => item.version)).toEqual([4, 2, 1]);
  expect(keysOf(list.content[0])).toEqual(
    words('deviceId version workspaceId configuration created'),
  );
  const other = await world.admin('POST', path, {
    workspaceId: world.secondWorkspace,
    configuration: {},
  });
  expect(other.status).toBe(400);
  const pushed = await world.admin('POST', `${path}/push`, {});
  expect([pushed.status, pushed.body.errorCode]).toEqual([409, '40905_CONFIGURATION_NOT_PUSHABLE']);
  expect((await world.restricted('GET', path)).status).toBe(403);
});

const png = Buffer.concat([
  Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
  Buffer.alloc(20_000, 7),
]);

test('contract 31: a file goes in raw or as multipart and comes out byte by byte, with safe headers', async () => {
  const { admin, workspaceId, organizationId } = world;
  const raw = await admin('POST', `/v3/blobs?workspaceId=${workspaceId}&name=x.png`, png, {
    'content-type': 'image/png',
  });
  expect(raw.status).toBe(201);
  expect(keysOf(raw.body)).toEqual(
    words('id name contentType size organizationId workspaceId sha256 created'),
  );
  expect(raw.body).toMatchObject({
    name: 'x.png',
    contentType: 'image/png',
    size: png.length,
    workspaceId,
  });
  fits('POST', '/v3/blobs', raw.body);
  const head = '--b1\r\nContent-Disposition: form-data; name="note"\r\n\r\nhello\r\n--b1\r\n';
  const part =
    'Content-Disposition: form-data; name="file"; filename="größe.csv"\r\nContent-Type: text/csv\r\n\r\n';
  const form = Buffer.from(`${head}${part}a,b\r\n1,2\r\n--b1--\r\n`);
  const type = { 'content-type': 'multipart/form-data; boundary=b1' };
  const posted = await admin('POST', `/v3/blobs?organizationId=${organizationId}`, form, type);
  expect(posted.body).toMatchObject({
    name: 'größe.csv',
    contentType: 'text/csv',
    size: 8,
    workspaceId: null,
  });
  const { body, headers } = await admin('GET', `/v3/blobs/${raw.body.id}/content`);
  expect(Buffer.compare(body, png)).toBe(0);
  expect(headers).toMatchObject({
    'content-type': 'image/png',
    'content-disposition': `inline; filename="x.png"; filename*=UTF-8''x.png`,
    'content-security-policy': "default-src 'none'; sandbox",
    'x-content-type-options': 'nosniff',
  });
  const csv = await admin('GET', `/v3/blobs/${posted.body.id}/content`);
  expect(csv.headers['content-disposition']).toMatch(
    /^attachment; filename="gr__e\.csv"|^attachment; filename="gr_/,
  );
  expect((await world.restricted('GET', `/v3/blobs/${raw.body.id}/content`)).status).toBe(403);
  expect((await world.foreign('GET', `/v3/blobs/${raw.body.id}`)).status).toBe(404);
  expect((await admin('DELETE', `/v3/blobs/${raw.body.id}`)).status).toBe(204);
  expect((await admin('GET', `/v3/blobs/${raw.body.id}/content`)).status).toBe(404);
});

test.each<[string, string, Buffer, number]>([
  ['a page', 'text/html', Buffer.from('<script>'), 415],
  ['a page called a drawing', 'image/svg+xml', Buffer.from('<script>'), 400],
  ['a page called a picture', 'image/png', Buffer.from('<script>'), 400],
  ['no JSON', 'application/json', Buffer.from('{'), 400],
  ['nothing', 'text/plain', Buffer.alloc(0), 400],
  ['no multipart', 'multipart/form-data; boundary=x', Buffer.from('--x\r\n'), 400],
  ['more than 10 MiB', 'application/octet-stream', Buffer.alloc(10 * 1024 * 1024 + 100_000), 413],
])('contract 31: %s is refused', async (_, contentType, content, status) => {
  const path = `/v3/blobs?organizationId=${world.organizationId}`;
  expect((await world.admin('POST', path, content, { 'content-type': contentType })).status).toBe(
    status,
  );
});

test('contract 31: a drawing is only downloaded, and its scripts run nowhere', async () => {
  const { admin, organizationId } = world;
  const svg = Buffer.from('<svg><script>alert(1)</script></svg>');
  const type = { 'content-type': 'image/svg+xml' };
  const { body } = await admin('POST', `/v3/blobs?organizationId=${organizationId}`, svg, type);
  const { headers } = await admin('GET', `/v3/blobs/${body.id}/content`);
  expect(headers).toMatchObject({
    'content-type': 'image/svg+xml',
    'content-disposition': expect.stringMatching(/^attachment/),
    'content-security-policy': "default-src 'none'; sandbox",
    'x-content-type-options': 'nosniff',
  });
});

test('contract 31: files are listed by workspace and by organization, found by name, page by page', async () => {
  const { admin, workspaceId, secondWorkspace, organizationId } = world;
  const text = { 'content-type': 'text/plain' };
  const places = [
    `workspaceId=${workspaceId}`,
    `workspaceId=${secondWorkspace}`,
    `organizationId=${organizationId}`,
  ];
  for (const [n, place] of places.entries())
    await admin('POST', `/v3/blobs?${place}&name=listed-${n}.txt`, Buffer.from('x'), text);
  const names = async (query: string, call = admin) => {
    const { status, body } = await call('GET', `/v3/blobs?${query}`);
    if (status !== 200) return status;
    fits('GET', '/v3/blobs', body);
    return body.content.map((blob: Body) => blob.name);
  };
  expect(await names(`workspaceId=${secondWorkspace}&search=LISTED`)).toEqual(['listed-1.txt']);
  expect(await names(`organizationId=${organizationId}&search=listed&sort=desc,name`)).toEqual([
    'listed-2.txt',
    'listed-1.txt',
    'listed-0.txt',
  ]);
  expect(await names(`organizationId=${organizationId}&search=listed&size=1&page=1`)).toEqual([
    'listed-1.txt',
  ]);
  expect(await names(`workspaceId=${secondWorkspace}&search=listed`, world.restricted)).toEqual([
    'listed-1.txt',
  ]);
  expect(await names(`workspaceId=${workspaceId}`, world.restricted)).toBe(403);
  expect(await names(`organizationId=${organizationId}`, world.restricted)).toBe(403);
  expect(await names(`workspaceId=${workspaceId}`, world.foreign)).toBe(404);
});

test('contract 31: a restricted credential stores files only in its own workspaces', async () => {
  const text = { 'content-type': 'text/plain' };
  const post = (query: string) =>
    world.restricted('POST', `/v3/blobs?${query}`, Buffer.from('x'), text);
  expect((await post(`organizationId=${world.organizationId}`)).status).toBe(403);
  expect((await post(`workspaceId=${world.workspaceId}`)).status).toBe(403);
  expect((await post(`workspaceId=${world.secondWorkspace}`)).status).toBe(201);
  expect((await post('')).status).toBe(400);
});

test('contract 32: dashboards in groups; a group in use is a 409 that names the dashboard', async () => {
  const { admin, workspaceId } = world;
  const group = (await admin('POST', '/v3/dashboard-groups', { workspaceId, name: 'Floor' })).body;
  expect(keysOf(group)).toEqual(
    words('id name description workspaceId organizationId created updated version'),
  );
  const configuration = { widgets: [{ type: 'line' }] };
  const board = await admin('POST', '/v3/dashboards', {
    workspaceId,
    name: 'B',
    groupId: group.id,
    configuration,
  });
  expect(keysOf(board.body)).toEqual(
    words(
      'id name description groupId deviceTypeId placeKind workspaceId organizationId configuration created updated version',
    ),
  );
  fits('POST', '/v3/dashboards', board.body);
  fits('POST', '/v3/dashboard-groups', group);
  const changed = await admin('PUT', `/v3/dashboards/${board.body.id}`, { name: 'C', version: 0 });
  expect(changed.body).toMatchObject({ name: 'C', version: 1, configuration, groupId: group.id });
  expect(
    (await admin('PUT', `/v3/dashboards/${board.body.id}`, { name: 'D', version: 0 })).status,
  ).toBe(409);
  expect(
    (await admin('GET', `/v3/dashboards?workspaceId=${workspaceId}&groupId=${group.id}`)).body
      .content,
  ).toHaveLength(1);
  expect(
    (await admin('GET', `/v3/dashboards?workspaceId=${workspaceId}&groupId=x`)).body.content,
  ).toEqual([]);
  const foreignGroup = { workspaceId: world.secondWorkspace, name: 'E', groupId: group.id };
  expect((await admin('POST', '/v3/dashboards', foreignGroup)).body.errorCode).toBe(
    '40010_UNKNOWN_REFERENCE',
  );
  const inUse = await admin('DELETE', `/v3/dashboard-groups/${group.id}`);
  expect([inUse.status, inUse.body.message]).toEqual([409, expect.stringContaining(board.body.id)]);
  expect((await world.restricted('GET', `/v3/dashboards/${board.body.id}`)).status).toBe(403);
  expect((await admin('DELETE', `/v3/dashboards/${board.body.id}`)).status).toBe(204);
  expect((await admin('DELETE', `/v3/dashboard-groups/${group.id}`)).status).toBe(204);
});
