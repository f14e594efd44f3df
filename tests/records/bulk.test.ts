// Work on many devices as operations: progress, the outcome of every item, and files in and out (contract 4, 19).
import type { TSchema } from 'typebox';
import { Value } from 'typebox/value';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BulkRequests } from '../../src/inventory/operations/bulk.ts';
import { runOperationChunk } from '../../src/inventory/operations/operations.ts';
import { ownerIn } from '../world/restricted-keys.ts';
import { type Body, makeDevice, type RecordsWorld, startRecordsWorld } from './records-world.ts';

let world: RecordsWorld;
let flow: Body;
let tag: Body;
let floor: Body;
let count = 0;

beforeAll(async () => {
  world = await startRecordsWorld();
  const { admin, workspaceId } = world;
  ({ flow } = await makeDevice(admin, workspaceId, 'first'));
  tag = (await admin('POST', '/v3/tags', { workspaceId, name: 'Roof; "east"' })).body;
  floor = (
    await admin('POST', '/v3/custom-fields/meta', { workspaceId, name: 'floor', type: 'NUMBER' })
  ).body;
});
afterAll(async () => {
  expect(world.failures).toEqual([]);
  await world.close();
});

async function run(kind: string, body: object): Promise<Body> {
  const accepted = await world.admin('POST', `/v3/devices/bulk/${kind}`, {
    workspaceId: world.workspaceId,
    ...body,
  });
  expect(accepted.status, JSON.stringify(accepted.body)).toBe(202);
  expect(accepted.body).toMatchObject({ actionsCompleted: 0, succeeded: null, completed: null });
  await world.operations.idle();
  const { body: ended } = await world.admin('GET', `/v3/operations/${accepted.body.id}`);
  const route = world.routes.find((known) => known.path === '/v3/operations/:id')!;
  expect([...Value.Errors(route.response as TSchema, ended)]).toEqual([]);
  return ended;
}

const draft = (deviceId: string, more: object = {}) => ({
  name: `N ${deviceId}`,
  deviceId,
  dataFlowId: flow.id,
  ...more,
});
async function some(howMany: number): Promise<string[]> {
  const ids = Array.from({ length: howMany }, () => `b-${count++}`);
  const { actions } = await run('create', { devices: ids.map((id) => draft(id)) });
  return actions.map((action: Body) => action.data.id);
}
const read = async (id: string) => (await world.admin('GET', `/v3/devices/${id}`)).body;

test('contract 19: an operation reports every device, and a rejected one stops no other', async () => {
  const good = draft('c-1', {
    tags: [{ id: tag.id }],
    customFields: [{ fieldMetaId: floor.id, NUMBER: 3 }],
  });
  const devices = [
    good,
    draft('c-1'),
    draft('c-2', { dataFlowId: 'x' }),
    draft('c-3', { tags: [{ id: 'x' }] }),
    draft('c-4'),
  ];
  const ended = await run('create', { devices });
  expect(Object.keys(ended).sort()).toEqual(
    'actions actionsCompleted actionsFailed canceled completed creator id started succeeded totalActionsRequired type workspaceId'.split(
      ' ',
    ),
  );
  expect(ended).toMatchObject({
    type: 'BULK_CREATE',
    totalActionsRequired: 5,
    actionsCompleted: 5,
    actionsFailed: 3,
    succeeded: false,
    actions: [
      {
        type: 'CREATE',
        state: 'SUCCEEDED',
        data: { name: 'N c-1', deviceId: 'c-1', id: expect.any(String) },
      },
      {
        state: 'FAILED',
        data: {
          deviceId: 'c-1',
          errorCode: '40900_DEVICE_ID_NOT_UNIQUE',
          error: expect.stringContaining('c-1'),
        },
      },
      { state: 'FAILED', data: { errorCode: '40010_UNKNOWN_REFERENCE' } },
      { state: 'FAILED', data: { errorCode: '40010_UNKNOWN_REFERENCE' } },
      { state: 'SUCCEEDED' },
    ],
  });
  const made = await read(ended.actions[0].data.id);
  expect(made).toMatchObject({ tags: [{ id: tag.id }], customFields: [{ NUMBER: 3 }] });
  // A refused item leaves nothing behind, not even a device without its tags.
  expect((await world.admin('GET', '/v3/devices/by-device-id?deviceId=c-3')).status).toBe(404);
  const failed = await world.admin('GET', `/v3/operations/${ended.id}?actions=failed`);
  expect(failed.body.actions).toHaveLength(3);
  const list = await world.admin('GET', `/v3/operations?workspaceId=${world.workspaceId}`);
  expect(list.body.content[0]).toMatchObject({ id: ended.id, actions: [], actionsCompleted: 5 });
});

test('speed 4: an answer about an operation has its first 100 actions, and pages have all of them', async () => {
  // Every fourth one names a device that is there already.
  const ids = Array.from({ length: 450 }, (_, i) => `p-${i % 4 === 3 ? i - 1 : i}`);
  const ended = await run('create', { devices: ids.map((id) => draft(id)) });
  const [total, failedCount] = [450, 112];
  const path = `/v3/operations/${ended.id}`;
  const get = async (query: string) => (await world.admin('GET', `${path}${query}`)).body;
  const { actions: all, ...counts } = await get('?actions=all');
  expect(all).toHaveLength(total);
  expect(counts).toMatchObject({ totalActionsRequired: total, actionsFailed: failedCount });
  const failed = all.filter(({ state }: Body) => state === 'FAILED');
  expect(failed).toHaveLength(failedCount);
  expect(await get('')).toEqual({ ...counts, actions: all.slice(0, 100) });
  expect(await get('?actions=failed')).toEqual({ ...counts, actions: failed.slice(0, 100) });
  expect(await get('?actions=none')).toEqual({ ...counts, actions: [] });
  const wanted: Record<string, Body[]> = {
    '': all,
    '&state=FAILED': failed,
    '&state=SUCCEEDED': all.filter(({ state }: Body) => state === 'SUCCEEDED'),
  };
  for (const [state, expected] of Object.entries(wanted)) {
    const found: Body[] = [];
    for (let page = 0; ; page++) {
      const answer = await get(`/actions?page=${page}&size=70${state}`);
      expect(answer).toMatchObject({ number: page, totalElements: expected.length });
      found.push(...answer.content);
      if (answer.last) break;
    }
    expect(found).toEqual(expected);
    expect((await get(`/actions?page=99&size=70${state}`)).content).toEqual([]);
  }
  const route = world.routes.find((known) => known.path === '/v3/operations/:id/actions')!;
  expect([...Value.Errors(route.response as TSchema, await get('/actions'))]).toEqual([]);
  expect((await world.foreign('GET', `${path}/actions`)).status).toBe(404);
  expect((await world.admin('GET', `${path}/actions?state=PENDING`)).status).toBe(400);
});

test('a batch of an operation has fewer items when they, or their devices, are large', async () => {
  const { records, workspaceId, organizationId } = world;
  const owner = ownerIn(organizationId);
  /** Items done in the time of one batch, and all of them afterwards. */
  const firstBatch = async (accepted: Promise<{ id: string }>) => {
    const { id } = await accepted;
    await runOperationChunk(records, id, () => true);
    const path = `/v3/operations/${id}`;
    const { actionsCompleted } = (await world.admin('GET', path)).body;
    await world.operations.resume();
    await world.operations.idle();
    expect((await world.admin('GET', path)).body.succeeded).toBe(true);
    return actionsCompleted;
  };
  const large = { text: 'x'.repeat(100_000) };
  const drafts = Array.from({ length: 70 }, (_, n) => draft(`size-${n}`));
  expect(
    await firstBatch(new BulkRequests(records).create(owner, { workspaceId, devices: drafts })),
  ).toBe(64);
  const heavy = Array.from({ length: 5 }, (_, n) => draft(`large-${n}`, { properties: large }));
  expect(
    await firstBatch(new BulkRequests(records).create(owner, { workspaceId, devices: heavy })),
  ).toBe(2);
  const { content } = (
    await world.admin('GET', `/v3/assets?workspaceId=${workspaceId}&search=large-&size=10`)
  ).body;
  const deviceIds = content.map((device: Body) => device.id);
  const of = { workspaceId, deviceIds };
  expect(
    await firstBatch(new BulkRequests(records).tag(owner, { ...of, addTagIds: [tag.id] })),
  ).toBe(2);
  const changes = { properties: {}, description: 'small now' };
  expect(await firstBatch(new BulkRequests(records).update(owner, { ...of, changes }))).toBe(2);
  expect(await firstBatch(new BulkRequests(records).remove(owner, of))).toBe(5);
});

test('update: each device its own changes, or the same for all that a filter finds', async () => {
  const [one, two] = await some(2);
  const own = await run('update', {
    devices: [{ id: one, name: 'one' }, { id: two, name: 'two' }, { id: '02ff' }],
  });
  expect(own).toMatchObject({ type: 'BULK_UPDATE', actionsFailed: 1 });
  expect(own.actions[2].data).toMatchObject({ id: '02ff', errorCode: '40400_NOT_FOUND' });
  const expression = { field: 'id', predicate: 'IN', values: [one, two] };
  const all = await run('update', {
    expression,
    changes: { onlineTimeout: 77, customFields: [{ fieldMetaId: floor.id, NUMBER: 9 }] },
  });
  expect(all).toMatchObject({ totalActionsRequired: 2, succeeded: true });
  expect(await read(two!)).toMatchObject({
    name: 'two',
    onlineTimeout: 77,
    customFields: [{ NUMBER: 9 }],
  });
});

test('tag, then delete', async () => {
  const ids = await some(3);
  await run('tag', { deviceIds: ids, addTagIds: [tag.id] });
  expect((await read(ids[0]!)).tags).toMatchObject([{ id: tag.id }]);
  const counted = (await world.admin('GET', `/v3/tags/${tag.id}`)).body.taggedDevices;
  await run('tag', { deviceIds: [ids[0], ids[0]], removeTagIds: [tag.id] });
  expect((await world.admin('GET', `/v3/tags/${tag.id}`)).body.taggedDevices).toBe(counted - 1);
  const ended = await run('delete', { deviceIds: ids });
  expect(ended).toMatchObject({ type: 'BULK_DELETE', succeeded: true, totalActionsRequired: 3 });
  for (const id of ids) expect((await world.admin('GET', `/v3/devices/${id}`)).status).toBe(404);
});

test('move: tags and custom fields follow by name where the other workspace has them', async () => {
  const { admin, secondWorkspace } = world;
  const elsewhere = await makeDevice(admin, secondWorkspace, 'elsewhere');
  const theirTag = (
    await admin('POST', '/v3/tags', { workspaceId: secondWorkspace, name: tag.name })
  ).body;
  const meta = { workspaceId: secondWorkspace, name: 'floor', type: 'NUMBER' };
  const theirFloor = (await admin('POST', '/v3/custom-fields/meta', meta)).body;
  const [id] = await some(1);
  await admin('PUT', `/v3/devices/${id}`, {
    tags: [{ id: tag.id }],
    customFields: [{ fieldMetaId: floor.id, NUMBER: 4 }],
  });
  const target = { targetWorkspaceId: secondWorkspace, dataFlowId: elsewhere.flow.id };
  expect((await run('move', { deviceIds: [id], ...target })).succeeded).toBe(true);
  expect(await read(id!)).toMatchObject({
    workspaceId: secondWorkspace,
    dataFlowId: elsewhere.flow.id,
    tags: [{ id: theirTag.id }],
    customFields: [{ fieldMetaId: theirFloor.id, NUMBER: 4 }],
  });
  const wrong = {
    workspaceId: world.workspaceId,
    deviceIds: [id],
    targetWorkspaceId: secondWorkspace,
    dataFlowId: flow.id,
  };
  expect((await admin('POST', '/v3/devices/bulk/move', wrong)).status).toBe(400);
  expect((await world.restricted('POST', '/v3/devices/bulk/move', wrong)).status).toBe(403);
});

test.each<[string, object, number]>([
  ['create', { devices: [] }, 400],
  ['create', { devices: [{ name: 'x' }] }, 400],
  ['delete', {}, 400],
  ['tag', { deviceIds: ['x'] }, 400],
  ['tag', { deviceIds: ['x'], addTagIds: ['x'] }, 400],
  ['update', { expression: { field: 'x' } }, 400],
])('bulk %s of %j is a %i', async (kind, body, status) => {
  const answer = await world.admin('POST', `/v3/devices/bulk/${kind}`, {
    workspaceId: world.workspaceId,
    ...body,
  });
  expect(answer.status).toBe(status);
});

test('an Idempotency-Key begins one operation; rows of others are 404 and 403', async () => {
  const body = { workspaceId: world.workspaceId, devices: [draft('once')] };
  const key = { 'idempotency-key': 'bulk-1' };
  const first = await world.admin('POST', '/v3/devices/bulk/create', body, key);
  const again = await world.admin('POST', '/v3/devices/bulk/create', body, key);
  expect(again.body.id).toBe(first.body.id);
  await world.operations.idle();
  expect((await world.admin('GET', `/v3/operations/${first.body.id}`)).body.succeeded).toBe(true);
  expect((await world.foreign('POST', '/v3/devices/bulk/create', body)).status).toBe(404);
  expect((await world.restricted('POST', '/v3/devices/bulk/create', body)).status).toBe(403);
  expect((await world.foreign('GET', `/v3/operations/${first.body.id}`)).status).toBe(404);
  expect((await world.restricted('GET', `/v3/operations/${first.body.id}`)).status).toBe(403);
  const reader = await world.keyFor(world.organizationId, undefined, { asset: ['read'] });
  expect((await reader('POST', '/v3/devices/bulk/create', body)).status).toBe(403);
});

const csv = { 'content-type': 'text/csv' };
const upload = (text: string, query: string, type = csv) =>
  world.admin(
    'POST',
    `/v3/devices/import?workspaceId=${world.workspaceId}&${query}`,
    Buffer.from(text),
    type,
  );

test('a JSON file that nests deeper than 64 levels is refused', async () => {
  const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
  const json = { 'content-type': 'application/json' };
  const problemsOf = async (levels: number) =>
    (await upload(deep(levels), 'dryRun=true', json)).body.problems;
  const message = 'Invalid JSON file: it nests deeper than 64 levels';
  expect(await problemsOf(65)).toEqual([{ line: 1, field: null, message }]);
  expect(await problemsOf(64)).toEqual([{ line: 1, field: null, message: 'must be an object' }]);
});

test('a dry run reports every problem with its line and changes nothing', async () => {
  const text = [
    'deviceId;name;dataFlow;tags;customFields.floor;onlineTimeout;connectivity',
    `i-1;One;${flow.name};;1;60;`,
    'first;Known;x;nope;many;0;PIGEON',
    '',
    ';No id;;;;;',
    `i-1;"Two\nlines";${flow.id};;2;;`,
    `i-2;;${flow.id};;;;;too many`,
  ].join('\n');
  const { status, body } = await upload(text, 'dryRun=true');
  expect(status).toBe(200);
  expect(body).toMatchObject({ dryRun: true, total: 5, creates: 1, updates: 0 });
  expect(body.problems.map(({ line, field }: Body) => `${line} ${field}`)).toEqual([
    '3 deviceId',
    '3 connectivity',
    '3 onlineTimeout',
    '3 dataFlow',
    '3 tags',
    '3 customFields',
    '5 deviceId',
    '5 dataFlow',
    '6 deviceId',
    '8 null',
    '8 name',
  ]);
  const refused = await upload(text, '');
  expect([refused.status, refused.body.errorCode]).toEqual([400, '40015_IMPORT_INVALID']);
  expect((await world.admin('GET', '/v3/devices/by-device-id?deviceId=i-1')).status).toBe(404);
  const columns = await upload('deviceId,color\nx,red', 'dryRun=true');
  expect(columns.body.problems[0]).toMatchObject({ line: 1, field: 'color' });
  const json = await upload('[1]', 'dryRun=true', { 'content-type': 'application/json' });
  expect(json.body.problems).toMatchObject([{ line: 1, message: 'must be an object' }]);
});

test.each(['csv', 'json'])('what is exported as %s can be imported again', async (format) => {
  const { admin, workspaceId } = world;
  const odd = draft(`odd-${format}`, {
    name: '=cmd|"x",\n;ü',
    description: '-1+2',
    tags: [{ id: tag.id }],
    properties: { a: ['b'] },
    customFields: [{ fieldMetaId: floor.id, NUMBER: -1.5 }],
  });
  const [one] = (await run('create', { devices: [odd] })).actions;
  const before = await read(one.data.id);
  const file = await admin('GET', `/v3/devices/export?workspaceId=${workspaceId}&format=${format}`);
  expect(file.headers['content-disposition']).toBe(`attachment; filename="devices.${format}"`);
  const text = format === 'csv' ? String(file.body) : JSON.stringify(file.body);
  // Spreadsheets would run a cell that begins like a formula.
  if (format === 'csv') expect(text).not.toMatch(/(^|,)"?[=@+]/m);
  await admin('PUT', `/v3/devices/${before.id}`, {
    name: 'x',
    tags: [],
    properties: {},
    customFields: [{ fieldMetaId: floor.id, NUMBER: 0 }],
  });
  const type = { 'content-type': format === 'csv' ? 'text/csv' : 'application/json' };
  // Tags of a CSV file are separated by semicolons, so a name that holds one is only known in JSON.
  const whole = format === 'csv' ? text.replaceAll(/"Roof; ""east"""/g, '') : text;
  const dry = await upload(whole, 'dryRun=true&mode=upsert', type);
  expect(dry.body.problems).toEqual([]);
  expect((await upload(whole, 'dryRun=true', type)).body.problems.length).toBe(dry.body.total);
  const accepted = await upload(whole, 'mode=upsert', type);
  expect(accepted.status).toBe(202);
  await world.operations.idle();
  expect((await admin('GET', `/v3/operations/${accepted.body.id}`)).body).toMatchObject({
    succeeded: true,
  });
  const after = await read(before.id);
  const kept = ({ name, description, properties, customFields }: Body) => ({
    name,
    description,
    properties,
    value: customFields[0].NUMBER,
  });
  expect(kept(after)).toEqual(kept(before));
  if (format === 'json') expect(after.tags).toEqual(before.tags);
});
