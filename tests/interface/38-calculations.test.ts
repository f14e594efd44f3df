// Contract 38.2: group calculations, from their periods to a target device, also for samples that come late, change or go.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startWorld, type TestDevice, type World } from '../world/world.ts';

const minute = 60_000;
const hour = 60 * minute;
const waits = { timeout: 60_000 };

let world: World;
let clockAheadMs = 0;
const now = () => Date.now() + clockAheadMs;
beforeAll(async () => {
  world = await startWorld({ now });
});
afterAll(() => world.close());

interface Group {
  readonly tagId: string;
  readonly devices: readonly TestDevice[];
  readonly target: TestDevice;
}

async function group(count = 3): Promise<Group> {
  const { id: tagId } = await world.must('POST', '/v3/tags', {
    name: `group ${crypto.randomUUID()}`,
    workspaceId: world.workspaceId,
  });
  const devices: TestDevice[] = [];
  for (let i = 0; i < count; i++) devices.push(await world.device({ tags: [{ id: tagId }] }));
  return { tagId, devices, target: await world.device() };
}

const sumOfEnergy = {
  key: 'energy',
  each: { accumulator: 'SUM', dataKey: 'energy' },
  across: 'SUM',
};

function draft({ tagId, target }: Pick<Group, 'tagId' | 'target'>, more: object = {}) {
  return {
    name: 'Energy of the building',
    workspaceId: world.workspaceId,
    tagId,
    topic: 'default',
    period: 'PT1H',
    target: { deviceId: target.id, topic: 'group' },
    outputs: [sumOfEnergy],
    ...more,
  };
}

const create = (body: object) => world.must('POST', '/v3/calculations', body);
const iso = (at: number) => new Date(at).toISOString();
const backfill = (samples: readonly object[]) => world.must('POST', '/v3/samples/bulk', samples);

/** Results by the start of their period. */
async function results(target: TestDevice): Promise<Record<string, unknown>> {
  const found = await world.must('POST', `/v3/devices/${target.id}/query`, {
    topic: 'group',
    limit: 1_000,
  });
  const byStart: Record<string, unknown> = {};
  for (const { timestamp, data } of found.toReversed()) {
    // Two samples of one period would be a fault.
    expect(byStart).not.toHaveProperty(timestamp.replaceAll('.', '\\.'));
    byStart[timestamp] = data;
  }
  return byStart;
}

/** The start of an hour that lies some hours back. */
const hoursAgo = (hours: number) => Math.floor(now() / hour) * hour - hours * hour;

function pass(ms: number): void {
  clockAheadMs += ms;
}

test('combines the values of a tag by period into samples of the target, late ones included', async () => {
  const { tagId, devices, target } = await group();
  const first = hoursAgo(3);
  await backfill(
    devices.flatMap(({ id: deviceId }, i) =>
      [0, 1, 2].map((h) => ({
        deviceId,
        timestamp: iso(first + h * hour + i * minute),
        data: { energy: (h + 1) * 10 ** i },
      })),
    ),
  );
  const calculation = await create(
    draft(
      { tagId, target },
      {
        from: iso(first),
        outputs: [
          sumOfEnergy,
          { key: 'most', each: { accumulator: 'MAX', expression: 'energy * 2' }, across: 'MAX' },
          { key: 'middle', each: { accumulator: 'MAX', dataKey: 'energy' }, across: 'MEDIAN' },
          { key: 'devices', count: 'TOTAL' },
          { key: 'reporting', count: 'REPORTING' },
          { key: 'share', expression: 'reporting / devices * 100' },
        ],
      },
    ),
  );
  expect(calculation).toMatchObject({
    id: expect.stringMatching(/^23[0-9a-f]{14}$/),
    active: true,
    tagId,
    deviceIds: null,
    from: iso(first),
    version: 0,
    progress: { computedTo: null, error: null, late: 0 },
  });
  const of = (h: number, more: object = {}) => ({
    energy: (h + 1) * 111,
    most: (h + 1) * 200,
    middle: (h + 1) * 10,
    devices: 3,
    reporting: 3,
    share: 100,
    ...more,
  });
  const expected = {
    [iso(first)]: of(0),
    [iso(first + hour)]: of(1),
    [iso(first + 2 * hour)]: of(2),
  };
  await expect.poll(() => results(target), waits).toEqual(expected);

  // A late sample changes its period alone.
  await backfill([
    {
      deviceId: devices[0]!.id,
      timestamp: iso(first + hour + 30 * minute),
      data: { energy: 5_000 },
    },
  ]);
  const late = {
    ...expected,
    [iso(first + hour)]: of(1, { energy: 5_222, most: 10_000, middle: 200 }),
  };
  await expect.poll(() => results(target), waits).toEqual(late);

  // What is corrected counts as it is now.
  await world.must('POST', `/v3/devices/${devices[0]!.id}/samples/correct`, {
    corrections: [
      { timestamp: iso(first + hour + 30 * minute), replacement: { data: { energy: 8 } } },
    ],
  });
  await expect
    .poll(() => results(target), waits)
    .toEqual({ ...expected, [iso(first + hour)]: of(1, { energy: 230, middle: 20 }) });

  // What is deleted does not count.
  await world.must('POST', '/v3/samples/delete', {
    workspaceId: world.workspaceId,
    deviceIds: [devices[2]!.id],
    from: iso(first + hour),
    to: iso(first + 2 * hour),
  });
  await expect
    .poll(() => results(target), waits)
    .toEqual({
      ...expected,
      [iso(first + hour)]: of(1, {
        energy: 30,
        most: 40,
        middle: 14,
        reporting: 2,
        share: (2 / 3) * 100,
      }),
    });
  const { progress } = await world.must('GET', `/v3/calculations/${calculation.id}`);
  expect(progress).toMatchObject({ computedTo: iso(first + 3 * hour), error: null });
});

test('results have the calculated keys of the type of their target, computed again with them', async () => {
  const { tagId, devices } = await group(2);
  const target = await world.device({ schemas: {} });
  await world.must('PUT', `/v3/device-types/${target.deviceTypeId}`, {
    calculatedKeys: [
      { key: 'kilo', topic: 'group', expression: 'energy / 1000' },
      { key: 'rise', topic: 'group', expression: 'energy - prev(energy)' },
      { key: 'both', topic: 'group', expression: 'sumOver(energy, "PT2H")' },
      { key: 'most', topic: 'group', expression: '-1' },
    ],
  });
  const first = hoursAgo(3);
  const send = (h: number, at: number, energy: number) => ({
    deviceId: devices[0]!.id,
    timestamp: iso(first + h * hour + at * minute),
    data: { energy },
  });
  await backfill([send(0, 1, 100), send(1, 1, 250), send(2, 1, 700)]);
  const most = { key: 'most', each: { accumulator: 'MAX', dataKey: 'energy' }, across: 'MAX' };
  await create(draft({ tagId, target }, { from: iso(first), outputs: [sumOfEnergy, most] }));
  const expected = {
    [iso(first)]: { energy: 100, most: 100, kilo: 0.1, both: 100 },
    [iso(first + hour)]: { energy: 250, most: 250, kilo: 0.25, rise: 150, both: 350 },
    [iso(first + 2 * hour)]: { energy: 700, most: 700, kilo: 0.7, rise: 450, both: 950 },
  };
  await expect.poll(() => results(target), waits).toEqual(expected);

  // Late samples of two neighbors: the second one sees the first as it is now.
  await backfill([send(0, 2, 10), send(1, 2, 20)]);
  await expect
    .poll(() => results(target), waits)
    .toEqual({
      ...expected,
      [iso(first)]: { energy: 110, most: 100, kilo: 0.11, both: 110 },
      [iso(first + hour)]: { energy: 270, most: 250, kilo: 0.27, rise: 160, both: 380 },
    });
});

test('a period is computed when it has ended, and then once a period', async () => {
  const { tagId, devices, target } = await group(2);
  await create(draft({ tagId, target }));
  const start = hoursAgo(0);
  await world.capture(devices[0]!, { energy: 3 });
  await world.capture(devices[1]!, { energy: 4 });
  expect(await results(target)).toEqual({});
  pass(hour);
  await expect.poll(() => results(target), waits).toEqual({ [iso(start)]: { energy: 7 } });
});

test('late samples are computed after the clock was set back', async () => {
  const { tagId, devices, target } = await group(1);
  const first = hoursAgo(5);
  const at = (timestamp: number, energy: number) =>
    backfill([{ deviceId: devices[0]!.id, timestamp: iso(timestamp), data: { energy } }]);
  await at(first, 3);
  await create(draft({ tagId, target }, { from: iso(first) }));
  await expect.poll(() => results(target), waits).toEqual({ [iso(first)]: { energy: 3 } });
  await at(first + minute, 4);
  await expect.poll(() => results(target), waits).toEqual({ [iso(first)]: { energy: 7 } });
  pass(-2 * hour);
  await at(first + 2 * minute, 5);
  await expect.poll(() => results(target), waits).toEqual({ [iso(first)]: { energy: 12 } });
});

describe('what cannot be computed is refused with its place', () => {
  let of: Group;
  beforeAll(async () => {
    of = await group(1);
  });

  test.each([
    [{ period: 'PT7M' }, 'body period: PT7M must be whole minutes that divide a day'],
    [{ period: 'P1M' }, 'body period: P1M'],
    [{ tagId: null }, 'body tagId: set exactly one of tagId and deviceIds'],
    [{ from: 'yesterday' }, 'body from: yesterday is not an ISO-8601 date-time'],
    [
      { from: '2000-01-01T00:00:00Z', period: 'PT1M' },
      'body from: must be at most 100000 periods ago',
    ],
    [{ topic: '*' }, 'body topic: must be a single topic'],
    [
      { target: { deviceId: 'any', topic: 'all rooms' } },
      'body target.topic: must be a valid topic',
    ],
    [{ outputs: [{ key: 'a b', count: 'TOTAL' }] }, 'body outputs.0.key: must match pattern'],
    [
      {
        outputs: [
          { key: 'a', count: 'TOTAL' },
          { key: 'a', count: 'TOTAL' },
        ],
      },
      'body outputs.1.key: a occurs twice',
    ],
    [{ outputs: [{ key: 'a' }] }, 'body outputs.0: set exactly one of each, count, and expression'],
    [
      { outputs: [{ key: 'a', each: { accumulator: 'SUM', dataKey: 'x' } }] },
      'body outputs.0.across: is required with each',
    ],
    [
      { outputs: [{ key: 'a', each: { accumulator: 'NO', dataKey: 'x' }, across: 'SUM' }] },
      'body outputs.0.each.accumulator: unknown accumulator NO',
    ],
    [
      { outputs: [{ key: 'a', each: { accumulator: 'SUM' }, across: 'SUM' }] },
      'body outputs.0.each: set exactly one of dataKey and expression',
    ],
    [
      {
        outputs: [
          { key: 'a', each: { accumulator: 'SUM', dataKey: 'x', maxGap: 'P1M' }, across: 'SUM' },
        ],
      },
      'body outputs.0.each.maxGap: must not have months or years',
    ],
    [
      {
        outputs: [
          { key: 'a', each: { accumulator: 'TIME_IN_STATE', dataKey: 'x' }, across: 'SUM' },
        ],
      },
      'body outputs.0.each.state: is required for TIME_IN_STATE',
    ],
    [{ outputs: [{ key: 'a', expression: 'b + 1' }] }, 'b is not a key of an output'],
    [
      {
        outputs: [
          { key: 'b', count: 'TOTAL' },
          { key: 'a', expression: 'prev(b)' },
        ],
      },
      'only keys of outputs and timestamp',
    ],
    [
      {
        outputs: [
          {
            key: 'a',
            each: { accumulator: 'SUM', expression: 'key("x", "other")' },
            across: 'SUM',
          },
        ],
      },
      'calculations read only the topic and the device',
    ],
    [{ tagId: '7100000000000000' }, 'body tagId'],
    [{ target: { deviceId: '0200000000000000' } }, 'body target.deviceId'],
  ])('%j', async (more, message) => {
    const { status, body } = await world.call('POST', '/v3/calculations', draft(of, more));
    expect({ status, message: body.message }).toEqual({
      status: 400,
      message: expect.stringContaining(message),
    });
  });

  test('results that come back to the devices, also through another calculation', async () => {
    const { tagId, devices } = of;
    const [member] = devices;
    const self = draft({ tagId, target: member! }, { target: { deviceId: member!.id } });
    expect(await world.call('POST', '/v3/calculations', self)).toMatchObject({
      status: 400,
      body: {
        errorCode: '40088_CALCULATION_INVALID',
        message: 'body target: the target is one of the devices that are combined',
      },
    });
    const next = await group(1);
    await create(
      draft({ tagId, target: next.devices[0]! }, { target: { deviceId: next.devices[0]!.id } }),
    );
    const back = draft(next, { target: { deviceId: member!.id } });
    const { status, body } = await world.call('POST', '/v3/calculations', back);
    expect({ status, message: body.message }).toEqual({
      status: 400,
      message:
        'body target: the result comes back to the devices that are combined, through Energy of the building',
    });
  });
});

test('named devices, change, and deletion; a tag that is used stays', async () => {
  const { tagId, devices, target } = await group(2);
  const ids = devices.map(({ id }) => id);
  const made = await create({ ...draft({ tagId, target }), tagId: null, deviceIds: ids });
  expect(made).toMatchObject({ tagId: null, deviceIds: ids });
  const path = `/v3/calculations/${made.id}`;
  const changed = await world.must('PUT', path, { name: 'Another', tagId, version: 0 });
  expect(changed).toMatchObject({ name: 'Another', tagId, deviceIds: null, version: 1 });
  expect(await world.call('PUT', path, { name: 'x', version: 0 })).toMatchObject({ status: 409 });
  const listed = await world.must(
    'GET',
    `/v3/calculations?workspaceId=${world.workspaceId}&tagId=${tagId}`,
  );
  expect(listed.content.map(({ id }: { id: string }) => id)).toEqual([made.id]);
  expect(await world.call('DELETE', `/v3/tags/${tagId}`)).toMatchObject({
    status: 409,
    body: { message: expect.stringContaining(`calculation Another (${made.id})`) },
  });
  await world.must('DELETE', path);
  expect(await world.call('GET', path)).toMatchObject({ status: 404 });
  await world.must('DELETE', `/v3/tags/${tagId}`);
});

test('a preview computes the last periods, and stores nothing', async () => {
  const { tagId, devices, target } = await group(2);
  const first = hoursAgo(2);
  await backfill(
    devices.map(({ id: deviceId }) => ({
      deviceId,
      timestamp: iso(first + minute),
      data: { energy: 2 },
    })),
  );
  const found = await world.must('POST', '/v3/calculations/preview', {
    calculation: draft({ tagId, target }),
    periods: 3,
  });
  expect(found).toEqual({
    devices: 2,
    periods: [
      { timestamp: iso(first), data: { energy: 4 } },
      { timestamp: iso(first + hour), data: null },
      { timestamp: iso(first + 2 * hour), data: null },
    ],
    complete: true,
  });
  expect(await results(target)).toEqual({});
});
