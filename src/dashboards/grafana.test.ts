// Import of dashboards of Grafana: every panel is mapped or named, no tiles overlap, and no JSON does more than be refused.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../model/json.ts';
import { Problem } from '../model/problem.ts';
import { importGrafana } from './grafana.ts';

const panel = (id: number, type: string, more: JsonObject = {}): JsonObject => ({
  id,
  type,
  title: `Panel ${id}`,
  gridPos: { x: (id % 2) * 12, y: Math.floor(id / 2) * 8, w: 12, h: 8 },
  ...more,
});
const tilesOf = (panels: JsonObject[], more: JsonObject = {}) =>
  importGrafana({ panels, ...more }).configuration.tiles;

describe('panels', () => {
  test('each known type has its kind', () => {
    const kinds = {
      ...{ timeseries: 'line', graph: 'line', barchart: 'bar', stat: 'value', singlestat: 'value' },
      ...{ gauge: 'gauge', bargauge: 'gauge', 'state-timeline': 'timeline' },
      ...{ 'status-history': 'timeline', heatmap: 'heatmap', histogram: 'histogram' },
      ...{ table: 'table', geomap: 'map', alertlist: 'alarms' },
    };
    const types = Object.entries(kinds);
    const panels = types.map(([type], id) => panel(id, type));
    const { mapped, notMapped, configuration } = importGrafana({ panels, title: 'All' });
    expect(notMapped).toEqual([]);
    expect(mapped).toEqual(
      types.map(([from, to], id) => ({ panelId: id, title: `Panel ${id}`, from, to })),
    );
    expect(configuration.tiles.map(({ kind }) => kind)).toEqual(types.map(([, to]) => to));
  });

  test('others, HTML and empty texts are named', () => {
    const { mapped, notMapped } = importGrafana({
      panels: [
        panel(1, 'news'),
        panel(2, 'text', { options: { mode: 'html', content: '<script>alert(1)</script>' } }),
        panel(3, 'text', { options: { mode: 'markdown', content: ' ' } }),
        { id: 4 },
        panel(5, 'text', { options: { mode: 'markdown', content: '# Hall' } }),
      ],
    });
    expect(mapped.map(({ panelId }) => panelId)).toEqual([5]);
    expect(notMapped.map(({ panelId, reason }) => [panelId, reason])).toEqual([
      [4, 'Panels without a type are not supported'],
      [1, 'Panels of type news are not supported'],
      [2, 'Text of mode html is not supported; only Markdown is'],
      [3, 'The text is empty'],
    ]);
  });

  test('24 columns become 12, and panels that touch do so afterwards', () => {
    const thirds = [0, 8, 16].map((x, id) =>
      panel(id, 'stat', { gridPos: { x, y: 0, w: 8, h: 5 } }),
    );
    const odd = [0, 5, 10].map((x, id) =>
      panel(id + 3, 'stat', { gridPos: { x, y: 5, w: 5, h: 4 } }),
    );
    expect(
      tilesOf([...thirds, ...odd]).map(({ x, y, width, height }) => [x, y, width, height]),
    ).toEqual([
      [0, 0, 4, 2],
      [4, 0, 4, 2],
      [8, 0, 4, 2],
      [0, 2, 2, 2],
      [2, 2, 3, 2],
      [5, 2, 2, 2],
    ]);
  });

  test('panels inside rows too; those of a closed row push down what follows', () => {
    const at = (y: number) => ({ gridPos: { x: 0, y, w: 24, h: 4 } });
    const { configuration, mapped, notMapped } = importGrafana({
      panels: [
        panel(1, 'stat', at(0)),
        {
          ...panel(2, 'row', { gridPos: { x: 0, y: 4, w: 24, h: 1 }, collapsed: true }),
          panels: [panel(3, 'stat', at(5)), panel(4, 'stat', at(9))],
        },
        panel(5, 'stat', at(5)),
      ],
    });
    expect(mapped.map(({ panelId }) => panelId)).toEqual([1, 3, 4, 5]);
    expect(notMapped).toMatchObject([{ panelId: 2, title: 'Panel 2' }]);
    const ys = configuration.tiles.map(({ y }) => y);
    expect(ys).toEqual(ys.toSorted((a, b) => a - b));
    expect(new Set(ys).size).toBe(4);
  });

  test('rows of old models, from left to right', () => {
    const row = (...spans: number[]) => ({
      panels: spans.map((span) => ({ type: 'graph', span })),
    });
    const { tiles } = importGrafana({ rows: [row(6, 6, 4), row(12)] }).configuration;
    expect(tiles.map(({ x, y, width }) => [x, y, width])).toEqual([
      [0, 0, 6],
      [6, 0, 6],
      [0, 4, 4],
      [0, 8, 12],
    ]);
  });
});

describe('parts of a panel', () => {
  const defaults = (more: JsonObject): JsonObject => ({ fieldConfig: { defaults: more } });

  test('targets of this platform become series with their unit; others are named', () => {
    const targets = [
      { refId: 'A', assetId: '02a', dataKey: 'temperature', legendFormat: 'Inside' },
      { refId: 'B', deviceId: '02b', topic: 'out', dataKey: 'temperature' },
      { refId: 'C', expr: 'up', datasource: { type: 'prometheus' } },
      { refId: 'D', deviceId: '02b', dataKey: 'x', hide: true },
    ];
    const { configuration, notMapped } = importGrafana({
      panels: [panel(1, 'timeseries', { targets, ...defaults({ unit: 'celsius' }) })],
    });
    expect(configuration.tiles[0]?.series).toEqual([
      { deviceId: '02a', dataKey: 'temperature', label: 'Inside', unit: '°C' },
      { deviceId: '02b', topic: 'out', dataKey: 'temperature', unit: '°C' },
    ]);
    expect(notMapped.map(({ reason }) => reason)).toEqual([
      'Query C (prometheus) is not supported. Choose a device and a data key',
      'Query D is hidden',
    ]);
  });

  test('thresholds by color; a step without a value begins far below', () => {
    const steps = [
      { color: 'green', value: null },
      { color: 'semi-dark-orange', value: 20 },
      { color: 'dark-red', value: 30 },
      { color: 'blue', value: 40 },
    ];
    const { configuration, notMapped } = importGrafana({
      panels: [
        panel(1, 'stat', defaults({ thresholds: { mode: 'absolute', steps } })),
        panel(2, 'singlestat', { thresholds: '50,80', colors: ['green', 'yellow', 'red'] }),
        panel(3, 'graph', { thresholds: [{ colorMode: 'critical', op: 'gt', value: 9 }] }),
      ],
    });
    expect(configuration.tiles.map(({ thresholds }) => thresholds)).toEqual([
      [
        { from: -1e300, tone: 'OK' },
        { from: 20, tone: 'WARNING' },
        { from: 30, tone: 'BAD' },
      ],
      [
        { from: -1e300, tone: 'OK' },
        { from: 50, tone: 'WARNING' },
        { from: 80, tone: 'BAD' },
      ],
      [{ from: 9, tone: 'BAD' }],
    ]);
    expect(notMapped).toHaveLength(1);
    expect(notMapped[0]?.reason).toContain('blue');
  });

  test('what has no counterpart is named: units, overrides, alerts, wrong bounds', () => {
    const { configuration, notMapped } = importGrafana({
      panels: [
        panel(1, 'gauge', {
          ...defaults({ unit: 'parsec', min: 5, max: 5 }),
          alert: {},
          transformations: [{ id: 'reduce' }],
          repeat: 'host',
        }),
        panel(2, 'gauge', defaults({ min: 0, max: 40 })),
      ],
    });
    expect(notMapped.map(({ panelId }) => panelId)).toEqual([1, 1, 1, 1, 1]);
    expect(configuration.tiles[0]).not.toHaveProperty('min');
    expect(configuration.tiles[1]).toMatchObject({ min: 0, max: 40 });
  });
});

describe('files as people share them', () => {
  const library = { uid: 'lib1', name: 'Room climate' };
  const shared = { id: 7, gridPos: { x: 0, y: 0, w: 12, h: 8 }, libraryPanel: library };

  test('library panels come from the file, and are named where it lacks them', () => {
    const model = { type: 'gauge', title: 'Climate', fieldConfig: { defaults: { max: 40 } } };
    const whole = importGrafana({
      panels: [shared],
      __elements: { lib1: { uid: 'lib1', name: 'Room climate', kind: 1, model } },
    });
    expect(whole.configuration.tiles).toMatchObject([{ kind: 'gauge', title: 'Climate', max: 40 }]);
    expect(whole.mapped).toMatchObject([{ panelId: 7, from: 'gauge' }]);
    const alone = importGrafana({ panels: [shared] });
    expect(alone.mapped).toEqual([]);
    expect(alone.notMapped).toEqual([
      {
        panelId: 7,
        title: '',
        reason:
          'The library panel Room climate is not in the file. Export the dashboard for sharing externally',
      },
    ]);
    const older = importGrafana({ panels: [{ ...shared, type: 'stat', title: 'Own' }] });
    expect(older.configuration.tiles).toMatchObject([{ kind: 'value', title: 'Own' }]);
  });

  test('copies of repeated panels, which old files have, are left out', () => {
    const { mapped, notMapped } = importGrafana({
      panels: [panel(1, 'graph', { repeat: 'host' }), panel(2, 'graph', { repeatPanelId: 1 })],
    });
    expect(mapped.map(({ panelId }) => panelId)).toEqual([1]);
    expect(notMapped.map(({ panelId, reason }) => [panelId, reason])).toEqual([
      [1, 'The panel is not repeated, because its variable names no devices'],
      [2, 'The panel is a copy of the repeated panel 1'],
    ]);
  });

  test('queries are named once a source, by the type that inputs and variables stand for', () => {
    const { notMapped } = importGrafana({
      __inputs: [{ name: 'DS_HOUSE', type: 'datasource', pluginId: 'influxdb' }],
      templating: { list: [{ type: 'datasource', name: 'source', query: 'prometheus' }] },
      panels: [
        panel(1, 'timeseries', {
          datasource: { type: 'datasource', uid: '-- Mixed --' },
          targets: [
            { refId: 'A', datasource: '${DS_HOUSE}', query: 'from(bucket: "b")' },
            { refId: 'B', datasource: '$source', expr: 'up' },
            { refId: 'C', datasource: '${source}', expr: 'down' },
            { refId: 'D', datasource: { type: 'postgres', uid: 'x' }, rawSql: 'SELECT 1' },
          ],
        }),
      ],
    });
    const of1 = notMapped.filter(({ panelId }) => panelId === 1);
    expect(of1.map(({ reason }) => reason)).toEqual([
      'Query A (influxdb) is not supported. Choose a device and a data key',
      'Queries B, C (prometheus) are not supported. Choose a device and a data key',
      'Query D (postgres) is not supported. Choose a device and a data key',
    ]);
  });

  test('colors of thresholds by their hue, and percents of a known range', () => {
    const colors = [
      '#299c46',
      'rgba(237, 129, 40, 0.89)',
      '#EAB839',
      '#d44a3a',
      '#1F60C4',
      'rgb(255, 255, 255)',
    ];
    const steps = colors.map((color, at) => ({ color, value: at * 10 }));
    const defaults = { min: 0, max: 200, thresholds: { mode: 'percentage', steps } };
    const { configuration, notMapped } = importGrafana({
      panels: [panel(1, 'gauge', { fieldConfig: { defaults } })],
    });
    expect(configuration.tiles[0]?.thresholds).toEqual([
      { from: 0, tone: 'OK' },
      { from: 20, tone: 'WARNING' },
      { from: 40, tone: 'WARNING' },
      { from: 60, tone: 'BAD' },
    ]);
    expect(notMapped.map(({ reason }) => reason)).toEqual([
      expect.stringContaining('#1F60C4'),
      expect.stringContaining('rgb(255, 255, 255)'),
    ]);
  });

  test('graphs of old: units of the axis, figures of the legend, heights of rows', () => {
    const target = { deviceId: 'd1', dataKey: 'power' };
    const { configuration, notMapped } = importGrafana({
      rows: [
        {
          title: 'Energy',
          showTitle: true,
          height: '150px',
          panels: [
            {
              id: 1,
              type: 'graph',
              span: 12,
              targets: [target],
              yaxes: [{ format: 'kwatt' }, { format: 'short' }],
              legend: { show: true, rightSide: true, values: true, avg: true, current: true },
              stack: true,
            },
          ],
        },
        { panels: [{ id: 2, type: 'graph', span: 12 }] },
      ],
    });
    expect(configuration.tiles).toMatchObject([
      {
        y: 0,
        height: 2,
        series: [{ unit: 'kW' }],
        legend: { place: 'RIGHT', figures: ['LAST', 'AVG'] },
      },
      { y: 2 },
    ]);
    expect(notMapped).toEqual([
      { panelId: null, title: 'Energy', reason: expect.stringContaining('Rows have no tile') },
      { panelId: 1, title: '', reason: 'The series are not stacked' },
    ]);
  });

  test('settings without a counterpart are named, one by one', () => {
    const { notMapped, description } = importGrafana({
      description: 'Of the whole house',
      links: [{ title: 'Docs' }],
      panels: [
        panel(1, 'stat', {
          description: 'A long story',
          transformations: [{ id: 'reduce' }, { id: 'organize' }],
          timeFrom: '1h',
          options: { reduceOptions: { calcs: ['mean'] } },
          fieldConfig: {
            defaults: { unit: 'percentunit', mappings: [{ type: 'value' }], links: [{}] },
            overrides: [{}],
          },
        }),
        { ...panel(2, 'row'), repeat: 'host', panels: [] },
      ],
    });
    expect(description).toBe('Of the whole house');
    expect(notMapped.map(({ reason }) => reason).toSorted()).toEqual([
      'Links of the dashboard are not imported',
      'Links of values are not imported',
      'Mappings of values to texts are not imported',
      'Overrides of fields are not imported',
      'Rows have no tile; the panels of the row are imported',
      'The calculation mean is not imported; the tile shows the newest value',
      'The description of 1 panel is not imported',
      'The row is not repeated, because its variable names no devices',
      'The time range of the panel, 1h, is not imported',
      'The unit percentunit is left out; values from 0 to 1 are not multiplied by 100',
      'Transformations (reduce, organize) are not imported',
    ]);
  });
});

test('times and variables, and references to them in titles', () => {
  const { configuration, notMapped, name } = importGrafana({
    spec: {
      title: 'Plant',
      time: { from: 'now-6h', to: 'now' },
      refresh: '30s',
      timezone: 'Europe/Zurich',
      templating: {
        list: [
          { type: 'custom', name: 'Line_No', query: 'A, B,Third : C', current: { value: 'B' } },
          { type: 'textbox', name: 'note', query: 'none' },
          { type: 'query', name: 'host', query: 'label_values(x)' },
        ],
      },
      panels: [panel(1, 'stat', { title: 'Line $Line_No ${note:raw} [[host]] $other' })],
    },
  });
  expect(name).toBe('Plant');
  expect(configuration).toMatchObject({
    range: { last: 'PT6H' },
    refresh: 'PT30S',
    timeZone: 'Europe/Zurich',
    variables: [
      { name: 'lineNo', kind: 'TEXT', options: ['A', 'B', 'C'], default: 'B' },
      { name: 'note', kind: 'TEXT', default: 'none' },
    ],
    tiles: [{ title: 'Line {{lineNo}} {{note}} [[host]] $other' }],
  });
  expect(notMapped).toEqual([
    { panelId: null, title: 'host', reason: 'Variables of type query are not supported' },
  ]);
});

test.each<[string, JsonObject, string]>([
  ['something else', { tiles: [] }, 'is no dashboard of Grafana'],
  ['nothing', {}, 'neither panels nor rows'],
  ['version 2', { spec: { elements: {}, layout: {} } }, 'dashboard of version 2'],
  ['panels that are no list', { panels: 'many' }, 'neither panels nor rows'],
])('%s is refused with the reason', (_, source, reason) => {
  expect(() => importGrafana(source)).toThrow(reason);
});

test('hostile titles stay text of bounded length', () => {
  const title = `<img src=x onerror=alert(1)>\u0000\u001b[31m\ud800${'x'.repeat(10_000)}`;
  const { mapped, configuration } = importGrafana({ panels: [panel(1, 'stat', { title })] });
  const [tile] = configuration.tiles;
  expect(tile?.title).toMatch(/^<img src=x onerror=alert\(1\)> \[31m x+$/);
  expect(tile?.title?.length).toBeLessThanOrEqual(500);
  expect(mapped[0]?.title).toBe(tile?.title);
});

const anything = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<Json>;
const number = fc.oneof(fc.integer({ min: -5, max: 60 }), fc.double(), anything);
const anyPanel = fc.record(
  {
    id: fc.integer(),
    type: fc.constantFrom('stat', 'timeseries', 'gauge', 'text', 'row', 'news', 'geomap'),
    title: fc.string(),
    gridPos: fc.record({ x: number, y: number, w: number, h: number }, { requiredKeys: [] }),
    options: anything,
    targets: anything,
    fieldConfig: fc.oneof(anything, fc.record({ defaults: anything })),
    thresholds: anything,
    panels: fc.array(fc.record({ id: fc.integer(), type: fc.constant('stat') }), { maxLength: 5 }),
  },
  { requiredKeys: ['id', 'type'] },
);

test('any panels at any places: no overlap, inside of the grid, each mapped or named', () => {
  fc.assert(
    fc.property(fc.array(anyPanel, { maxLength: 60 }), (panels) => {
      const source = JSON.parse(JSON.stringify({ panels })) as JsonObject;
      const { configuration, mapped, notMapped } = importGrafana(source);
      const taken = new Set<string>();
      for (const { x, y, width, height } of configuration.tiles) {
        expect(x).toBeGreaterThanOrEqual(0);
        expect(x + width).toBeLessThanOrEqual(12);
        expect(y).toBeGreaterThanOrEqual(0);
        expect(y).toBeLessThanOrEqual(1_000);
        for (let column = x; column < x + width; column++)
          for (let row = y; row < y + height; row++) {
            expect(taken.has(`${column} ${row}`)).toBe(false);
            taken.add(`${column} ${row}`);
          }
      }
      expect(configuration.tiles).toHaveLength(mapped.length);
      const named = new Set([...mapped, ...notMapped].map(({ panelId }) => panelId));
      for (const one of panels) {
        expect(named.has(one.id)).toBe(true);
        if (one.type === 'row')
          for (const inner of one.panels ?? []) expect(named.has(inner.id)).toBe(true);
      }
    }),
  );
});

test('any JSON is imported or refused with a reason', () => {
  const source = fc.oneof(
    fc.dictionary(fc.string(), anything),
    fc.record(
      {
        panels: anything,
        rows: anything,
        spec: anything,
        time: anything,
        refresh: anything,
        timezone: anything,
        templating: fc.oneof(anything, fc.record({ list: anything })),
        annotations: anything,
        title: anything,
      },
      { requiredKeys: [] },
    ),
  );
  fc.assert(
    fc.property(source, (sent) => {
      try {
        importGrafana(sent);
      } catch (error) {
        expect(error).toBeInstanceOf(Problem);
        expect((error as Problem).status).toBe(400);
      }
    }),
    { numRuns: 500 },
  );
});

test('contract 39.1: styles and axes of graphs, old and new', () => {
  const target = { deviceId: 'd1', dataKey: 'level' };
  const { configuration } = importGrafana({
    panels: [
      {
        type: 'graph',
        targets: [target],
        lines: false,
        bars: true,
        yaxes: [{ min: '0', max: 50, label: 'Level', logBase: 10 }, { min: '5' }],
      },
      { type: 'graph', targets: [target], steppedLine: true, yaxes: [{ min: null, max: 'x' }] },
      {
        type: 'timeseries',
        targets: [target],
        fieldConfig: {
          defaults: { max: 9, custom: { axisPlacement: 'right', drawStyle: 'points' } },
        },
      },
    ],
  });
  const [bars, steps, points] = configuration.tiles;
  expect(bars).toMatchObject({
    axes: { left: { min: 0, max: 50, label: 'Level', scale: 'LOG' } },
    series: [{ style: 'BAR' }],
  });
  expect(steps?.series?.[0]).toEqual({ ...target, style: 'STEP' });
  expect(steps?.axes).toBeUndefined();
  expect(points).toMatchObject({
    axes: { right: { max: 9 } },
    series: [{ style: 'POINTS', axis: 'RIGHT' }],
  });
});
