// Contract 39: the data of a dashboard as JSON and CSV is what the query routes answer to the same caller.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readPdf } from '../../src/dashboards/documents/testing-pdf.ts';
import { csvRows } from '../../src/structures/csv.ts';
import { type AccessWorld, actingBy, startAccessWorld } from '../access/access-world.ts';

let at: AccessWorld;
let workspaceId: string;
let rooms: { id: string; name: string }[];
let tagId: string;
let base: string;

const from = '2026-03-28T00:00:00Z';
const to = '2026-03-30T00:00:00Z';
const range = `from=${from}&to=${to}`;
const hostile = '=HYPERLINK("x"), "quoted"\nnext';

beforeAll(async () => {
  at = await startAccessWorld();
  ({ workspaceId } = at.world);
  base = at.base;
  rooms = [];
  ({ id: tagId } = await at.owner.must('POST', '/v3/tags', { workspaceId, name: 'rooms' }));
  for (const name of ['B room', 'A room', hostile]) {
    const { id } = await at.world.device({ name, tags: [{ id: tagId }] });
    rooms.push({ id, name });
    const samples = Array.from({ length: 48 }, (_, hour) => ({
      deviceId: id,
      timestamp: new Date(Date.parse(from) + hour * 3_600_000).toISOString(),
      data: { temperature: hour + rooms.length * 100, note: `-${hour}` },
    }));
    await at.owner.must('POST', '/v3/samples/bulk', samples);
  }
});

afterAll(() => at.close());

const tile = (more: object) => ({ x: 0, y: 0, width: 6, height: 4, ...more });

async function stored(configuration: object): Promise<string> {
  const { id } = await at.owner.must('POST', '/v3/dashboards', {
    workspaceId,
    name: 'Rooms',
    configuration: { schema: 'heliograph-dashboard', version: 2, ...configuration },
  });
  return id;
}

interface Shown {
  readonly id: string;
  readonly kind: string;
  readonly title: string;
  readonly deviceId: string;
}

const temperature = { dataKey: 'temperature', unit: '°C' };
const rendered = (id: string, query: string) =>
  at.owner.must('GET', `/v3/dashboards/${id}/render?${query}`);

test('JSON has the series of the query route, in order of tile, series and device name', async () => {
  const id = await stored({
    timeZone: 'Europe/Zurich',
    tiles: [
      tile({
        id: 'chart',
        kind: 'line',
        title: 'Temperature',
        bucketInterval: 'PT1H',
        series: [
          { tagId, ...temperature },
          { deviceId: rooms[0]?.id, ...temperature, label: 'First', accumulator: 'MAX' },
        ],
      }),
      tile({
        id: 'now',
        y: 4,
        kind: 'value',
        series: [{ deviceId: rooms[1]?.id, ...temperature }],
      }),
    ],
  });
  const found = await rendered(id, range);
  expect(found.range).toEqual({
    from: '2026-03-28T00:00:00.000Z',
    to: '2026-03-30T00:00:00.000Z',
    timeZone: 'Europe/Zurich',
  });
  expect(found.tiles.map(({ id: one, kind, title }: Shown) => [one, kind, title])).toEqual([
    ['chart', 'line', 'Temperature'],
    ['now', 'value', ''],
  ]);
  const [chart, now] = found.tiles;
  const byName = [rooms[2], rooms[1], rooms[0], rooms[0]];
  expect(chart.series.map(({ deviceId }: Shown) => deviceId)).toEqual(byName.map((one) => one?.id));
  expect(chart.series[1].label).toBe('A room');
  expect(chart.series[3].label).toBe('First');
  const direct = await at.owner.must('POST', '/v3/devices/query/batch/time-series', {
    interval: { from, to },
    bucketInterval: 'PT1H',
    timeZone: 'Europe/Zurich',
    series: byName.map((one, i) => ({
      deviceId: one?.id,
      topic: 'default',
      dataKey: 'temperature',
      accumulators: i === 3 ? ['MAX'] : ['AVG', 'MIN', 'MAX'],
    })),
  });
  for (const [i, one] of chart.series.entries()) {
    const { timestamps, dataPoints } = direct[i];
    expect(one).toMatchObject({ topic: 'default', dataKey: 'temperature', unit: '°C', timestamps });
    expect(one.dataPoints).toMatchObject(dataPoints);
  }
  expect(now.latest).toEqual([
    {
      deviceId: rooms[1]?.id,
      label: 'A room',
      topic: 'default',
      dataKey: 'temperature',
      timestamp: '2026-03-29T23:00:00.000Z',
      value: 247,
    },
  ]);
});

test('a tag in a drawn tile is read for its first 200 devices, not only as many as a chart shows', async () => {
  const many = await at.owner.must('POST', '/v3/tags', { workspaceId, name: 'many' });
  for (let count = 0; count < 14; count++) await at.world.device({ tags: [{ id: many.id }] });
  const series = [{ tagId: many.id, ...temperature }];
  const id = await stored({ tiles: [tile({ id: 'a', kind: 'line', series })] });
  const { tiles } = await rendered(id, range);
  expect(tiles[0].series).toHaveLength(14);
});

test('variables choose devices and name them, and a repeated tile is one for each value', async () => {
  const id = await stored({
    variables: [
      { name: 'room', kind: 'DEVICE', multiple: true },
      { name: 'who', kind: 'TEXT', default: 'Facility' },
    ],
    tiles: [
      tile({
        id: 'chart',
        kind: 'line',
        title: '{{room}} for {{who}}, {{other}}',
        repeat: 'room',
        series: [{ variable: 'room', ...temperature }],
      }),
    ],
  });
  const [b, a] = rooms;
  const found = await rendered(id, `${range}&var.room=${b?.id}&var.room=${a?.id}`);
  expect(found.tiles.map(({ id: one, title }: Shown) => [one, title])).toEqual([
    [`chart:${b?.id}`, 'B room for Facility, {{other}}'],
    [`chart:${a?.id}`, 'A room for Facility, {{other}}'],
  ]);
  expect(found.tiles[1].series.map(({ deviceId }: Shown) => deviceId)).toEqual([a?.id]);
  const one = await rendered(
    id,
    `${range}&var.room=${b?.id}&var.room=${a?.id}&tile=chart:${a?.id}`,
  );
  expect(one.tiles).toHaveLength(1);
  const refused = async (query: string) =>
    at.owner.call('GET', `/v3/dashboards/${id}/render?${range}&${query}`);
  for (const [query, message] of [
    ['', 'var.room: is required'],
    [`var.room=${a?.id}&var.none=x`, 'var.none: the dashboard has no such variable'],
    [`var.room=${a?.id}&var.who=x&var.who=y`, 'var.who: takes one value'],
    [`var.room=${a?.id}&tile=none`, 'tile: the dashboard has no tile none'],
    [`var.room=${a?.id}&format=csv`, 'tile: is required for CSV'],
    [`var.room=${a?.id}&last=PT1H`, 'set either last, or from and to'],
    [`var.room=${a?.id}&timeZone=Mars/Base`, 'Unknown time zone Mars/Base'],
  ] as const) {
    const answer = await refused(query);
    expect([query, answer.status]).toEqual([query, 400]);
    expect(answer.body.message).toContain(message);
  }
});

test('a device of another workspace, or of another organization, is not found', async () => {
  const id = await stored({
    variables: [{ name: 'room', kind: 'DEVICE' }],
    tiles: [tile({ id: 'a', kind: 'line', series: [{ variable: 'room', ...temperature }] })],
  });
  const { id: elsewhere } = await at.world.device({ workspaceId: at.secondWorkspaceId });
  for (const device of [elsewhere, '02ffffffffffffff', 'none']) {
    const path = `/v3/dashboards/${id}/render?${range}&var.room=${device}`;
    expect((await at.owner.call('GET', path)).status).toBe(404);
  }
  const fixed = await stored({
    tiles: [tile({ id: 'a', kind: 'line', series: [{ deviceId: elsewhere, ...temperature }] })],
  });
  expect((await at.owner.call('GET', `/v3/dashboards/${fixed}/render`)).status).toBe(404);
  const gone = await stored({
    tiles: [tile({ id: 'a', kind: 'line', series: [{ deviceId: 'gone', ...temperature }] })],
  });
  expect((await rendered(gone, range)).tiles[0].series).toEqual([]);
});

test('CSV reads back as the values, with times of the zone and without formulas', async () => {
  const id = await stored({
    tiles: [
      tile({
        id: 'chart',
        kind: 'line',
        bucketInterval: 'PT1H',
        series: [{ tagId, ...temperature }],
      }),
      tile({ id: 'list', y: 4, kind: 'table', series: [{ tagId, dataKey: 'note' }] }),
    ],
  });
  const csv = async (query: string) => {
    const path = `${base}/v3/dashboards/${id}/render?${range}&format=csv&${query}`;
    const answer = await fetch(path, { headers: at.owner.headers });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    return [...csvRows(await answer.text(), ',')].map(({ cells, fault }) => {
      expect(fault).toBeUndefined();
      return cells;
    });
  };
  const [head, ...rows] = await csv('tile=chart&timeZone=Europe/Zurich');
  expect(head).toEqual(['time', `'${hostile} (°C)`, 'A room (°C)', 'B room (°C)']);
  const { tiles } = await rendered(id, `${range}&tile=chart&timeZone=Europe/Zurich`);
  expect(rows).toEqual(
    tiles[0].series[0].timestamps.map((_: string, i: number) => [
      expect.stringMatching(/^2026-03-\d\dT\d\d:00:00\+0[12]:00$/),
      ...tiles[0].series.map(({ dataPoints }: { dataPoints: { AVG: number[] } }) =>
        String(dataPoints.AVG[i]),
      ),
    ]),
  );
  const times = rows.map(([time = '']) => time);
  expect(times.map((time) => new Date(time).toISOString())).toEqual(tiles[0].series[0].timestamps);
  expect(times).toContain('2026-03-29T03:00:00+02:00');
  const [, list] = await csv('tile=list');
  // A negative number is one, also where a device sends it as text.
  expect(list).toEqual(['2026-03-29T23:00:00+00:00', '-47', '-47', '-47']);
});

test('contract 38: calculations between series are those of the query route, in JSON, CSV and PDF', async () => {
  const [first, second] = rooms;
  const series = [
    { deviceId: first?.id, ...temperature, ref: 'a', hidden: false },
    { deviceId: second?.id, ...temperature, ref: 'b', hidden: true, accumulator: 'MAX' },
  ];
  const calculations = [
    { as: 'Difference', expression: 'b - a.MIN', unit: 'K' },
    { as: 'Above', expression: 'a > 120' },
  ];
  const id = await stored({
    compare: 'P1D',
    tiles: [
      tile({ id: 'chart', kind: 'line', bucketInterval: 'PT1H', series, calculations }),
      tile({ id: 'bars', y: 4, kind: 'bar', series, calculations: calculations.slice(0, 1) }),
      tile({
        id: 'other',
        y: 8,
        kind: 'line',
        bucketInterval: 'PT1H',
        series: [{ tagId, ...temperature }],
      }),
    ],
  });
  const {
    tiles: [chart, bars, other],
  } = await rendered(id, range);
  const direct = await at.owner.must('POST', '/v3/devices/query/batch/time-series', {
    interval: { from, to },
    bucketInterval: 'PT1H',
    timeZone: 'UTC',
    series: series.map(({ deviceId, dataKey, ref, hidden }) => {
      const accumulators = hidden ? ['MAX'] : ['AVG', 'MIN', 'MAX'];
      return { deviceId, topic: 'default', dataKey, ref, hidden, accumulators };
    }),
    calculations: calculations.map(({ as, expression }) => ({ as, expression })),
  });
  expect(direct[1].dataPoints.VALUE.slice(0, 2)).toEqual([100, 100]);
  expect(chart.series).toEqual([
    expect.objectContaining({ label: 'B room', dataPoints: direct[0].dataPoints }),
    {
      deviceId: null,
      topic: null,
      label: 'Difference',
      unit: 'K',
      dataKey: 'b - a.MIN',
      timestamps: direct[1].timestamps,
      dataPoints: direct[1].dataPoints,
    },
    expect.objectContaining({ label: 'Above', unit: '', dataPoints: direct[2].dataPoints }),
  ]);
  // Of two days, three hours are a bar.
  const [, difference] = bars.series;
  expect(difference.timestamps).toHaveLength(16);
  expect(difference.dataPoints.VALUE[0]).toBe(102);
  expect(other.series).toHaveLength(3);
  const csv = await fetch(`${base}/v3/dashboards/${id}/render?${range}&format=csv&tile=chart`, {
    headers: at.owner.headers,
  });
  expect((await csv.text()).split(/\r?\n/).slice(0, 2)).toEqual([
    'time,B room (°C),Difference (K),Above',
    '2026-03-28T00:00:00+00:00,100,100,0',
  ]);
  const pdf = await fetch(`${base}/v3/dashboards/${id}/render?${range}&format=pdf&tile=chart`, {
    headers: at.owner.headers,
  });
  const { pages } = await readPdf(await pdf.bytes());
  const lines = pages.flatMap(({ polylines }) => polylines).filter((one) => one.length > 20);
  expect(pages.map(({ text }) => text).join(' ')).toContain('Difference (K)');
  // Three lines, and those of the day before, which the first day has none of.
  expect(lines).toHaveLength(6);
});

test('value, gauge, state and table tiles calculate with the last values of the range, and have formulas', async () => {
  const [first, second] = rooms;
  const series = [
    { deviceId: first?.id, ...temperature, ref: 'a' },
    { deviceId: second?.id, ...temperature, ref: 'b' },
  ];
  const calculations = [{ as: 'Difference', expression: 'b - a', unit: 'K' }];
  const formula = { deviceId: first?.id, topic: 'default', expression: 'temperature * 2' };
  const id = await stored({
    tiles: [
      tile({ id: 'now', kind: 'value', series, calculations }),
      tile({ id: 'arc', y: 4, kind: 'gauge', min: -50, max: 50, series, calculations }),
      tile({ id: 'rows', y: 8, kind: 'table', series: [...series, formula], calculations }),
      tile({ id: 'states', y: 12, kind: 'state', series: [formula] }),
    ],
  });
  const last = async (deviceId: string | undefined) => {
    const { kpi } = await at.owner.must('POST', `/v3/devices/${deviceId}/query/raw/kpi`, {
      topic: 'default',
      dataKey: 'temperature',
      accumulator: 'LAST',
      interval: { from, to },
    });
    return kpi as number;
  };
  const [a, b] = [await last(first?.id), await last(second?.id)];
  const {
    tiles: [now, arc, rows, states],
  } = await rendered(id, range);
  const difference = {
    deviceId: null,
    topic: null,
    label: 'Difference',
    dataKey: 'b - a',
    timestamp: new Date(to).toISOString(),
    value: b - a,
  };
  expect(now).toMatchObject({ title: '', series: [], latest: [difference] });
  expect(arc).toMatchObject({ series: [], latest: [difference] });
  expect(rows.series).toEqual([]);
  expect(rows.latest).toMatchObject([
    { deviceId: first?.id, dataKey: 'temperature' },
    { deviceId: second?.id, dataKey: 'temperature' },
    { deviceId: first?.id, dataKey: 'temperature * 2', value: a * 2 },
    difference,
  ]);
  expect(states).toMatchObject({
    series: [],
    latest: [{ dataKey: 'temperature * 2', value: a * 2 }],
  });
  expect(Date.parse(states.latest[0].timestamp)).toBeLessThan(Date.parse(to));
  const csv = await fetch(`${base}/v3/dashboards/${id}/render?${range}&format=csv&tile=now`, {
    headers: at.owner.headers,
  });
  expect((await csv.text()).split(/\r?\n/)[0]).toBe('time,Difference (K)');
  const pdf = await fetch(`${base}/v3/dashboards/${id}/render?${range}&format=pdf`, {
    headers: at.owner.headers,
  });
  const { pages } = await readPdf(await pdf.bytes());
  expect(pages.map(({ text }) => text).join(' ')).toContain('Difference');
});

test('a calculation of a device that is gone is left out, and the other series stay', async () => {
  const gone = await at.world.device({});
  const id = await stored({
    tiles: [
      tile({
        id: 'chart',
        kind: 'line',
        series: [
          { deviceId: rooms[0]?.id, ...temperature, ref: 'a' },
          { deviceId: gone.id, ...temperature, ref: 'b' },
        ],
        calculations: [
          { as: 'Both', expression: 'a - b' },
          { as: 'One', expression: 'a * 2' },
        ],
      }),
    ],
  });
  await at.owner.must('DELETE', `/v3/devices/${gone.id}`);
  const { tiles } = await rendered(id, range);
  expect(tiles[0].series.map(({ label }: { label: string }) => label)).toEqual(['B room', 'One']);
});

test('a reader of dashboards without devices gets nothing, and a share token neither', async () => {
  const id = await stored({ tiles: [] });
  const { secret } = await at.owner.must('POST', '/v3/api-keys', {
    name: 'Half',
    organizationId: at.world.organizationId,
    permissions: { dashboard: ['read'] },
  });
  const half = actingBy(base, { 'x-api-key': secret });
  expect((await half.call('GET', `/v3/dashboards/${id}/render`)).status).toBe(403);
  const { token } = await at.owner.must('POST', `/v3/dashboards/${id}/share`);
  const shared = actingBy(base, { authorization: `Bearer ${token}` });
  expect((await shared.call('GET', `/v3/dashboards/${id}/render`)).status).toBe(403);
});

test('PDF has the charts, figures, lists and alarms of the dashboard, and tells what it lacks', async () => {
  const id = await stored({
    variables: [{ name: 'room', kind: 'DEVICE', label: 'Room', default: rooms[0]?.id }],
    tiles: [
      tile({
        id: 'chart',
        kind: 'line',
        title: 'Temperature 温度',
        series: [{ tagId, ...temperature }],
        thresholds: [{ from: 250, tone: 'BAD', label: 'Too warm' }],
      }),
      tile({ id: 'now', y: 4, kind: 'value', series: [{ variable: 'room', ...temperature }] }),
      tile({ id: 'list', y: 8, kind: 'devices', columns: [{ dataKey: 'note', label: 'Note' }] }),
      tile({ id: 'alarms', y: 12, kind: 'alarms' }),
      tile({ id: 'text', y: 16, kind: 'text', text: '# For {{room}}' }),
      tile({
        id: 'pump',
        y: 20,
        kind: 'control',
        variable: 'room',
        label: 'Switch the pump',
        downlink: { payload: {} },
      }),
    ],
  });
  const path = `${base}/v3/dashboards/${id}/render?${range}&format=pdf&timeZone=Europe/Zurich`;
  const answer = await fetch(path, { headers: at.owner.headers });
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/pdf']);
  expect(answer.headers.get('x-missing-glyphs')).toBe('U+6E29 U+5EA6');
  expect(answer.headers.get('content-disposition')).toBe('attachment; filename="Rooms.pdf"');
  const { title, pages } = await readPdf(await answer.bytes());
  expect(title).toBe('Rooms');
  const text = pages.map((page) => page.text).join(' ');
  for (const part of [
    '28 Mar 2026, 01:00 to 30 Mar 2026, 02:00 (Europe/Zurich)',
    'Room: B room',
    'Temperature',
    'Too warm',
    'A room (°C)',
    '147',
    'Note',
    'Last seen',
    'No open alarms',
    'For B room',
  ])
    expect(text).toContain(part);
  expect(text).not.toContain('pump');
  expect(
    pages.flatMap(({ polylines }) => polylines).filter((line) => line.length > 40),
  ).toHaveLength(3);
});

test('of many at once, an organization gets two documents, and 429 for the rest', async () => {
  const series = [{ tagId, ...temperature }];
  const id = await stored({ tiles: [tile({ id: 'a', kind: 'line', series })] });
  // Another thread draws them, so that the first ones are in progress when the others arrive.
  const path = `${base}/v3/dashboards/${id}/render?${range}&format=pdf`;
  const headers = at.owner.headers;
  const all = await Promise.all(Array.from({ length: 20 }, () => fetch(path, { headers })));
  const bodies = await Promise.all(all.map((answer) => answer.text()));
  const statuses = all.map(({ status }) => status);
  expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(2);
  expect(statuses).toContain(429);
  const busy = statuses.indexOf(429);
  expect(JSON.parse(bodies[busy] ?? '').errorCode).toBe('42920_DOCUMENTS_BUSY');
  expect(all[busy]?.headers.get('retry-after')).toBe('2');
  expect((await fetch(path, { headers })).status).toBe(200);
});

test('contract 39: PDF draws histograms, states and heatmaps as the tiles do', async () => {
  const [room] = rooms;
  const series = [{ deviceId: room?.id, ...temperature }];
  const id = await stored({
    tiles: [
      tile({ id: 'spread', kind: 'histogram', title: 'Spread', series }),
      tile({ id: 'hours', x: 6, kind: 'heatmap', title: 'Hours', series }),
      tile({
        id: 'states',
        y: 4,
        width: 12,
        kind: 'timeline',
        title: 'States',
        series: [{ deviceId: room?.id, dataKey: 'note', label: 'Note of the room' }],
      }),
      tile({ id: 'none', y: 8, kind: 'histogram', series: [{ ...series[0], dataKey: 'gone' }] }),
    ],
  });
  const path = `${base}/v3/dashboards/${id}/render?${range}&format=pdf&timeZone=Europe/Zurich`;
  const answer = await fetch(path, { headers: at.owner.headers });
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/pdf']);
  const { pages } = await readPdf(await answer.bytes());
  const text = pages.map((page) => page.text).join(' ');
  for (const part of [
    'of 48 values',
    '100 – 147 °C',
    '06:00',
    'Note of the room',
    'No data in this range',
  ])
    expect(text).toContain(part);
  expect(text).not.toContain('Open the dashboard');
  expect(pages.every(({ pictures }) => pictures === 0)).toBe(true);
});
