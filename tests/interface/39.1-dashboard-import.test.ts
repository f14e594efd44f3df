// Contract 39.1: dashboards of Grafana are imported with a report.
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { importGrafana } from '../../src/dashboards/grafana.ts';
import { checkDashboardConfiguration } from '../../src/http/routes/dashboard-check.ts';
import type { JsonObject } from '../../src/model/json.ts';
import { startWorld, type World } from '../world/world.ts';

const path = '/v3/dashboards/import';
let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

const source = (deviceId: string) => ({
  schemaVersion: 39,
  title: 'Cold store',
  time: { from: 'now-24h', to: 'now' },
  panels: [
    {
      id: 1,
      type: 'timeseries',
      title: 'Temperature',
      gridPos: { x: 0, y: 0, w: 16, h: 8 },
      fieldConfig: {
        defaults: {
          unit: 'celsius',
          thresholds: { mode: 'absolute', steps: [{ color: 'green', value: null }] },
        },
      },
      targets: [{ refId: 'A', assetId: deviceId, dataKey: 'temperature' }],
    },
    { id: 2, type: 'stat', title: 'Door', gridPos: { x: 16, y: 0, w: 8, h: 8 } },
    { id: 3, type: 'news', title: 'News', gridPos: { x: 0, y: 8, w: 24, h: 4 } },
  ],
});
const report = {
  mapped: [
    { panelId: 1, title: 'Temperature', from: 'timeseries', to: 'line' },
    { panelId: 2, title: 'Door', from: 'stat', to: 'value' },
  ],
  notMapped: [{ panelId: 3, title: 'News', reason: 'Panels of type news are not supported' }],
};

test('a dry run returns the report and the configuration, and creates nothing', async () => {
  const { id } = await world.device();
  const body = { workspaceId: world.workspaceId, format: 'GRAFANA', source: source(id) };
  const { status, body: answer } = await world.call('POST', path, { ...body, dryRun: true });
  expect(status).toBe(200);
  expect(answer).toMatchObject({ dashboard: null, ...report });
  expect(answer.configuration.tiles).toMatchObject([
    { kind: 'line', title: 'Temperature', x: 0, y: 0, width: 8, height: 4 },
    { kind: 'value', title: 'Door', x: 8, y: 0, width: 4, height: 4 },
  ]);
  const list = await world.must('GET', `/v3/dashboards?workspaceId=${world.workspaceId}`);
  expect(list.content).toEqual([]);
});

test('the dashboard has the title, or the name that is given, and draws its series', async () => {
  const { id } = await world.device();
  const body = { workspaceId: world.workspaceId, format: 'GRAFANA', source: source(id) };
  const { status, body: answer } = await world.call('POST', path, body);
  expect(status).toBe(201);
  expect(answer).toMatchObject({ dashboard: { name: 'Cold store', version: 0 }, ...report });
  expect(await world.must('GET', `/v3/dashboards/${answer.dashboard.id}`)).toEqual(
    answer.dashboard,
  );
  expect(answer.dashboard.configuration).toMatchObject({
    schema: 'heliograph-dashboard',
    version: 2,
    range: { last: 'PT24H' },
    tiles: [{ series: [{ deviceId: id, dataKey: 'temperature', unit: '°C' }] }, {}],
  });
  const named = await world.must('POST', path, { ...body, name: 'Mine' });
  expect(named.dashboard.name).toBe('Mine');
  const bare = { panels: [] };
  const untitled = await world.must('POST', path, { ...body, source: bare });
  expect(untitled.dashboard.name).toBe('Grafana');
});

test.each<[string, object, string]>([
  ['another format', { format: 'KIBANA' }, 'format'],
  ['a source that is no object', { source: '{}' }, 'source'],
  ['something else', { source: { tiles: [] } }, 'body source: is no dashboard of Grafana'],
  [
    'version 2 of Grafana',
    { source: { apiVersion: 'v2', spec: { elements: {} } } },
    'body source: is a dashboard of version 2 of Grafana',
  ],
])('%s is refused', async (_, more, reason) => {
  const body = { workspaceId: world.workspaceId, format: 'GRAFANA', source: source(''), ...more };
  const answer = await world.call('POST', path, body);
  expect(answer).toMatchObject({ status: 400 });
  expect(answer.body.message).toContain(reason);
});

test('whatever is imported fits the schema of configurations', () => {
  const text = fc.oneof(fc.string(), fc.constantFrom('green', 'red', 'celsius', '02a', 'table'));
  const number = fc.oneof(fc.double(), fc.integer({ min: -5, max: 50 }));
  const panel = fc.record(
    {
      id: fc.integer(),
      type: fc.constantFrom('stat', 'timeseries', 'gauge', 'text', 'barchart', 'geomap', 'row'),
      title: fc.string({ maxLength: 2_000 }),
      gridPos: fc.record({ x: number, y: number, w: number, h: number }),
      options: fc.record({
        mode: fc.constantFrom('markdown', 'html'),
        content: text,
        legend: fc.record({ placement: text, calcs: fc.array(fc.constantFrom('min', 'last')) }),
      }),
      targets: fc.array(
        fc.record({ deviceId: text, topic: text, dataKey: text, legendFormat: text }),
      ),
      fieldConfig: fc.record({
        defaults: fc.record({
          unit: fc.oneof(
            text,
            fc.string().map((unit) => `suffix:${unit}`),
          ),
          min: number,
          max: number,
          thresholds: fc.record({
            steps: fc.array(fc.record({ color: text, value: fc.oneof(number, fc.constant(null)) })),
          }),
          custom: fc.record({ axisLabel: text, drawStyle: fc.constantFrom('bars', 'line') }),
        }),
      }),
      panels: fc.array(fc.record({ id: fc.integer(), type: fc.constant('stat') })),
    },
    { requiredKeys: ['id', 'type'] },
  );
  const variable = fc.record({
    type: fc.constantFrom('custom', 'textbox', 'query'),
    name: fc.string({ minLength: 1 }),
    label: text,
    multi: fc.boolean(),
    query: fc.string(),
    current: fc.record({ value: fc.oneof(text, fc.array(text)) }),
  });
  const dashboard = fc.record({
    title: fc.string({ maxLength: 2_000 }),
    time: fc.record({
      from: fc.oneof(text, fc.constantFrom('now-6h', 'now-0d', '2026-01-01T00:00:00Z')),
      to: fc.oneof(text, fc.constantFrom('now', '2026-02-01T00:00:00Z')),
    }),
    refresh: fc.oneof(text, fc.constantFrom('1s', '30s', '99999d')),
    timezone: text,
    templating: fc.record({ list: fc.array(variable, { maxLength: 30 }) }),
    panels: fc.array(panel, { maxLength: 40 }),
  });
  fc.assert(
    fc.property(dashboard, (sent) => {
      const { configuration } = importGrafana(JSON.parse(JSON.stringify(sent)) as JsonObject);
      checkDashboardConfiguration(JSON.parse(JSON.stringify(configuration)) as JsonObject);
    }),
    { numRuns: 300 },
  );
});
