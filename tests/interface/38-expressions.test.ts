// Contract 38.1: expressions, checked and in queries.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { functionNames, parseExpression } from '../../src/query/expressions/parse.ts';
import { type AccessWorld, startAccessWorld } from '../access/access-world.ts';
import type { TestDevice } from '../world/world.ts';

const start = Date.parse('2026-03-01T10:00:00Z');

let at: AccessWorld;
beforeAll(async () => {
  at = await startAccessWorld();
});
afterAll(() => at.close());

describe('POST /v3/expressions/check', () => {
  const check = (expression: string) =>
    at.world.call('POST', '/v3/expressions/check', { expression });

  test('returns the type and the data keys', async () => {
    const { status, body } = await check('temperature > 8 && last(door, "PT1H")');
    expect(status).toBe(200);
    expect(body).toEqual({
      valid: true,
      type: 'boolean',
      keys: ['temperature', 'door'],
      error: null,
    });
    expect((await check('temperature ?? "none"')).body).toMatchObject({ valid: true, type: null });
  });

  test('returns the error and its place', async () => {
    const { status, body } = await check('temperature + nothing()');
    expect(status).toBe(200);
    expect(body).toEqual({
      valid: false,
      type: null,
      keys: [],
      error: { message: 'Unknown function nothing', position: 14 },
    });
  });
});

describe.each(['raw', 'aggregated/hourly'])('queries from %s', (source) => {
  const interval = { from: '2026-03-01T10:00:00Z', to: '2026-03-01T13:00:00Z' };
  let device: TestDevice;
  let other: TestDevice;
  let elsewhere: TestDevice;
  beforeAll(async () => {
    const { world } = at;
    [device, other] = [await world.device(), await world.device()];
    elsewhere = await world.device({ workspaceId: at.secondWorkspaceId });
    const rows: object[] = [];
    // Every ten minutes; the humidity comes in samples of its own, five minutes later.
    for (let n = 0; n < 18; n++) {
      const minute = (more: number) => new Date(start + (n * 10 + more) * 60_000).toISOString();
      rows.push(
        {
          deviceId: device.id,
          timestamp: minute(0),
          data: { t: n, open: n % 2 === 0, state: n < 6 ? 'cold' : 'warm' },
        },
        { deviceId: device.id, timestamp: minute(5), data: { rh: 100 - n } },
        { deviceId: device.id, timestamp: minute(2), topic: 'side', data: { power: n * 10 } },
        { deviceId: other.id, timestamp: minute(1), data: { t: -n } },
      );
    }
    rows.push({ deviceId: device.id, timestamp: '2026-03-01T09:30:00Z', data: { t: 50, rh: 7 } });
    await world.must('POST', '/v3/samples/bulk', rows);
  });

  const kpi = async (expression: string, accumulator: string, more: object = {}) =>
    at.world.call('POST', `/v3/devices/${device.id}/query/${source}/kpi`, {
      topic: 'default',
      expression,
      accumulator,
      interval,
      ...more,
    });
  const value = async (...asked: Parameters<typeof kpi>) => {
    const { status, body } = await kpi(...asked);
    expect(body).toMatchObject({ dataKey: asked[0] });
    expect(status).toBe(200);
    return (body as { kpi: number | null }).kpi;
  };

  test.each<[string, string, number | null]>([
    ['t', 'SUM', 153],
    ['t * 9 / 5 + 32', 'MAX', 62.6],
    ['t > 8', 'MATCHED_COUNT', 9],
    ['t > 8 ? 1 : null', 'COUNT', 9],
    ['state == "warm"', 'UNMATCHED_COUNT', 6],
    ['state', 'DISTINCT_COUNT', 2],
    ['isNull(t)', 'MATCHED_COUNT', 18],
    ['1', 'COUNT', 36],
    // The value of the sample at 9:30 is before the interval.
    ['prev(t)', 'FIRST', 50],
    ['t - prev(t)', 'LAST', 1],
    ['last(rh) - last(t)', 'FIRST', 7],
    ['last(rh, "PT4M")', 'COUNT', 18],
    ['avgOver(t, "PT30M")', 'LAST', 16],
    ['maxOver(t, "PT31M")', 'FIRST', 50],
    ['countOver(t, "PT30M")', 'FIRST', 1],
    ['change(t, "PT1H")', 'LAST', 5],
    ['rate(t, "PT1H", "PT1H")', 'LAST', 6],
    ['key("power", "side")', 'LAST', 170],
    ['key("power", "side") - prev(key("power", "side"))', 'LAST', 10],
    ['timestamp', 'FIRST', Date.parse('2026-03-01T10:00:00Z')],
    ['hour()', 'MIN', 10],
    ['nothing + 1', 'SUM', null],
    // From the 50 of 9:30 on, which is half an hour before.
    ['t * 2', 'DELTA', -66],
    ['t > 5 ? t : null', 'P50', 11.5],
    ['t < 100', 'DURATION_TRUE', 3 * 3_600],
  ])('%s by %s is %s', async (expression, accumulator, wanted) => {
    expect(await value(expression, accumulator)).toBe(wanted);
  });

  test('hours are those of the time zone', async () => {
    expect(await value('hour()', 'MIN', { timeZone: 'Asia/Kolkata' })).toBe(15);
  });

  test('another device of the workspace is read by its last value', async () => {
    expect(await value(`t + device("${other.id}", "t")`, 'FIRST')).toBe(1);
    expect(await value(`t + device("${other.id}", "t")`, 'LAST')).toBe(1);
  });

  test('another device needs its permission, and is of the workspace', async () => {
    const foreign = await kpi(`device("${elsewhere.id}", "t")`, 'LAST');
    expect(foreign.status).toBe(400);
    expect(foreign.body).toMatchObject({ errorCode: '40038_INVALID_EXPRESSION', position: 0 });
    expect((await kpi('t + device("0200000000000000", "t")', 'LAST')).status).toBe(404);
    const many = Array.from({ length: 11 }, () => at.world.device());
    const ids = (await Promise.all(many)).map(({ id }) => `device("${id}", "t")`);
    expect((await kpi(ids.slice(1).join(' + '), 'LAST')).status).toBe(200);
    expect((await kpi(ids.join(' + '), 'LAST')).body).toMatchObject({
      status: 400,
      message: expect.stringContaining('at most 10 other devices'),
    });
  });

  test('an invalid expression is a 400 with its position', async () => {
    const { status, body } = await kpi('t + foo(1)', 'MAX');
    expect(status).toBe(400);
    expect(body).toMatchObject({
      errorCode: '40038_INVALID_EXPRESSION',
      message: 'Invalid expression at character 5: Unknown function foo',
      position: 4,
    });
    const both = await kpi('t', 'MAX', { dataKey: 't' });
    expect(both.body).toMatchObject({ errorCode: '40001_INVALID_REQUEST' });
    expect((await kpi('t', 'MAX', { expression: null })).status).toBe(400);
  });

  test('series, lists of devices and tags take expressions', async () => {
    const common = { topic: 'default', expression: 't * 2', accumulator: 'MAX', interval };
    const bucket = { ...common, bucketInterval: 'PT1H' };
    const ids = { deviceIds: [device.id, other.id] };
    const series = { topic: 'default', dataKey: 't * 2', dataPoints: [10, 22, 34] };
    const { call } = at.world;
    const one = await call('POST', `/v3/devices/${device.id}/query/${source}/time-series`, bucket);
    expect(one.body).toMatchObject({ deviceId: device.id, ...series });
    const batch = { ...bucket, ...ids };
    const list = await call('POST', `/v3/devices/query/batch/${source}/time-series`, batch);
    expect(list.body).toMatchObject([series, { dataPoints: [0, -12, -24] }]);
    const sum = { ...common, ...ids };
    const total = await call('POST', `/v3/devices/query/batch/${source}/accumulated-kpi`, sum);
    expect(total.body).toMatchObject({ kpi: 34, dataKey: 't * 2' });
    const tag = await at.world.must('POST', '/v3/tags', {
      name: `expressions ${source}`,
      workspaceId: at.world.workspaceId,
    });
    await at.world.must('PUT', `/v3/devices/${device.id}`, { tags: [{ id: tag['id'] }] });
    const tagged = await call('POST', `/v3/tags/${tag['id']}/query/${source}/kpi`, common);
    expect(tagged.body).toMatchObject({ content: [{ kpi: 34, dataKey: 't * 2' }] });
  });

  test('many series take expressions, refs and calculations', async () => {
    const wanted = (more: object) => ({
      deviceId: device.id,
      topic: 'default',
      accumulators: ['MAX'],
      ...more,
    });
    const ask = (calculations: object[], series: object[]) =>
      at.world.call('POST', '/v3/devices/query/batch/time-series', {
        interval,
        bucketInterval: 'PT1H',
        source: source === 'raw' ? 'raw' : 'hourly',
        series,
        calculations,
      });
    const series = [
      wanted({ dataKey: 't', ref: 'a', accumulators: ['MAX', 'MIN'] }),
      wanted({ expression: 't * 2', ref: 'b', hidden: true }),
      wanted({ expression: 't * 2', accumulators: ['AVG'] }),
    ];
    const { status, body } = await ask(
      [
        { as: 'difference', expression: 'b - a' },
        { as: 'spread', expression: 'a.MAX - a.MIN' },
        { as: 'hot', expression: 'a > 10' },
      ],
      series,
    );
    expect(status).toBe(200);
    expect(body).toMatchObject([
      { ref: 'a', dataKey: 't', dataPoints: { MAX: [5, 11, 17], MIN: [0, 6, 12] } },
      { dataKey: 't * 2', dataPoints: { AVG: [5, 17, 29] } },
      { as: 'difference', dataPoints: { VALUE: [5, 11, 17] } },
      { as: 'spread', dataPoints: { VALUE: [5, 5, 5] } },
      { as: 'hot', dataPoints: { VALUE: [0, 1, 1] } },
    ]);
    expect((body as unknown as object[]).length).toBe(5);
    const missing = await ask([{ as: 'x', expression: 'a + b.MIN' }], series);
    expect(missing.body).toMatchObject({
      errorCode: '40038_INVALID_EXPRESSION',
      message: expect.stringContaining('the series b has no accumulator MIN'),
      position: 4,
    });
    const unknown = await ask([{ as: 'x', expression: 'a + c' }], series);
    expect(unknown.body).toMatchObject({ errorCode: '40038_INVALID_EXPRESSION', position: 4 });
    const windows = await ask([{ as: 'x', expression: 'avgOver(a, "PT1H")' }], series);
    expect(windows.status).toBe(400);
    const twice = await ask([{ as: 'x', expression: 'a * 2' }], [...series, series[0] ?? {}]);
    expect([twice.status, twice.body.message]).toEqual([400, 'body series.3.ref: must be unique']);
  });
});

test('the guide has an example of every function, and every example is valid', () => {
  const guide = readFileSync(new URL('../../docs/guide/formulas.md', import.meta.url), 'utf8');
  const rows = guide.matchAll(/^\| `(\w+)\([^`]*\)` \| [^|]+ \| `(.+)` \|$/gm);
  const examples = new Map(Array.from(rows, ([, name = '', example = '']) => [name, example]));
  expect([...examples.keys()].toSorted()).toEqual(functionNames);
  for (const [name, example] of examples)
    expect(parseExpression(example, true).text, name).toContain(`${name}(`);
});

test('custom fields of the device are read by name', async () => {
  const { world } = at;
  const meta = await world.must('POST', '/v3/custom-fields/meta', {
    name: 'offset',
    type: 'NUMBER',
    workspaceId: world.workspaceId,
  });
  const { id } = await world.device();
  await world.must('PUT', `/v3/devices/${id}`, {
    customFields: [{ fieldMetaId: meta['id'], NUMBER: 2.5 }],
  });
  await world.must('POST', '/v3/samples/bulk', [
    { deviceId: id, timestamp: '2026-03-01T10:00:00Z', data: { t: 4 } },
  ]);
  const { body } = await world.call('POST', `/v3/devices/${id}/query/raw/kpi`, {
    topic: 'default',
    expression: 't + field("offset") + (field("none") ?? 0)',
    accumulator: 'LAST',
    interval: { from: '2026-03-01T00:00:00Z', to: '2026-03-02T00:00:00Z' },
  });
  expect(body).toMatchObject({ kpi: 6.5 });
});
