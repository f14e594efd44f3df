// Requests that were taken silently although they mean nothing are refused, saying what is known (contract 36 and 37).
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startWorld, type TestDevice, type World } from '../world/world.ts';

let world: World;
let device: TestDevice;
beforeAll(async () => {
  world = await startWorld();
  device = await world.device();
});
afterAll(() => world.close());

describe('review behaviour 18: sort fields', () => {
  const lists = () => [
    `/v3/assets?workspaceId=${world.workspaceId}`,
    '/v3/tags?',
    '/v3/rules?',
    '/v3/data-flows?',
    '/v3/device-types?',
    '/v3/workspaces?',
    `/v3/devices/${device.id}/processing-logs?`,
    `/v3/devices/${device.id}/downlinks?`,
    '/v3/operations?',
  ];

  test('an unknown one is a 400 that names it and those of the list; each of those is taken', async () => {
    for (const list of lists()) {
      const refused = await world.call(
        'GET',
        `${list}&sort=name,asc&sort=colour,desc`.replace('name,asc&sort=', ''),
      );
      expect([refused.status, refused.body.errorCode], list).toEqual([
        400,
        '40037_UNKNOWN_SORT_FIELD',
      ]);
      const known = /cannot sort by colour\. Valid fields: (.*)\.$/
        .exec(refused.body.message)![1]!
        .split(', ');
      expect(known.length, list).toBeGreaterThan(1);
      for (const field of known) {
        const page = await world.must('GET', `${list}&sort=${field},desc`);
        expect(page.sort.sorted, `${list} ${field}`).toBe(true);
      }
    }
  });
});

test('contract 37: a page of more than 1,000 is a 400 that says so; older clients ask for 100', async () => {
  const refused = await world.call('GET', '/v3/tags?size=1001');
  expect([refused.status, refused.body.message]).toEqual([
    400,
    expect.stringMatching(/query size: .*1000/),
  ]);
  for (const size of [1, 100, 1_000])
    expect((await world.must('GET', `/v3/tags?size=${size}`)).size).toBe(size);
});

describe('review behaviour 20: custom field values', () => {
  test('under the name of another type are refused, with the right one; placeholders of older clients are not', async () => {
    const { workspaceId } = world;
    const field = await world.must('POST', '/v3/custom-fields/meta', {
      workspaceId,
      name: 'floor',
      type: 'NUMBER',
    });
    const path = `/v3/devices/${device.id}`;
    const put = (value: object) =>
      world.call('PUT', path, { customFields: [{ fieldMetaId: field.id, ...value }] });
    const refused = await put({ STRING: '4' });
    expect(refused.status).toBe(400);
    expect(refused.body.message).toMatch(/floor.*in NUMBER, not STRING/);
    const filled = { STRING: null, NUMBER: 4, DATE: null, JSON: {}, GPS_COORDINATES: {} };
    expect((await put(filled)).body.customFields[0]).toMatchObject({ NUMBER: 4 });
    expect((await put({ ...filled, NUMBER: null })).body.customFields).toEqual([]);
  });
});

describe('review behaviour 21: workspace settings', () => {
  const put = (settings: object) =>
    world.call('PUT', `/v3/workspaces/${world.workspaceId}`, { settings });
  const days = (day: string) => ({
    workingHours: { enabled: true, days: { [day]: [{ from: '18:00', to: '08:00' }] } },
  });

  test.each([
    [days('FUNDAY'), /unknown weekday FUNDAY; valid values: MONDAY, .*SUNDAY/],
    [{ holidays: [{ date: '2024-02-30', name: 'x' }] }, /2024-02-30 is not a valid date/],
    [{ holidays: [{ date: '2024-13-01', name: 'x' }] }, /2024-13-01 is not a valid date/],
    [{ holidayRegion: 'XX' }, /unknown region XX; valid regions: .*\bCH\b/],
    [{ holidayRegion: 'CH-XX' }, /unknown region CH-XX; valid regions: .*\bCH-ZH\b/],
  ])('%j is refused', async (settings, message) => {
    const { status, body } = await put(settings);
    expect([status, body.message]).toEqual([400, expect.stringMatching(message)]);
  });

  test('overnight hours, a leap day and regions that exist are taken', async () => {
    expect((await put(days('MONDAY'))).status).toBe(200);
    expect((await put({ holidays: [{ date: '2024-02-29', name: 'leap' }] })).status).toBe(200);
    for (const holidayRegion of ['CH', 'CH-ZH', 'US-LA'])
      expect((await put({ holidayRegion })).status).toBe(200);
  });
});

test('review behaviour 23: tags show the version that a PUT checks', async () => {
  const tag = await world.must('POST', '/v3/tags', { workspaceId: world.workspaceId, name: 'a' });
  expect(tag.version).toBe(0);
  const changed = await world.must('PUT', `/v3/tags/${tag.id}`, { name: 'b', version: 0 });
  expect(changed.version).toBe(1);
  expect((await world.call('PUT', `/v3/tags/${tag.id}`, { name: 'c', version: 0 })).status).toBe(
    409,
  );
});

test('review behaviour 29: a single backfill returns accepted, duplicates and rejected, and the first reason', async () => {
  const path = `/v3/devices/${device.id}/backfill`;
  const sample = { data: { a: 1 }, timestamp: '2026-01-01T00:00:00Z' };
  const first = await world.must('POST', path, sample);
  expect(first).toEqual({
    message: 'sample stored',
    accepted: 1,
    stored: 1,
    duplicates: 0,
    rejected: [],
  });
  expect(await world.must('POST', path, sample)).toMatchObject({
    accepted: 0,
    duplicates: 1,
    rejected: [],
  });
  const refused = await world.call('POST', path, { data: { a: 1 }, timestamp: 'noon' });
  expect(refused.status).toBe(400);
  expect(refused.body).toMatchObject({ accepted: 0, duplicates: 0, rejected: [{ index: 0 }] });
  expect(refused.body.message).toContain(refused.body.rejected[0].message);
});

test('review behaviour 31: an error says what to do, without the alternatives', async () => {
  const refused = await world.call('POST', '/v3/tags', {
    workspaceId: world.workspaceId,
    name: 'a',
    description: 7,
  });
  expect(refused.body.message).toBe('body description: must be string');
  const path = `/v3/devices/${device.id}/query`;
  const bounds = await world.call('POST', path, { timestamp: { gte: 7 } });
  expect(bounds.body.message).toBe('body timestamp.gte: must be string');
});

test('review behaviour 31: a sample dated more than a day in the future is noted in the processing log', async () => {
  const ahead = (ms: number) => new Date(Date.now() + ms).toISOString();
  await world.capture(device, { a: 1 }, { timestamp: ahead(23 * 3_600_000) });
  const logs = () => world.must('GET', `/v3/devices/${device.id}/processing-logs`);
  const noted = async () =>
    (await logs()).content.filter(({ message }: { message: string }) =>
      message.includes('more than a day in the future'),
    );
  expect(await noted()).toEqual([]);
  await world.capture(device, { a: 2 }, { timestamp: ahead(25 * 3_600_000) });
  expect(await noted()).toMatchObject([{ level: 'WARN', source: 'UPLINK' }]);
});

test('a string with U+0000 is a 400 for records; a sample may contain it', async () => {
  const tag = { name: 'a\0b', color: '#123456', workspaceId: world.workspaceId };
  const refused = await world.call('POST', '/v3/tags', tag);
  expect([refused.status, refused.body.message]).toEqual([
    400,
    'body.name: strings must not contain U+0000',
  ]);
  const escaped = await world.call('POST', '/v3/tags', { ...tag, name: 'a\\u0000b' });
  expect(escaped.status).toBe(201);
  expect((await world.capture(device, { text: 'a\0b' })).status).toBe(201);
  const script = 'function consume(event) { emit("log", { text: event.text.length }); }';
  const run = { script, event: { text: 'a\0b' } };
  expect(await world.must('POST', '/v3/run-script', run)).toMatchObject([{ event: { text: 3 } }]);
});
