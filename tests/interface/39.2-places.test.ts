// Contract 39.2: places, their tree and limits, the devices of a place, and the filters by place.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { anyId, anyTime, expectRefusal } from '../world/expectations.ts';
import { startWorld, type TestDevice, type World } from '../world/world.ts';

let world: World;
let devices: TestDevice[];
beforeAll(async () => {
  world = await startWorld();
  devices = await Promise.all([1, 2, 3].map((n) => world.device({ name: `sensor ${n}` })));
});
afterAll(() => world.close());

const make = (name: string, more: object = {}) =>
  world.must('POST', '/v3/places', { workspaceId: world.workspaceId, name, ...more });
const below = (parent: { id: string }, name: string) => make(name, { parentId: parent.id });
const refusedMake = (more: object) =>
  world.call('POST', '/v3/places', { workspaceId: world.workspaceId, name: 'x', ...more });

async function chain(names: readonly string[]): Promise<{ id: string }[]> {
  const made: { id: string }[] = [];
  for (const name of names)
    made.push(await make(name, made.length > 0 ? { parentId: made.at(-1)?.id } : {}));
  return made;
}

async function blob(type: string, content: string | Uint8Array, query = ''): Promise<string> {
  const answer = await fetch(
    `${world.base}/v3/blobs?${query || `workspaceId=${world.workspaceId}`}`,
    {
      method: 'POST',
      headers: { 'x-api-key': world.apiKey, 'content-type': type },
      body: content as string,
    },
  );
  expect(answer.status).toBe(201);
  return ((await answer.json()) as { id: string }).id;
}

describe('records', () => {
  test('created (201), read, listed, changed, deleted (204), with every field', async () => {
    const site = await make('Whole');
    const draft = {
      workspaceId: world.workspaceId,
      parentId: site.id,
      name: 'Floor / 1',
      kind: 'FLOOR',
      description: 'Upper',
      externalId: 'erp-1',
      position: { latitude: 47.05, longitude: 8.31 },
      properties: { area: 120 },
    };
    const { status, body: made } = await world.call('POST', '/v3/places', draft);
    expect(status).toBe(201);
    expect(made).toEqual({
      ...draft,
      id: anyId('41'),
      plan: null,
      path: [
        { id: site.id, name: 'Whole' },
        { id: made.id, name: 'Floor / 1' },
      ],
      devices: 0,
      devicesBelow: 0,
      created: anyTime,
      updated: null,
      version: 0,
    });
    const path = `/v3/places/${made.id}`;
    expect(await world.must('GET', path)).toEqual(made);
    const found = await world.must(
      'GET',
      `/v3/places?workspaceId=${world.workspaceId}&search=erp-1`,
    );
    expect(found.content).toEqual([made]);
    const changed = await world.must('PUT', path, { name: 'Roof', externalId: null, version: 0 });
    expect(changed).toEqual({
      ...made,
      name: 'Roof',
      externalId: null,
      path: [made.path[0], { id: made.id, name: 'Roof' }],
      updated: anyTime,
      version: 1,
    });
    expectRefusal(
      await world.call('PUT', path, { name: 'y', version: 0 }),
      409,
      '40901_STALE_VERSION',
      { path },
    );
    expect((await world.call('DELETE', path)).status).toBe(204);
    expect((await world.call('GET', path)).status).toBe(404);
  });

  test('parentId lists the places directly below, null those at the top', async () => {
    const [top, middle] = await chain(['List top', 'List middle', 'List leaf']);
    const of = async (parentId: string) => {
      const query = `workspaceId=${world.workspaceId}&parentId=${parentId}&search=list&size=1000`;
      return (await world.must('GET', `/v3/places?${query}`)).content.map(
        (place: { name: string }) => place.name,
      );
    };
    expect(await of('null')).toEqual(['List top']);
    expect(await of(top!.id)).toEqual(['List middle']);
    expect(await of(middle!.id)).toEqual(['List leaf']);
  });

  test('siblings differ by more than case, in a place and at the top', async () => {
    const site = await make('Twins');
    await below(site, 'Room');
    const path = '/v3/places';
    for (const [more, message] of [
      [{ name: 'TWINS' }, 'body name: the top of the tree already has a place with name TWINS'],
      [
        { name: 'ROOM', parentId: site.id },
        'body name: place Twins already has a place with name ROOM',
      ],
      [
        { name: ' room ', parentId: site.id },
        'body name: place Twins already has a place with name room',
      ],
    ] as const)
      expectRefusal(await refusedMake(more), 409, '40907_PLACE_TAKEN', { path, message });
    // Elsewhere the name is free.
    await make('Room');
    const other = await make('Moved twin');
    const room = await below(other, 'Room');
    expectRefusal(
      await world.call('PUT', `/v3/places/${room.id}`, { parentId: site.id }),
      409,
      '40907_PLACE_TAKEN',
      { path: `/v3/places/${room.id}` },
    );
    await world.must('PUT', `/v3/places/${room.id}`, { name: 'rOOM' });
  });

  test('an external id is unique in the workspace', async () => {
    await make('External', { externalId: 'e-1' });
    expectRefusal(
      await refusedMake({ name: 'Other', externalId: 'e-1' }),
      409,
      '40907_PLACE_TAKEN',
      {
        path: '/v3/places',
        message: 'body externalId: this workspace already has a place with externalId e-1',
      },
    );
  });

  test('a place moves with all below it, never below itself', async () => {
    const [a, b, c] = await chain(['Move a', 'Move b', 'Move c']);
    const target = await make('Move target');
    for (const parent of [a!, b!, c!])
      expectRefusal(
        await world.call('PUT', `/v3/places/${a!.id}`, { parentId: parent.id }),
        409,
        '40908_PLACE_BELOW_ITSELF',
        { path: `/v3/places/${a!.id}` },
      );
    await world.must('PUT', `/v3/places/${b!.id}`, { parentId: target.id });
    const names = async (id: string) =>
      (await world.must('GET', `/v3/places/${id}`)).path.map((step: { name: string }) => step.name);
    expect(await names(c!.id)).toEqual(['Move target', 'Move b', 'Move c']);
    await world.must('PUT', `/v3/places/${b!.id}`, { parentId: null });
    expect(await names(c!.id)).toEqual(['Move b', 'Move c']);
  });

  test('12 levels are the most, also for what moves', async () => {
    const deep = await chain(Array.from({ length: 12 }, (_, n) => `Level ${n + 1}`));
    const refused = await refusedMake({ parentId: deep.at(-1)!.id });
    expectRefusal(refused, 400, '40001_INVALID_REQUEST', {
      path: '/v3/places',
      message: expect.stringContaining('the tree would have 13 levels; at most 12 are permitted'),
    });
    const [tall] = await chain(['Tall', 'Taller', 'Tallest']);
    const path = `/v3/places/${tall!.id}`;
    await world.must('PUT', path, { parentId: deep[8]!.id });
    expect((await world.call('PUT', path, { parentId: deep[9]!.id })).body.message).toContain(
      '13 levels',
    );
  });

  test.each([
    ['parentId', { parentId: '4100000000000000' }],
    ['plan.blobId', { plan: { blobId: '1300000000000000' } }],
  ])('an unknown %s is a 400', async (field, more) => {
    expectRefusal(await refusedMake({ name: field, ...more }), 400, '40010_UNKNOWN_REFERENCE', {
      path: '/v3/places',
      message: expect.stringContaining(`body ${field}: no `),
    });
  });

  test('a parent of another workspace is a 400', async () => {
    const { organizationId } = world;
    const other = await world.must('POST', '/v3/workspaces', { name: 'Other', organizationId });
    const parent = await make('Theirs', { workspaceId: other.id });
    expect((await refusedMake({ parentId: parent.id })).body.errorCode).toBe(
      '40010_UNKNOWN_REFERENCE',
    );
  });

  test.each([
    [{ name: ' ' }],
    [{ name: '' }],
    [{ position: { latitude: 91, longitude: 0 } }],
    [{ position: { latitude: 1 } }],
    [{ kind: '' }],
    [{ externalId: 'e'.repeat(201) }],
  ])('a wrong member is a 400: %#', async (more) => {
    expect((await refusedMake(more)).status).toBe(400);
  });

  test('names are kept as they are sent, whatever they contain', async () => {
    const names = [
      '<script>alert(1)</script>',
      `'; drop table places; --`,
      '100 %_!',
      '=1+2',
      'a/b\\c',
      '\u202eevil',
      'Größe İ ß',
      '__proto__',
      '🏢'.repeat(100),
    ];
    const site = await make('Hostile');
    for (const name of names) {
      const made = await below(site, name);
      expect(made.name).toBe(name);
      const query = `workspaceId=${world.workspaceId}&parentId=${site.id}&search=${encodeURIComponent(name)}`;
      const { content } = await world.must('GET', `/v3/places?${query}`);
      expect(content.map((place: { id: string }) => place.id)).toEqual([made.id]);
    }
  });
});

describe('plans', () => {
  const png = Buffer.alloc(24);
  png.set([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  png.write('IHDR', 12, 'latin1');
  png.writeUInt32BE(640, 16);
  png.writeUInt32BE(480, 20);
  const svg = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200.5 100"></svg>';

  test('a picture of the workspace, with its size', async () => {
    const [first, second] = [await blob('image/png', png), await blob('image/svg+xml', svg)];
    const place = await make('With plan', { plan: { blobId: first } });
    expect(place.plan).toEqual({ blobId: first, width: 640, height: 480 });
    const path = `/v3/places/${place.id}`;
    const { plan } = await world.must('PUT', path, { plan: { blobId: second } });
    expect(plan).toEqual({ blobId: second, width: 200.5, height: 100 });
    const planned = async (hasPlan: boolean) => {
      const query = `workspaceId=${world.workspaceId}&hasPlan=${hasPlan}&size=1000`;
      const { content } = await world.must('GET', `/v3/places?${query}`);
      return content.map((one: { id: string }) => one.id);
    };
    expect(await planned(true)).toEqual([place.id]);
    expect(await planned(false)).not.toContain(place.id);
    expect((await world.must('PUT', path, { name: 'Still' })).plan).toEqual(plan);
    expect((await world.must('PUT', path, { plan: null })).plan).toBeNull();
  });

  test.each([
    ['another type', 'text/plain', 'text'],
    ['a damaged header', 'image/png', png.subarray(0, 8)],
    ['no size', 'image/svg+xml', '<svg></svg>'],
  ])('%s is a 400', async (_, type, content) => {
    const answer = await refusedMake({ plan: { blobId: await blob(type, content) } });
    expectRefusal(answer, 400, '40001_INVALID_REQUEST', {
      path: '/v3/places',
      message: expect.stringContaining('body plan.blobId: must be a picture of type image/png'),
    });
  });

  test('a file of the organization is a 400', async () => {
    const blobId = await blob('image/png', png, `organizationId=${world.organizationId}`);
    expect((await refusedMake({ plan: { blobId } })).body.errorCode).toBe(
      '40010_UNKNOWN_REFERENCE',
    );
  });
});

describe('devices', () => {
  const found = async (field: string, values: string[], predicate = 'IN') => {
    const { content } = await world.must('POST', '/v3/assets/list', {
      workspaceIds: [world.workspaceId],
      expression: { operator: 'AND', expressions: [{ field, predicate, values }] },
    });
    return content.map((device: { name: string }) => device.name);
  };

  test('placeId is set, kept when absent, removed by null, and found at and below', async () => {
    const [site, floor] = await chain(['Site', 'Floor']);
    const [one, two] = devices as [TestDevice, TestDevice];
    const path = `/v3/devices/${one.id}`;
    const { place, placeId, planPosition } = await world.must('PUT', path, { placeId: floor!.id });
    expect({ place, placeId, planPosition }).toEqual({
      place: { id: floor!.id, name: 'Floor', path: ['Site', 'Floor'] },
      placeId: floor!.id,
      planPosition: null,
    });
    await world.must('PUT', `/v3/devices/${two.id}`, { placeId: site!.id });
    expect((await world.must('PUT', path, { description: 'x' })).place.name).toBe('Floor');
    expect(await found('places.id', [site!.id])).toEqual(['sensor 1', 'sensor 2']);
    expect(await found('places.id', [floor!.id])).toEqual(['sensor 1']);
    expect(await found('places.name', ['FLOOR'])).toEqual(['sensor 1']);
    expect(await found('places.name', ['Sit'], 'STARTS_WITH')).toEqual(['sensor 1', 'sensor 2']);
    expect(await found('placeId', [site!.id])).toEqual(['sensor 2']);
    for (const field of ['places.id', 'places.name', 'placeId']) {
      expect(await found(field, [], 'IS_NULL')).toEqual(['sensor 3']);
      expect(await found(field, [], 'IS_NOT_NULL')).toEqual(['sensor 1', 'sensor 2']);
    }
    const listed = await world.must(
      'GET',
      `/v3/assets?workspaceId=${world.workspaceId}&places.ids=${site!.id}`,
    );
    expect(listed.content).toHaveLength(2);
    const { devices: own, devicesBelow } = await world.must('GET', `/v3/places/${site!.id}`);
    expect({ own, devicesBelow }).toEqual({ own: 1, devicesBelow: 2 });
    // A list that was read before the move is read again.
    const other = await make('Elsewhere');
    await world.must('PUT', `/v3/places/${floor!.id}`, { parentId: other.id });
    expect(await found('places.id', [site!.id])).toEqual(['sensor 2']);
    expect(await found('places.id', [other.id])).toEqual(['sensor 1']);
    expect((await world.must('PUT', path, { placeId: null })).place).toBeNull();
    await world.must('PUT', `/v3/devices/${two.id}`, { placeId: null });
  });

  test('filter options name the places by path', async () => {
    const [, leaf] = await chain(['Option/a', 'Leaf']);
    const query = `/v3/assets/filter-options-v2?workspaceId=${world.workspaceId}`;
    const { filterOptions } = await world.must('GET', query);
    for (const field of ['places.id', 'placeId'])
      expect(
        filterOptions.find((option: { field: string }) => option.field === field).values,
      ).toContainEqual({ value: leaf!.id, label: 'Option\\/a/Leaf' });
  });

  test('many are added, removed and put on the plan', async () => {
    const [site, room] = await chain(['Many', 'Many room']);
    const [one, two, three] = devices as [TestDevice, TestDevice, TestDevice];
    const path = `/v3/places/${site!.id}/devices`;
    const unknown = '0200000000000000';
    expect(
      await world.must('POST', path, {
        add: [one.id, two.id, unknown],
        positions: [
          { deviceId: one.id, x: 0, y: 1 },
          { deviceId: three.id, x: 0.5, y: 0.5 },
        ],
      }),
    ).toEqual({
      changed: 2,
      refused: [
        { deviceId: unknown, message: expect.stringContaining('device') },
        { deviceId: three.id, message: expect.stringContaining('is not at place') },
      ],
    });
    const device = async (id: string) => world.must('GET', `/v3/devices/${id}`);
    expect((await device(one.id)).planPosition).toEqual({ x: 0, y: 1 });
    expect((await device(two.id)).planPosition).toBeNull();
    // A device below is drawn on the plan of the place above.
    await world.must('PUT', `/v3/devices/${two.id}`, { placeId: room!.id });
    const below = await world.must('POST', path, {
      positions: [{ deviceId: two.id, x: 0.25, y: 0.75 }],
      remove: [one.id],
    });
    expect(below).toEqual({ changed: 2, refused: [] });
    expect(await device(two.id)).toMatchObject({
      place: { id: room!.id },
      planPosition: { x: 0.25, y: 0.75 },
    });
    expect(await device(one.id)).toMatchObject({ place: null, planPosition: null });
    // A position belongs to the plan that the device leaves.
    await world.must('PUT', `/v3/devices/${two.id}`, { placeId: site!.id });
    expect((await device(two.id)).planPosition).toBeNull();
    await world.must('POST', path, { remove: [two.id] });
  });

  test.each<[string, object]>([
    ['a position beyond the plan', { positions: [{ deviceId: 'x', x: 1.1, y: 0 }] }],
    ['half a position', { positions: [{ deviceId: 'x', x: 0.5 }] }],
    ['1,001 devices', { add: Array.from({ length: 1001 }, (_, n) => String(n)) }],
    ['a device to add and to remove', { add: ['a'], remove: ['a'] }],
  ])('%s is a 400', async (name, body) => {
    const place = await make(name);
    expect((await world.call('POST', `/v3/places/${place.id}/devices`, body)).status).toBe(400);
  });

  test('a place of another workspace is a 400', async () => {
    const { organizationId } = world;
    const other = await world.must('POST', '/v3/workspaces', { name: 'Next', organizationId });
    const theirs = await make('Theirs', { workspaceId: other.id });
    const path = `/v3/devices/${devices[0]!.id}`;
    expectRefusal(
      await world.call('PUT', path, { placeId: theirs.id }),
      400,
      '40010_UNKNOWN_REFERENCE',
      { path },
    );
  });

  test('deleting what is used is a 409; with force, devices are at no place', async () => {
    const [site, room] = await chain(['Doomed', 'Doomed room']);
    const [one] = devices as [TestDevice];
    await world.must('PUT', `/v3/devices/${one.id}`, { placeId: room!.id });
    const path = `/v3/places/${site!.id}`;
    expectRefusal(await world.call('DELETE', path), 409, '40902_IN_USE', {
      path,
      message: 'The place is in use by 1 place below it, 1 device',
    });
    expect((await world.call('DELETE', `${path}?force=true`)).status).toBe(204);
    expect((await world.call('GET', `/v3/places/${room!.id}`)).status).toBe(404);
    expect(await world.must('GET', `/v3/devices/${one.id}`)).toMatchObject({
      place: null,
      placeId: null,
    });
  });
});
