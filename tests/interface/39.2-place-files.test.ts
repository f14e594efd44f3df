// Contract 39.2: places as a CSV file: import by path or by external id, every problem by its line, and an export that imports as unchanged.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { PlaceReport } from '../../src/inventory/imports/place-file.ts';
import { startWorld, type TestDevice, type World } from '../world/world.ts';

let world: World;
let device: TestDevice;
beforeAll(async () => {
  world = await startWorld();
  device = await world.device({ name: 'sensor' });
});
afterAll(() => world.close());

async function workspace(): Promise<string> {
  const { organizationId } = world;
  return (await world.must('POST', '/v3/workspaces', { name: 'W', organizationId })).id;
}

async function send(workspaceId: string, text: string | Uint8Array, query = '') {
  const path = `/v3/places/import?workspaceId=${workspaceId}${query}`;
  const type = { 'content-type': 'text/csv' };
  if (typeof text === 'string') {
    const answer = await world.call('POST', path, text, type);
    return { status: answer.status, body: answer.body as PlaceReport };
  }
  const headers = { 'x-api-key': world.apiKey, ...type };
  const answer = await fetch(world.base + path, {
    method: 'POST',
    headers,
    body: Buffer.from(text),
  });
  return { status: answer.status, body: (await answer.json()) as PlaceReport };
}

async function exported(workspaceId: string): Promise<string> {
  const answer = await fetch(`${world.base}/v3/places/export?workspaceId=${workspaceId}`, {
    headers: { 'x-api-key': world.apiKey },
  });
  expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8');
  return answer.text();
}

const report = (created: number, updated: number, unchanged: number) => ({
  status: 200,
  body: { created, updated, unchanged, problems: [] },
});

test('by path: missing places above are created, and the same file changes nothing', async () => {
  const id = await workspace();
  const file = [
    'path,kind,latitude,longitude',
    'Site,SITE,47.05,8.31',
    'Site/Floor 1/Room\\/A,ROOM,,',
    '"=Sum/a, ""b""",,,',
  ].join('\n');
  expect(await send(id, file, '&dryRun=true')).toEqual(report(5, 0, 0));
  expect((await world.must('GET', `/v3/places?workspaceId=${id}`)).totalElements).toBe(0);
  expect(await send(id, file)).toEqual(report(5, 0, 0));
  expect(await send(id, file)).toEqual(report(0, 0, 3));
  const text = await exported(id);
  expect(text.split('\r\n')).toEqual([
    'path,externalId,kind,latitude,longitude,devices',
    "'=Sum,,,,,",
    `"'=Sum/a, ""b""",,,,,`,
    'Site,,SITE,47.05,8.31,',
    'Site/Floor 1,,,,,',
    'Site/Floor 1/Room\\/A,,ROOM,,,',
    '',
  ]);
  expect(await send(id, text)).toEqual(report(0, 0, 5));
  // A column that is there sets its field, and an empty cell removes it.
  expect(await send(id, 'path,kind\nSITE,')).toEqual(report(0, 1, 0));
  const { content } = await world.must('GET', `/v3/places?workspaceId=${id}&search=site`);
  expect(content[0]).toMatchObject({ name: 'Site', kind: null, position: { latitude: 47.05 } });
});

test('by external id: in any order, renamed, moved and exchanged', async () => {
  const id = await workspace();
  const head = 'externalId;parentExternalId;name\n';
  expect(await send(id, `${head}r;f;Room\nf;s;Floor\ns;;Site\n`)).toEqual(report(3, 0, 0));
  const paths = async () =>
    (await exported(id))
      .split('\r\n')
      .slice(1, -1)
      .map((line) => line.split(',')[0]);
  expect(await paths()).toEqual(['Site', 'Site/Floor', 'Site/Floor/Room']);
  // The tree upside down: at no moment is a place below itself.
  expect(await send(id, `${head}r;;Room\nf;r;Floor 2\ns;f;Site\n`)).toEqual(report(0, 3, 0));
  expect(await paths()).toEqual(['Room', 'Room/Floor 2', 'Room/Floor 2/Site']);
  const { content } = await world.must('GET', `/v3/places?workspaceId=${id}&search=site`);
  expect(content[0].path.map((step: { name: string }) => step.name)).toEqual([
    'Room',
    'Floor 2',
    'Site',
  ]);
  // External ids are exchanged in one file.
  expect(await send(id, 'path,externalId\nRoom,s\nRoom/Floor 2/Site,r')).toEqual(report(0, 2, 0));
});

test('devices are moved to their places', async () => {
  const id = world.workspaceId;
  const file = `path,devices\nHall,${device.deviceId}\n`;
  expect(await send(id, file)).toEqual(report(1, 0, 0));
  expect((await world.must('GET', `/v3/devices/${device.id}`)).place).toMatchObject({
    path: ['Hall'],
  });
  expect(await send(id, file)).toEqual(report(0, 0, 1));
  expect(await send(id, await exported(id))).toEqual(report(0, 0, 1));
  expect(await send(id, `path,devices\nHall,\nYard,${device.deviceId}`)).toEqual(report(1, 0, 1));
  expect(await send(id, file)).toEqual(report(0, 1, 0));
});

test.each<[string, string | Uint8Array, readonly [number, string | null, string][]]>([
  ['nothing', '', [[1, null, 'The file has no header row']]],
  [
    'no UTF-8',
    new Uint8Array([0x70, 0xff, 0x0a]),
    [[1, null, 'The file is not valid UTF-8. Save it as CSV UTF-8.']],
  ],
  [
    'unknown and missing columns',
    'name,room\nA,B',
    [
      [1, 'room', expect.stringContaining('is not a valid column; valid: externalId') as never],
      [1, 'externalId', expect.stringContaining('is missing') as never],
    ],
  ],
  [
    'half a position',
    'path,latitude\nA,1',
    [[1, null, 'latitude and longitude are only valid together']],
  ],
  [
    'values',
    `path,kind,latitude,longitude,devices\nA//B,,,,\nA,${'k'.repeat(101)},91,east,\nB,,,,gone\n${'n'.repeat(501)},,,,`,
    [
      [2, 'path', 'must be names separated by /, none of them empty'],
      [3, 'kind', 'must be at most 100 characters'],
      [3, 'latitude', 'must be a number from -90 to 90, is 91'],
      [3, 'longitude', 'must be a number from -180 to 180, is east'],
      [4, 'devices', 'no device with device ID gone in this workspace'],
      [5, 'path', 'a name must have 1 to 500 characters'],
    ],
  ],
  [
    'a comma in a name without quotes',
    'path,kind\nA, north,SITE',
    [[2, null, 'has a value in cell 3, which has no column name; there are 2 columns']],
  ],
  ['a place twice', 'path\nA/B\na/b', [[3, 'path', 'names the same place as line 2']]],
  ['13 levels', `path\n${'a/'.repeat(12)}a`, [[2, 'path', 'must have at most 12 levels, has 13']]],
  [
    'a ring and an unknown parent',
    'externalId,parentExternalId,name\na,b,A\nb,a,B\nc,x,C',
    [
      [2, null, 'place A would be below itself, or below 12 others'],
      [3, null, 'place B would be below itself, or below 12 others'],
      [4, 'parentExternalId', 'no place has externalId x'],
    ],
  ],
  [
    'twins',
    'externalId,parentExternalId,name\na,,A\nb,,a',
    [[3, null, 'there would be two places named a in one place']],
  ],
  ['an open quote', 'path\n"A', [[2, null, expect.stringContaining('quote') as never]]],
])('%s: problems by line, and nothing is stored', async (_, file, problems) => {
  const id = await workspace();
  const { status, body } = await send(id, file);
  expect(status).toBe(200);
  const none = { created: 0, updated: 0, unchanged: 0 };
  const found = problems.map(([line, column, message]) => ({ line, column, message }));
  expect(body.problems).toEqual(expect.arrayContaining(found));
  expect(body).toEqual({ ...none, problems: expect.any(Array) });
  expect(body.problems).toHaveLength(found.length);
  expect((await world.must('GET', `/v3/places?workspaceId=${id}`)).totalElements).toBe(0);
});

test('20,000 places in one file, and not one more', async () => {
  const id = await workspace();
  const paths = Array.from({ length: 20_000 }, (_, n) => `F${n % 40}/R${n}`);
  const tooMany = await send(id, `path\n${paths.join('\n')}`);
  expect(tooMany.body.problems).toEqual([
    {
      line: 1,
      column: null,
      message: 'the workspace would have 20040 places; at most 20000 are permitted',
    },
  ]);
  expect(await send(id, `path\n${paths.slice(0, 19_960).join('\n')}`)).toEqual(
    report(20_000, 0, 0),
  );
  expect(await send(id, await exported(id))).toEqual(report(0, 0, 20_000));
}, 180_000);

test('device files have the path of the place', async () => {
  const { workspaceId } = world;
  const read = () => world.must('GET', `/v3/devices/export?workspaceId=${workspaceId}&format=json`);
  const floor = await world.must('POST', '/v3/places', { workspaceId, name: 'Level / 7' });
  await world.must('PUT', `/v3/devices/${device.id}`, { placeId: floor.id });
  const [exported] = await read();
  expect(exported.place).toBe('Level \\/ 7');
  await world.must('PUT', `/v3/devices/${device.id}`, { placeId: null });
  const send = (row: object, more = '') =>
    world.call('POST', `/v3/devices/import?workspaceId=${workspaceId}&mode=upsert${more}`, [
      { deviceId: device.deviceId, ...row },
    ]);
  const unknown = await send({ place: 'Nowhere' }, '&dryRun=true');
  expect(unknown.body.problems).toEqual([
    { line: 1, field: 'place', message: 'place Nowhere does not exist in the workspace' },
  ]);
  expect((await send({ place: 'LEVEL \\/ 7' })).status).toBe(202);
  await expect
    .poll(async () => (await world.must('GET', `/v3/devices/${device.id}`)).placeId)
    .toBe(floor.id);
});

test('a file of another type is refused', async () => {
  const answer = await fetch(`${world.base}/v3/places/import?workspaceId=${world.workspaceId}`, {
    method: 'POST',
    headers: { 'x-api-key': world.apiKey, 'content-type': 'application/json' },
    body: '[]',
  });
  expect([answer.status, await answer.json()]).toMatchObject([
    415,
    { message: 'Content type application/json is not supported. Use text/csv.' },
  ]);
});
