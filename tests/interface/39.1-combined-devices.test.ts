// Contract 37, 39: series that combine the devices of a tag, a place or a list, as a query and in dashboards.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readPdf } from '../../src/dashboards/documents/testing-pdf.ts';
import { type AccessWorld, actingBy, startAccessWorld } from '../access/access-world.ts';

const path = '/v3/devices/query/batch/time-series';
const minute = 60_000;
const from = Date.parse('2026-03-01T10:00:00Z');
const interval = { from: iso(from), to: '2026-03-01T14:00:00Z' };
const common = { interval, bucketInterval: 'PT1H' };
const acrossNames = ['SUM', 'AVG', 'MIN', 'MAX', 'MEDIAN', 'COUNT'] as const;

function iso(ms: number): string {
  return new Date(ms).toISOString();
}

let at: AccessWorld;
let workspaceId: string;
let tagId: string;
let placeId: string;
let emptyTagId: string;
/** The last one has sent nothing. */
let rooms: { readonly id: string; readonly name: string }[];

beforeAll(async () => {
  at = await startAccessWorld();
  ({ workspaceId } = at.world);
  ({ id: tagId } = await at.owner.must('POST', '/v3/tags', { workspaceId, name: 'rooms' }));
  ({ id: emptyTagId } = await at.owner.must('POST', '/v3/tags', { workspaceId, name: 'none' }));
  ({ id: placeId } = await at.owner.must('POST', '/v3/places', { workspaceId, name: 'Floor' }));
  rooms = [];
  for (const name of ['Room 1', 'Room 2', 'Room 3', 'Room 4']) {
    const { id } = await at.world.device({ name, tags: [{ id: tagId }] });
    rooms.push({ id, name });
  }
  const add = rooms.map(({ id }) => id);
  await at.owner.must('POST', `/v3/places/${placeId}/devices`, { add });
  const samples = rooms.slice(0, 3).flatMap(({ id }, room) =>
    Array.from({ length: 24 }, (_, n) => ({
      deviceId: id,
      timestamp: iso(from + n * 10 * minute),
      // The second room is silent in the second hour, and all are in the fourth.
      data: { power: (room + 1) * 100 + n * (room + 1) },
    })).filter((_, n) => n < 18 && (room !== 1 || n < 6 || n >= 12)),
  );
  await at.owner.must('POST', '/v3/samples/bulk', samples);
});
afterAll(() => at.close());

const wanted = (devices: object, across: string, more: object = {}) => ({
  devices,
  across,
  topic: 'default',
  dataKey: 'power',
  accumulators: ['AVG'],
  ...more,
});
const ask = (series: object[], more: object = {}) =>
  at.world.call('POST', path, { ...common, series, ...more });

type Points = readonly (number | null)[];

function naive(across: (typeof acrossNames)[number], points: readonly Points[]): Points {
  return (points[0] ?? []).map((_, i) => {
    const values = points.flatMap((own) => own[i] ?? []).toSorted((a, b) => a - b);
    if (across === 'COUNT') return values.length;
    if (values.length === 0) return null;
    const sum = values.reduce((a, b) => a + b, 0);
    const middle = [values[Math.ceil(values.length / 2) - 1], values[values.length >> 1]];
    return {
      SUM: sum,
      AVG: sum / values.length,
      MIN: values[0],
      MAX: values.at(-1),
      MEDIAN: ((middle[0] ?? 0) + (middle[1] ?? 0)) / 2,
    }[across] as number;
  });
}

describe.each(['raw', 'hourly'])('source %s', (source) => {
  test.each(acrossNames)(
    '%s of each bucket is that of the series of the devices',
    async (across) => {
      const accumulators = ['AVG', 'MAX', 'LAST', 'COUNT', 'P90', 'INCREASE', 'TIME_WEIGHTED_AVG'];
      const single = rooms.map(({ id }) => ({
        deviceId: id,
        topic: 'default',
        dataKey: 'power',
        accumulators,
      }));
      const { body: each } = await ask(single, { source });
      for (const devices of [{ tagId }, { placeId }, { deviceIds: rooms.map(({ id }) => id) }]) {
        const { body } = await ask([wanted(devices, across, { accumulators })], { source });
        expect(body).toHaveLength(1);
        const [one] = body;
        expect(one).toMatchObject({
          topic: 'default',
          dataKey: 'power',
          across,
          devices: 4,
          withValue: 3,
          timestamps: each[0].timestamps,
        });
        expect(one).not.toHaveProperty('deviceId');
        for (const name of accumulators) {
          const points = each.map((own: { dataPoints: object }) =>
            Reflect.get(own.dataPoints, name),
          );
          const found: Points = one.dataPoints[name];
          const expected = naive(across, points);
          expect(found).toHaveLength(expected.length);
          for (const [i, value] of expected.entries())
            if (value === null) expect(found[i]).toBeNull();
            else expect(found[i]).toBeCloseTo(value, 9);
        }
      }
    },
  );
});

test('beside single devices, with formulas, refs, and calculations', async () => {
  const { body } = await ask(
    [
      wanted({ tagId }, 'SUM', { ref: 'total', hidden: true }),
      { ...wanted({ tagId }, 'MAX'), dataKey: undefined, expression: 'power / 1000' },
      {
        deviceId: rooms[0]?.id,
        topic: 'default',
        dataKey: 'power',
        accumulators: ['AVG'],
        ref: 'one',
      },
      wanted({ tagId: emptyTagId }, 'SUM'),
      wanted({ tagId: '0400000000000000' }, 'SUM'),
    ],
    { calculations: [{ as: 'Share', expression: 'one / total' }] },
  );
  expect(body.map(({ as, across, ref }: never) => as ?? across ?? ref)).toEqual([
    'MAX',
    'one',
    'SUM',
    'Share',
  ]);
  const [most, one, none, share] = body;
  expect(most).toMatchObject({ dataKey: 'power / 1000', devices: 4, withValue: 3 });
  expect(most.dataPoints.AVG[0]).toBeCloseTo(0.3075, 9);
  expect(none).toMatchObject({
    devices: 0,
    withValue: 0,
    dataPoints: { AVG: [null, null, null, null] },
  });
  const total = naive('SUM', [[102.5], [205], [307.5]])[0] ?? 0;
  expect(share.dataPoints.VALUE[0]).toBeCloseTo(one.dataPoints.AVG[0] / total, 9);
});

describe('refusals', () => {
  test.each<[string, object, string]>([
    ['neither', {}, 'series.0: set exactly one of deviceId and devices'],
    ['no combination', { devices: { tagId: 'x' } }, 'series.0.across: is required with devices'],
    ['no devices', { deviceId: 'x', across: 'SUM' }, 'series.0.across: requires devices'],
    [
      'no source',
      { devices: {}, across: 'SUM' },
      'set exactly one of deviceIds, tagId, and placeId',
    ],
    [
      'two sources',
      { devices: { tagId: 'x', placeId: 'y' }, across: 'SUM' },
      'set exactly one of deviceIds, tagId, and placeId',
    ],
  ])('%s is a 400 that names the member', async (_, source, reason) => {
    const one = { topic: 'default', dataKey: 'power', accumulators: ['AVG'], ...source };
    const { status, body } = await ask([one]);
    expect(status).toBe(400);
    expect(body.message).toContain(reason);
  });

  test('an unknown combination is a 400, an unknown tag alone a 404', async () => {
    expect((await ask([wanted({ tagId }, 'P95')])).status).toBe(400);
    expect((await ask([wanted({ tagId: '0400000000000000' }, 'SUM')])).status).toBe(404);
    expect((await ask([wanted({ placeId: '4100000000000000' }, 'SUM')])).status).toBe(404);
  });

  test('permission is checked at the tag, the place, and every named device', async () => {
    const key = await at.key({
      permissions: { asset: ['read'] },
      workspaces: [{ id: at.secondWorkspaceId }],
    });
    for (const devices of [{ tagId }, { placeId }, { deviceIds: [rooms[0]?.id] }]) {
      const body = { ...common, series: [wanted(devices, 'SUM')] };
      expect((await key.call('POST', path, body)).status).toBe(403);
      expect((await at.otherOwner.call('POST', path, body)).status).toBe(404);
    }
  });

  test('devices of several workspaces need a time zone', async () => {
    const elsewhere = await at.world.device({ workspaceId: at.secondWorkspaceId });
    const series = [wanted({ deviceIds: [rooms[0]?.id, elsewhere.id] }, 'SUM')];
    const { status, body } = await ask(series);
    expect([status, body.message]).toEqual([400, expect.stringContaining('set timeZone')]);
    expect((await ask(series, { timeZone: 'UTC' })).body[0]).toMatchObject({ devices: 2 });
  });

  test('more than 1,000 devices are a 400 with their number, and 1,000 are answered', async () => {
    const { id: large } = await at.owner.must('POST', '/v3/tags', { workspaceId, name: 'large' });
    const { dataFlowId } = await at.world.device();
    const ids: string[] = [];
    for (let n = 0; n < 1_000; n++) {
      const draft = { name: `Meter ${n}`, deviceId: `meter-${n}`, connectivity: 'HTTP' };
      const device = { ...draft, workspaceId, dataFlowId, tags: [{ id: large }] };
      ids.push((await at.owner.must('POST', '/v3/devices', device)).id);
    }
    const samples = ids.map((id, n) => ({
      deviceId: id,
      timestamp: iso(from + n),
      data: { power: n },
    }));
    await at.owner.must('POST', '/v3/samples/bulk', samples);
    const { body } = await ask([wanted({ tagId: large }, 'SUM', { accumulators: ['LAST'] })]);
    expect(body[0]).toMatchObject({ devices: 1_000, withValue: 1_000 });
    expect(body[0].dataPoints.LAST[0]).toBe(499_500);
    const seconds = { ...common, bucketInterval: 'PT10S' };
    const fine = await at.world.call('POST', path, {
      ...seconds,
      series: [wanted({ tagId: large }, 'SUM')],
    });
    expect([fine.status, fine.body.errorCode]).toEqual([400, '40036_TOO_MANY_POINTS']);
    await at.world.device({ name: 'one more', tags: [{ id: large }] });
    const { status, body: refused } = await ask([wanted({ tagId: large }, 'SUM')]);
    expect(status).toBe(400);
    expect(refused.message).toContain(
      'series.0.devices: 1001 devices; a series combines at most 1000',
    );
  }, 240_000);
});

describe('dashboards', () => {
  const tile = (id: string, kind: string, series: object[], more: object = {}) => ({
    ...{ id, kind, x: 0, y: 0, width: 6, height: 4 },
    ...more,
    series: series.map((one) => ({ dataKey: 'power', unit: 'kW', ...one })),
  });
  async function stored(tiles: object[], variables: object[] = []): Promise<string> {
    const { id } = await at.owner.must('POST', '/v3/dashboards', {
      ...{ workspaceId, name: 'Building' },
      configuration: {
        schema: 'heliograph-dashboard',
        version: 2,
        timeZone: 'UTC',
        tiles,
        variables,
      },
    });
    return id;
  }
  const render = (id: string, query = '') =>
    at.owner.call(
      'GET',
      `/v3/dashboards/${id}/render?from=${interval.from}&to=${interval.to}${query}`,
    );
  const direct = async (across: string, accumulator: string, bucketInterval = 'PT1H') => {
    const series = [wanted({ tagId }, across, { accumulators: [accumulator] })];
    const { body } = await at.world.call('POST', path, { ...common, bucketInterval, series });
    return body[0].dataPoints[accumulator];
  };

  test('charts, bars, values, tables and calculations show what the query answers', async () => {
    const id = await stored([
      tile(
        'line',
        'line',
        [
          { tagId, across: 'SUM', label: 'Total' },
          { placeId, across: 'MEDIAN' },
        ],
        {
          bucketInterval: 'PT1H',
        },
      ),
      tile('bar', 'bar', [{ tagId, across: 'SUM', accumulator: 'MAX' }], {
        bucketInterval: 'PT1H',
      }),
      tile('value', 'value', [{ tagId, across: 'SUM', label: 'Now' }]),
      tile('gauge', 'gauge', [{ placeId, across: 'COUNT' }]),
      tile('table', 'table', [
        { tagId, across: 'MAX', label: 'Most' },
        { deviceId: rooms[0]?.id },
        { tagId },
      ]),
      tile(
        'share',
        'state',
        [
          { tagId, across: 'SUM', ref: 'total', hidden: true },
          { deviceId: rooms[0]?.id, ref: 'one' },
        ],
        { calculations: [{ as: 'Share', expression: 'one / total' }] },
      ),
    ]);
    const { body } = await render(id);
    const [line, bar, value, gauge, table, share] = body.tiles;
    const group = { deviceId: null, topic: 'default', dataKey: 'power', devices: 4, withValue: 3 };
    expect(line.series).toMatchObject([
      { ...group, across: 'SUM', label: 'Total', dataPoints: { AVG: await direct('SUM', 'AVG') } },
      {
        ...group,
        across: 'MEDIAN',
        label: 'power',
        dataPoints: { AVG: await direct('MEDIAN', 'AVG') },
      },
    ]);
    expect(line.series[0].dataPoints).not.toHaveProperty('MIN');
    expect(bar.series).toMatchObject([
      { ...group, dataPoints: { MAX: await direct('SUM', 'MAX') } },
    ]);
    // The last values are of the 18th sample each: 117, 234 and 351.
    expect(value.latest).toMatchObject([{ ...group, across: 'SUM', label: 'Now', value: 702 }]);
    expect(gauge.latest).toMatchObject([{ ...group, across: 'COUNT', value: 3 }]);
    expect(table.latest.map(({ label, value: last }: never) => [label, last])).toEqual([
      ['Most', 351],
      ['Room 1', 117],
      ['Room 1', 117],
      ['Room 2', 234],
      ['Room 3', 351],
      ['Room 4', null],
    ]);
    expect(share.latest.map(({ label, value: last }: never) => [label, last])).toEqual([
      ['Room 1', 117],
      ['Share', 117 / 702],
    ]);
  });

  test('CSV has one column, and PDF says how many devices have a value', async () => {
    const id = await stored([
      tile('line', 'line', [{ tagId, across: 'SUM', label: 'Total' }], { bucketInterval: 'PT1H' }),
      tile('value', 'value', [{ tagId, across: 'AVG', label: 'Mean' }], { y: 4 }),
    ]);
    const fileOf = (query: string) =>
      fetch(
        `${at.base}/v3/dashboards/${id}/render?from=${interval.from}&to=${interval.to}&${query}`,
        { headers: at.owner.headers },
      );
    const csv = await (await fileOf('format=csv&tile=line')).text();
    const [head, ...rows] = csv.trim().split(/\r?\n/);
    expect(head).toBe('time,Total (kW)');
    const points: Points = await direct('SUM', 'AVG');
    expect(rows.map((row) => row.split(',')[1])).toEqual(points.map((value) => `${value ?? ''}`));
    const { pages } = await readPdf(await (await fileOf('format=pdf')).bytes());
    const text = JSON.stringify(pages);
    expect(text).toContain('Total (3 of 4 devices)');
    expect(text).toContain('Mean (3 of 4 devices)');
  });

  test('a variable chooses the tag or the place, and names the series', async () => {
    const id = await stored(
      [tile('line', 'line', [{ variable: 'floor', across: 'SUM' }], { bucketInterval: 'PT1H' })],
      [{ name: 'floor', kind: 'PLACE', multiple: true }],
    );
    const { id: other } = await at.owner.must('POST', '/v3/places', { workspaceId, name: 'Roof' });
    const { body } = await render(id, `&var.floor=${placeId}&var.floor=${other}`);
    expect(body.tiles[0].series).toMatchObject([
      { label: 'Floor', devices: 4, dataPoints: { AVG: await direct('SUM', 'AVG') } },
      { label: 'Roof', devices: 0, withValue: 0 },
    ]);
  });

  test('a tag that is gone leaves its series out', async () => {
    const { id: gone } = await at.owner.must('POST', '/v3/tags', { workspaceId, name: 'gone' });
    const id = await stored([
      tile('a', 'value', [{ tagId: gone, across: 'SUM' }]),
      tile('b', 'value', [{ tagId, across: 'SUM' }], { y: 4 }),
    ]);
    await at.owner.must('DELETE', `/v3/tags/${gone}`);
    const { status, body } = await render(id);
    expect(status).toBe(200);
    expect(body.tiles.map(({ latest }: never) => latest)).toMatchObject([[], [{ value: 702 }]]);
  });

  test('a shared link reads the combination that a tile shows, and not the value of each device', async () => {
    const id = await stored([
      tile('a', 'value', [
        { tagId, across: 'SUM' },
        { placeId, across: 'SUM' },
      ]),
    ]);
    const { token } = await at.owner.must('POST', `/v3/dashboards/${id}/share`);
    const reader = actingBy(at.base, { authorization: `Bearer ${token}` });
    const asked = (series: object) => reader.call('POST', path, { ...common, series: [series] });
    for (const devices of [{ tagId }, { placeId }]) {
      const found = await asked(wanted(devices, 'SUM'));
      expect([found.status, found.body[0].dataPoints.AVG]).toEqual([
        200,
        await direct('SUM', 'AVG'),
      ]);
      expect((await asked(wanted(devices, 'MAX'))).status).toBe(403);
      expect((await asked(wanted(devices, 'SUM', { dataKey: 'other' }))).status).toBe(403);
    }
    for (const { id: deviceId } of rooms) {
      const one = { topic: 'default', dataKey: 'power', accumulators: ['AVG'] };
      expect((await asked({ ...one, deviceId })).status).toBe(403);
      expect((await asked(wanted({ deviceIds: [deviceId] }, 'MAX'))).status).toBe(403);
      const latest = await reader.call('POST', '/v3/devices/query/latest', {
        deviceIds: [deviceId],
      });
      expect(JSON.stringify(latest.body)).not.toContain('power');
    }
    const ofTag = { topic: 'default', dataKey: 'power', accumulator: 'AVG', interval };
    for (const group of [`tags/${tagId}`, `places/${placeId}`])
      expect((await reader.call('POST', `/v3/${group}/query/raw/kpi`, ofTag)).status).toBe(403);
  });
});
