// Contract 39.5: what a question means, among the names and data keys of a workspace.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AccessWorld, startAccessWorld } from '../access/access-world.ts';

let at: AccessWorld;
let workspaceId: string;
let room: string;
let pump: string;
let floor: string;
let tag: string;
beforeAll(async () => {
  at = await startAccessWorld();
  ({ workspaceId } = at.world);
  const { must } = at.owner;
  floor = (await must('POST', '/v3/places', { workspaceId, name: 'Floor 2' })).id;
  tag = (await must('POST', '/v3/tags', { workspaceId, name: 'Cooling' })).id;
  room = (await at.world.device({ name: 'Room 1' })).id;
  pump = (await at.world.device({ name: 'Main pump', tags: [{ id: tag }] })).id;
  await must('POST', '/v3/samples/bulk', [
    { deviceId: room, data: { temperature: 21, airHumidity: 40 } },
    { deviceId: pump, topic: 'motor', data: { power: 5 } },
  ]);
});
afterAll(() => at.close());

interface Reading {
  readonly kind: string;
  readonly sentence: string;
  readonly series: readonly object[];
  readonly filter: object | null;
  readonly link: string;
  readonly interval: { readonly from: string; readonly to: string } | null;
}
const ask = async (q: string, more = '') =>
  (await at.owner.must(
    'GET',
    `/v3/ask?q=${encodeURIComponent(q)}&workspaceId=${workspaceId}${more}`,
  )) as { readings: Reading[]; ignored: string[] };

test('a number and a chart, with the series, the accumulator and the time', async () => {
  const { readings, ignored } = await ask(
    'average temperature in room 1 yesterday',
    '&timeZone=UTC',
  );
  expect(ignored).toEqual([]);
  const interval = { from: expect.stringMatching(/T00:00:00.000Z$/), to: expect.any(String) };
  const series = [
    { deviceId: room, topic: 'default', dataKey: 'temperature', label: 'Room 1', unit: null },
  ];
  expect(readings).toMatchObject([
    {
      kind: 'VALUE',
      sentence: 'Average, temperature, Room 1, yesterday',
      series,
      accumulator: 'AVG',
      interval,
      filter: null,
      link: expect.stringContaining(
        `/w/${workspaceId}/devices/${room}?topic=default&key=temperature`,
      ),
    },
    { kind: 'CHART', series, accumulator: 'AVG', interval },
  ]);
});

test('in German, with words that the field has in both languages', async () => {
  const { readings, ignored } = await ask('höchste Temperatur von Room 1 letzte Woche');
  expect(ignored).toEqual([]);
  expect(readings[0]).toMatchObject({
    kind: 'VALUE',
    sentence: 'Maximum, temperature, Room 1, letzte woche',
    accumulator: 'MAX',
  });
});

test('without an accumulator a chart first, and the latest value', async () => {
  const { readings } = await ask('power main pump');
  expect(readings.map(({ kind }) => kind)).toEqual(['CHART', 'VALUE']);
  expect(readings[0]).toMatchObject({
    series: [{ deviceId: pump, topic: 'motor', dataKey: 'power' }],
    accumulator: null,
  });
  expect(readings[1]).toMatchObject({ accumulator: 'LAST', interval: null });
  for (const q of ['humidity room 1', 'air humidity room 1', 'luftfeuchtigkeit room 1'])
    expect(await ask(q)).toMatchObject({
      readings: [{ series: [{ deviceId: room, dataKey: 'airHumidity' }] }, { kind: 'VALUE' }],
      ignored: [],
    });
  expect((await ask('room 1')).readings).toMatchObject([
    { kind: 'OPEN', sentence: 'Open: Room 1' },
  ]);
});

test('devices that are silent or have a low battery, at a place or with a tag', async () => {
  for (const [q, group] of [
    ['silent floor 2', { field: 'places.id', predicate: 'CONTAINS_ANY', values: [floor] }],
    ['low battery cooling', { field: 'tags.id', predicate: 'CONTAINS_ANY', values: [tag] }],
  ] as const) {
    const { readings, ignored } = await ask(q);
    expect(ignored).toEqual([]);
    expect(readings).toHaveLength(1);
    expect(readings[0]).toMatchObject({
      kind: 'DEVICES',
      filter: { operator: 'AND', expressions: [{ predicate: 'EQUALS' }, group] },
    });
    // The filter is one that lists of devices take.
    const body = { workspaceIds: [workspaceId], expression: readings[0]!.filter };
    expect((await at.owner.call('POST', '/v3/assets/list', body)).status).toBe(200);
  }
  expect((await ask('stumme geräte')).readings[0]?.sentence).toBe('Stumme Geräte');
});

test('records to open, and alarms', async () => {
  expect((await ask('open main')).readings[0]).toMatchObject({
    kind: 'OPEN',
    sentence: 'Open: Main pump',
    link: `/w/${workspaceId}/devices/${pump}`,
  });
  expect((await ask('alarms room 1')).readings).toMatchObject([
    { kind: 'OPEN', link: `/w/${workspaceId}/alarms?device=${room}` },
  ]);
});

test('what is not understood is told; nothing is understood of nonsense', async () => {
  expect((await ask('temperature room 1 blorb')).ignored).toEqual(['blorb']);
  expect(await ask('blorb')).toEqual({ readings: [], ignored: ['blorb'] });
  expect(await ask('%_\\ \u0000')).toMatchObject({ readings: [] });
});

test('only records of the workspace that the caller reads', async () => {
  const path = `/v3/ask?q=room&workspaceId=${at.otherWorkspaceId}`;
  expect((await at.owner.call('GET', path)).status).toBe(404);
  const other = await at.otherOwner.must('GET', path);
  expect(other.readings).toEqual([]);
  const wrong = `/v3/ask?q=room&workspaceId=${workspaceId}&timeZone=Mars`;
  expect((await at.owner.call('GET', wrong)).status).toBe(400);
});
