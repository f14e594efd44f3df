// Import of dashboards of Grafana: the classic model, and `spec` of version 1, become a configuration with a report (contract 39.1).
import type { Json, JsonObject } from '../model/json.ts';
import { problem } from '../model/problem.ts';
import { openTimeZone } from '../model/time-zone.ts';
import type {
  Configuration,
  Threshold,
  Tile,
  TileKind,
  TileSeries,
  Variable,
} from './configuration.ts';

/** Panels, by the name of their type in Grafana. */
const kindOfType: ReadonlyMap<unknown, TileKind> = new Map([
  ['timeseries', 'line'],
  ['graph', 'line'],
  ['barchart', 'bar'],
  ['stat', 'value'],
  ['singlestat', 'value'],
  ['gauge', 'gauge'],
  ['bargauge', 'gauge'],
  ['state-timeline', 'timeline'],
  ['status-history', 'timeline'],
  ['heatmap', 'heatmap'],
  ['histogram', 'histogram'],
  ['table', 'table'],
  ['geomap', 'map'],
  ['text', 'text'],
  ['alertlist', 'alarms'],
]);

const units: Readonly<Record<string, string>> = {
  celsius: '°C',
  fahrenheit: '°F',
  kelvin: 'K',
  percent: '%',
  humidity: '%',
  lux: 'lx',
  pressurepa: 'Pa',
  pressurehpa: 'hPa',
  pressurembar: 'mbar',
  pressurebar: 'bar',
  pressurekbar: 'kbar',
  pressurepsi: 'psi',
  mwatt: 'mW',
  watt: 'W',
  kwatt: 'kW',
  megwatt: 'MW',
  watth: 'Wh',
  kwatth: 'kWh',
  joule: 'J',
  mamp: 'mA',
  amp: 'A',
  kamp: 'kA',
  mvolt: 'mV',
  volt: 'V',
  kvolt: 'kV',
  ohm: 'Ω',
  kohm: 'kΩ',
  voltamp: 'VA',
  dB: 'dB',
  dBm: 'dBm',
  hertz: 'Hz',
  rothz: 'Hz',
  rotrpm: 'rpm',
  ppm: 'ppm',
  conppm: 'ppm',
  conppb: 'ppb',
  conngm3: 'ng/m³',
  conugm3: 'µg/m³',
  conmgm3: 'mg/m³',
  congm3: 'g/m³',
  lengthmm: 'mm',
  lengthm: 'm',
  lengthkm: 'km',
  lengthft: 'ft',
  lengthin: 'in',
  massmg: 'mg',
  massg: 'g',
  masskg: 'kg',
  masst: 't',
  mlitre: 'ml',
  litre: 'l',
  m3: 'm³',
  flowlpm: 'l/min',
  flowlph: 'l/h',
  flowcms: 'm³/s',
  flowmlpm: 'ml/min',
  degree: '°',
  velocityms: 'm/s',
  velocitykmh: 'km/h',
  velocitymph: 'mph',
  velocityknot: 'kn',
  accMS2: 'm/s²',
  ms: 'ms',
  s: 's',
  m: 'min',
  h: 'h',
  d: 'd',
  bytes: 'B',
  decbytes: 'B',
  kbytes: 'KiB',
  mbytes: 'MiB',
  gbytes: 'GiB',
  bps: 'bit/s',
  Bps: 'B/s',
  currencyEUR: '€',
  currencyUSD: '$',
  currencyGBP: '£',
  currencyCHF: 'CHF',
};
/** What has no unit in Grafana. */
const withoutUnit = new Set(['none', 'short', 'string', '']);

const toneOfColor: ReadonlyMap<string, Threshold['tone']> = new Map([
  ['green', 'OK'],
  ['yellow', 'WARNING'],
  ['orange', 'WARNING'],
  ['red', 'BAD'],
]);
/** Colors of alert states of old graphs. */
const toneOfMode: ReadonlyMap<unknown, Threshold['tone']> = new Map([
  ['ok', 'OK'],
  ['warning', 'WARNING'],
  ['critical', 'BAD'],
]);
/** Where a step without a value begins. */
const lowest = -1e300;

const limits = {
  tiles: 200,
  series: 50,
  thresholds: 20,
  variables: 20,
  options: 200,
  rows: 1_000,
  columns: 12,
  /** Characters. */
  title: 500,
  text: 100_000,
  name: 500,
  key: 500,
  panels: 5_000,
  notes: 2_000,
} as const;
const standardPosition = { x: 0, y: 0, w: 12, h: 8 } as const;

/** A panel that became a tile; the types in Grafana and here. */
export interface MappedPanel {
  readonly panelId: number | string | null;
  readonly title: string;
  readonly from: string;
  readonly to: TileKind;
}

/** A panel, or a part of a panel or of the dashboard (`panelId` null), that is left out. */
export interface NotMapped {
  readonly panelId: number | string | null;
  readonly title: string;
  readonly reason: string;
}

export interface GrafanaImport {
  /** Of version 2; fits its schema. */
  readonly configuration: Configuration;
  /** The title in Grafana; undefined without one. */
  readonly name: string | undefined;
  readonly mapped: readonly MappedPanel[];
  readonly notMapped: readonly NotMapped[];
}

/**
 * Every panel is among the mapped or the not mapped ones. Throws Problem 400 for what is no
 * dashboard of a form that is known.
 */
export function importGrafana(source: JsonObject): GrafanaImport {
  const dashboard = dashboardIn(source);
  const reader = new GrafanaReader(dashboard);
  return reader.read();
}

/** Of an export, an answer of Grafana's interface, or a resource of its version 1. */
function dashboardIn(source: JsonObject): JsonObject {
  for (const candidate of [source, source['spec'], source['dashboard']]) {
    if (!isObject(candidate)) continue;
    if (isObject(candidate['elements']) || isObject(candidate['layout']))
      throw problem('invalidRequest', {
        reason:
          'body source: is a dashboard of version 2 of Grafana, which is not supported. Export it in the classic model',
      });
    if (Array.isArray(candidate['panels']) || Array.isArray(candidate['rows'])) return candidate;
  }
  throw problem('invalidRequest', {
    reason:
      'body source: is no dashboard of Grafana. It has neither panels nor rows, in itself, in spec, or in dashboard',
  });
}

interface Placed {
  readonly panel: JsonObject;
  /** In Grafana's 24 columns. */
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
}

type UnplacedTile = Omit<Tile, 'x' | 'y' | 'width' | 'height'>;

class GrafanaReader {
  readonly #dashboard: JsonObject;
  readonly #mapped: MappedPanel[] = [];
  readonly #notMapped: NotMapped[] = [];
  /** Names of variables here by those in Grafana. */
  readonly #names = new Map<string, string>();

  constructor(dashboard: JsonObject) {
    this.#dashboard = dashboard;
  }

  read(): GrafanaImport {
    const variables = this.#variables();
    const tiles: Tile[] = [];
    for (const { panel, ...position } of this.#panelsInOrder()) {
      const tile = this.#tileOf(panel, tiles.length);
      if (tile !== undefined) tiles.push({ ...tile, ...halved(position) });
    }
    const title = this.#dashboard['title'];
    return {
      configuration: {
        schema: 'heliograph-dashboard',
        version: 2,
        ...this.#times(),
        ...(variables.length > 0 && { variables }),
        tiles: withoutOverlap(tiles),
      },
      name:
        typeof title === 'string' && title.trim() !== '' ? plain(title, limits.name) : undefined,
      mapped: this.#mapped,
      notMapped: this.#notMapped,
    };
  }

  #leaveOut(panel: JsonObject | null, reason: string, title = titleOf(panel)): void {
    if (this.#notMapped.length < limits.panels + limits.notes)
      this.#notMapped.push({ panelId: idOf(panel), title, reason });
  }

  // Panels in the order of reading.

  /** Panels of rows are among them. Those of a closed row push down what is below it. */
  #panelsInOrder(): Placed[] {
    const placed: Placed[] = [];
    let lower = 0;
    for (const each of this.#topPanels()) {
      const at = { ...each, y: each.y + lower };
      if (each.panel['type'] !== 'row') {
        placed.push(at);
        continue;
      }
      this.#leaveOut(each.panel, 'Rows have no tile; the panels of the row are imported');
      const below = objectsIn(each.panel['panels']).map((panel) => positioned(panel));
      const top = Math.min(...below.map(({ y }) => y));
      const bottom = Math.max(...below.map(({ y, h }) => y + h));
      for (const one of below) placed.push({ ...one, y: one.y - top + at.y + 1 });
      if (below.length > 0) lower += bottom - top;
    }
    return placed
      .slice(0, limits.panels)
      .map((one, place) => ({ one, place }))
      .sort((a, b) => a.one.y - b.one.y || a.one.x - b.one.x || a.place - b.place)
      .map(({ one }) => one);
  }

  #topPanels(): Placed[] {
    const panels = this.#named(this.#dashboard['panels'], 'panels');
    const top = panels.map((panel) => positioned(panel)).sort((a, b) => a.y - b.y || a.x - b.x);
    // Models of old have rows with panels of a width in 12 columns, from left to right.
    let y = Math.max(0, ...top.map((one) => one.y + one.h));
    for (const row of this.#named(this.#dashboard['rows'], 'rows')) {
      let x = 0;
      for (const panel of this.#named(row['panels'], 'panels of a row')) {
        const w = Math.min(24, Math.max(1, whole(panel['span'], 12)) * 2);
        if (x + w > 24) [x, y] = [0, y + 8];
        top.push({ panel, x, y, w, h: 8 });
        x += w;
      }
      y += 8;
    }
    if (top.length > limits.panels)
      throw problem('invalidRequest', {
        reason: `body source: has ${top.length} panels; the limit is ${limits.panels}`,
      });
    return top;
  }

  /** What is no object is told, not passed over. */
  #named(list: Json | undefined, what: string): JsonObject[] {
    const entries = Array.isArray(list) ? list : [];
    const objects = objectsIn(list);
    const others = entries.length - objects.length;
    if (others > 0) this.#leaveOut(null, `${others} of the ${what} are no objects`, what);
    return objects;
  }

  // One panel.

  #tileOf(panel: JsonObject, tiles: number): UnplacedTile | undefined {
    const { type } = panel;
    const from = typeof type === 'string' ? plain(type, limits.title) : '';
    const to = kindOfType.get(type);
    if (to === undefined) {
      const what = from === '' ? 'Panels without a type' : `Panels of type ${from}`;
      this.#leaveOut(panel, `${what} are not supported`);
      return undefined;
    }
    if (tiles >= limits.tiles) {
      this.#leaveOut(panel, `A dashboard has at most ${limits.tiles} tiles`);
      return undefined;
    }
    const text = to === 'text' ? this.#textOf(panel) : undefined;
    if (to === 'text' && text === undefined) return undefined;
    this.#mapped.push({ panelId: idOf(panel), title: titleOf(panel), from, to });
    const title = this.#withNames(titleOf(panel));
    return {
      id: `panel-${tiles + 1}`,
      kind: to,
      ...(title !== '' && { title }),
      ...(text !== undefined && { text }),
      ...(text === undefined && to !== 'alarms' && this.#drawn(panel, to)),
    };
  }

  /** Undefined, and told, for anything but Markdown. */
  #textOf(panel: JsonObject): string | undefined {
    const options = objectOf(panel['options']);
    const mode = options['mode'] ?? panel['mode'] ?? 'markdown';
    const content = options['content'] ?? panel['content'];
    if (mode !== 'markdown') {
      const shown = typeof mode === 'string' ? plain(mode, limits.title) : 'unknown';
      this.#leaveOut(panel, `Text of mode ${shown} is not supported; only Markdown is`);
      return undefined;
    }
    if (typeof content !== 'string' || content.trim() === '') {
      this.#leaveOut(panel, 'The text is empty');
      return undefined;
    }
    if (content.length > limits.text)
      this.#leaveOut(panel, `The text is cut at ${limits.text} characters`);
    return this.#withNames(content).slice(0, limits.text);
  }

  #drawn(panel: JsonObject, kind: TileKind): Partial<UnplacedTile> {
    const defaults = objectOf(objectOf(panel['fieldConfig'])['defaults']);
    const custom = objectOf(defaults['custom']);
    const unit = this.#unitOf(panel, defaults['unit'] ?? panel['format']);
    const thresholds = this.#thresholdsOf(panel, defaults);
    const look = kind === 'line' ? lookOf(panel, custom) : {};
    const series = this.#seriesOf(panel, unit, look);
    for (const [member, what] of [
      [panel['transformations'], 'Transformations'],
      [panel['links'], 'Links of the panel'],
      [objectOf(panel['fieldConfig'])['overrides'], 'Overrides of fields'],
    ] as const)
      if (Array.isArray(member) && member.length > 0)
        this.#leaveOut(panel, `${what} are not imported`);
    if (isObject(panel['alert']))
      this.#leaveOut(panel, 'The alert of the panel is not imported. Create a rule for it');
    if (typeof panel['repeat'] === 'string' && panel['repeat'] !== '')
      this.#leaveOut(panel, 'The panel is not repeated, because its variable names no devices');
    return {
      ...(series.length > 0 && { series }),
      ...(thresholds.length > 0 && { thresholds, ...thresholdStyle(custom) }),
      ...this.#scaleOf(panel, kind, defaults),
      ...legendOf(panel),
    };
  }

  #unitOf(panel: JsonObject, unit: Json | undefined): string | undefined {
    if (typeof unit !== 'string' || withoutUnit.has(unit)) return undefined;
    if (Object.hasOwn(units, unit)) return units[unit];
    if (unit.startsWith('suffix:')) return plain(unit.slice('suffix:'.length), 100);
    this.#leaveOut(panel, `The unit ${plain(unit, 100)} is not known`);
    return undefined;
  }

  #thresholdsOf(panel: JsonObject, defaults: JsonObject): Threshold[] {
    const found = new Map<number, Threshold>();
    const add = (from: number, tone: Threshold['tone']) => found.set(from, { from, tone });
    const { mode, steps } = objectOf(defaults['thresholds']);
    if (mode === 'percentage' && objectsIn(steps).length > 1)
      this.#leaveOut(panel, 'Thresholds in percent of the range are not supported');
    else
      for (const { color, value } of objectsIn(steps)) {
        const tone = toneOf(color);
        if (tone !== undefined) add(typeof value === 'number' ? value : lowest, tone);
        else
          this.#leaveOut(
            panel,
            `The threshold of color ${plain(String(color), 100)} is left out; green, yellow, orange, and red are imported`,
          );
      }
    // Panels of old: a text of bounds with colors, or a list with alert colors.
    const old = panel['thresholds'];
    if (typeof old === 'string' && old.trim() !== '') {
      const bounds = old.split(',').map(Number);
      for (const [place, color] of listOf(panel['colors']).entries()) {
        const tone = toneOf(color);
        const from = place === 0 ? lowest : bounds[place - 1];
        if (tone === undefined || from === undefined || !Number.isFinite(from))
          this.#leaveOut(
            panel,
            `Threshold ${place + 1} is left out, because of its color or value`,
          );
        else add(from, tone);
      }
    }
    for (const { colorMode, value, op } of objectsIn(old)) {
      const tone = toneOfMode.get(colorMode);
      if (tone !== undefined && op !== 'lt' && typeof value === 'number') add(value, tone);
      else this.#leaveOut(panel, 'A threshold of the graph is left out');
    }
    const sorted = [...found.values()].sort((a, b) => a.from - b.from);
    if (sorted.length > limits.thresholds)
      this.#leaveOut(panel, `A tile has at most ${limits.thresholds} thresholds`);
    return sorted.slice(0, limits.thresholds);
  }

  /** Targets of this platform become series; any other query is told. */
  #seriesOf(panel: JsonObject, unit: string | undefined, look: SeriesLook): TileSeries[] {
    const found: TileSeries[] = [];
    for (const [place, target] of objectsIn(panel['targets']).entries()) {
      const name = typeof target['refId'] === 'string' ? plain(target['refId'], 100) : place + 1;
      const { dataKey, topic, hide, legendFormat } = target;
      const deviceId = [target['deviceId'], target['assetId']].find(isName);
      const datasource = sourceOf(target['datasource'] ?? panel['datasource']);
      if (deviceId === undefined || !isName(dataKey))
        this.#leaveOut(
          panel,
          `Query ${name}${datasource} is not supported. Choose a device and a data key`,
        );
      else if (hide === true) this.#leaveOut(panel, `Query ${name} is hidden`);
      else if (found.length === limits.series)
        this.#leaveOut(panel, `A tile has at most ${limits.series} series`);
      else
        found.push({
          deviceId,
          ...(isName(topic) && { topic }),
          dataKey,
          ...(isName(legendFormat) &&
            legendFormat !== '__auto' && { label: this.#withNames(legendFormat) }),
          ...(unit !== undefined && { unit }),
          ...look,
        });
    }
    return found;
  }

  #scaleOf(panel: JsonObject, kind: TileKind, defaults: JsonObject): Partial<UnplacedTile> {
    // Graphs of old have their axes in a list.
    const [old = {}] = objectsIn(panel['yaxes']);
    const [min, max] = [
      numberOf(defaults['min']) ?? writtenNumber(old['min']),
      numberOf(defaults['max']) ?? writtenNumber(old['max']),
    ];
    const isWrong = min !== undefined && max !== undefined && min >= max;
    if (isWrong)
      this.#leaveOut(panel, 'Minimum and maximum are left out: the maximum is not greater');
    const bounds = isWrong
      ? {}
      : { ...(min !== undefined && { min }), ...(max !== undefined && { max }) };
    if (kind === 'gauge') return bounds;
    if (kind !== 'line' && kind !== 'bar') return {};
    const { axisLabel, axisPlacement, scaleDistribution } = objectOf(defaults['custom']);
    const label = [axisLabel, old['label']].find(isName);
    const isLog =
      objectOf(scaleDistribution)['type'] === 'log' || (numberOf(old['logBase']) ?? 1) > 1;
    const axis = {
      ...bounds,
      ...(label !== undefined && { label: this.#withNames(label).slice(0, limits.title) }),
      ...(isLog && { scale: 'LOG' as const }),
    };
    if (Object.keys(axis).length === 0) return {};
    const isRight = kind === 'line' && axisPlacement === 'right';
    return { axes: isRight ? { right: axis } : { left: axis } };
  }

  // The dashboard.

  #times(): Pick<Configuration, 'range' | 'refresh' | 'timeZone'> {
    const { time, refresh, timezone } = this.#dashboard;
    const range = this.#rangeOf(objectOf(time));
    const pause = typeof refresh === 'string' ? refreshOf(refresh) : undefined;
    if (typeof refresh === 'string' && refresh !== '' && pause === undefined)
      this.#leaveOut(null, `The refresh interval ${plain(refresh, 100)} is left out`, 'refresh');
    const zone = timezone === 'utc' ? 'UTC' : timezone;
    const isOwn = typeof zone === 'string' && zone !== '' && zone !== 'browser';
    const timeZone = isOwn && zone.length <= 100 && openTimeZone(zone) ? zone : undefined;
    if (isOwn && timeZone === undefined)
      this.#leaveOut(null, `The time zone ${plain(zone, 100)} is not known`, 'timezone');
    return {
      ...(range !== undefined && { range }),
      ...(pause !== undefined && { refresh: pause }),
      ...(timeZone !== undefined && { timeZone }),
    };
  }

  #rangeOf({ from, to }: JsonObject): Configuration['range'] {
    if (from === undefined) return undefined;
    const last = typeof from === 'string' ? /^now-(\d{1,4})([smhdwMy])$/.exec(from) : null;
    if (last !== null && to === 'now' && Number(last[1]) > 0) {
      const [, count = '', unit = ''] = last;
      return { last: durationOf(count, unit) };
    }
    const instants = [from, to].map((text) =>
      typeof text === 'string' && text.length <= 100 && /^\d{4}-/.test(text)
        ? Date.parse(text)
        : Number.NaN,
    );
    const [start = Number.NaN, end = Number.NaN] = instants;
    if (start < end)
      return { from: new Date(start).toISOString(), to: new Date(end).toISOString() };
    this.#leaveOut(null, `The time range ${shown(from)} to ${shown(to)} is not supported`, 'time');
    return undefined;
  }

  #variables(): Variable[] {
    const found: Variable[] = [];
    const list = objectOf(this.#dashboard['templating'])['list'];
    for (const declared of objectsIn(list)) {
      const { type, name } = declared;
      const title = isName(name) ? plain(name, limits.title) : '';
      if ((type !== 'custom' && type !== 'textbox') || !isName(name)) {
        const of = typeof type === 'string' ? ` of type ${plain(type, 100)}` : '';
        this.#leaveOut(null, `Variables${of} are not supported`, title);
        continue;
      }
      if (found.length === limits.variables) {
        this.#leaveOut(null, `A dashboard has at most ${limits.variables} variables`, title);
        continue;
      }
      const own = variableName(name, new Set(this.#names.values()));
      this.#names.set(name, own);
      found.push(this.#variableOf(declared, own, title));
    }
    const { annotations } = this.#dashboard;
    for (const { name, builtIn } of objectsIn(objectOf(annotations)['list']))
      if (builtIn !== 1)
        this.#leaveOut(
          null,
          'Annotation queries are not imported',
          isName(name) ? plain(name, limits.title) : '',
        );
    return found;
  }

  #variableOf(declared: JsonObject, name: string, title: string): Variable {
    const { type, label, multi, current, query } = declared;
    const offered = type === 'custom' ? optionsOf(declared) : [];
    if (offered.length > limits.options)
      this.#leaveOut(null, `A variable has at most ${limits.options} options`, title);
    const options = offered.slice(0, limits.options);
    const multiple = multi === true;
    const chosen = listOf(objectOf(current)['value'])
      .filter(isName)
      .filter((one) => one !== '$__all');
    const standard = chosen.length > 0 || type === 'custom' ? chosen : [query].filter(isName);
    const [first] = standard;
    return {
      name,
      kind: 'TEXT',
      ...(isName(label) && { label: plain(label, limits.title) }),
      ...(options.length > 0 && { options }),
      ...(multiple && { multiple }),
      ...(first !== undefined && {
        default: multiple ? standard.slice(0, limits.options) : first,
      }),
    };
  }

  /** Grafana's references to variables in the form of this platform; those that are not imported stay. */
  #withNames(text: string): string {
    return text.replace(
      /\$\{(\w{1,100})(?::[\w.]{1,50})?\}|\[\[(\w{1,100})\]\]|\$(\w{1,100})/g,
      (whole, braced?: string, bracketed?: string, bare?: string) => {
        const own = this.#names.get(braced ?? bracketed ?? bare ?? '');
        return own === undefined ? whole : `{{${own}}}`;
      },
    );
  }
}

// Positions.

function positioned(panel: JsonObject): Placed {
  const position = objectOf(panel['gridPos']);
  const within = (name: 'x' | 'y' | 'w' | 'h', min: number, max: number) =>
    Math.min(max, Math.max(min, whole(position[name], standardPosition[name])));
  const x = within('x', 0, 23);
  return {
    panel,
    x,
    y: within('y', 0, 1e6),
    w: Math.min(24 - x, within('w', 1, 24)),
    h: within('h', 1, 100),
  };
}

/** 24 columns become 12; edges that touch do so afterwards. */
function halved({ x, y, w, h }: Omit<Placed, 'panel'>): Pick<Tile, 'x' | 'y' | 'width' | 'height'> {
  const half = (edge: number) => Math.floor(edge / 2);
  return {
    x: half(x),
    y: half(y),
    width: Math.max(1, half(x + w) - half(x)),
    height: Math.max(1, half(y + h) - half(y)),
  };
}

/** In the order of reading; each tile is pushed down until it is below those in its columns. */
function withoutOverlap(tiles: readonly Tile[]): Tile[] {
  const place = (heightMax: number) => {
    const bottoms = new Array<number>(limits.columns).fill(0);
    let bottom = 0;
    return tiles.map((tile) => {
      const { x, width } = tile;
      const height = Math.min(tile.height, heightMax);
      // Rows without any tile are left out, so that no tile is far below.
      const y = Math.max(Math.min(tile.y, bottom), ...bottoms.slice(x, x + width));
      bottoms.fill(y + height, x, x + width);
      bottom = Math.max(bottom, y + height);
      return { ...tile, y, height };
    });
  };
  const placed = place(limits.rows);
  return placed.every(({ y }) => y <= limits.rows) ? placed : place(limits.rows / limits.tiles);
}

// Values of any form.

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const objectOf = (value: Json | undefined): JsonObject => (isObject(value) ? value : {});
const listOf = (value: Json | undefined): readonly Json[] =>
  value === undefined ? [] : [value].flat();
const objectsIn = (value: Json | undefined): JsonObject[] =>
  Array.isArray(value) ? value.filter(isObject) : [];
const numberOf = (value: Json | undefined) => (typeof value === 'number' ? value : undefined);
/** Graphs of old have numbers as texts too. */
function writtenNumber(value: Json | undefined): number | undefined {
  if (typeof value === 'number') return value;
  const written = typeof value === 'string' && value.trim() !== '' ? Number(value) : Number.NaN;
  return Number.isFinite(written) ? written : undefined;
}

const shown = (value: Json | undefined) => plain(JSON.stringify(value ?? null), 100);

function isName(value: Json | undefined): value is string {
  return typeof value === 'string' && value.trim() !== '' && value.length <= limits.key;
}

function whole(value: Json | undefined, standard: number): number {
  return typeof value === 'number' && Number.isFinite(value) ? Math.round(value) : standard;
}

/** Without control characters, cut at a whole character. */
function plain(text: string, max: number): string {
  const cut = text
    .slice(0, 2 * max)
    .replace(/[\p{Cc}\p{Cs}]+/gu, ' ')
    .slice(0, max);
  // The last character may have been cut into halves.
  return cut.isWellFormed() ? cut : cut.slice(0, -1);
}

function titleOf(panel: JsonObject | null): string {
  const title = panel?.['title'];
  return typeof title === 'string' ? plain(title, limits.title) : '';
}

function idOf(panel: JsonObject | null): number | string | null {
  const id = panel?.['id'];
  if (typeof id === 'string') return plain(id, limits.title);
  return typeof id === 'number' ? id : null;
}

/** The source of a query, for the report: ` (prometheus)`. */
function sourceOf(datasource: Json | undefined): string {
  const name = isObject(datasource) ? (datasource['type'] ?? datasource['uid']) : datasource;
  return isName(name) ? ` (${plain(name, 100)})` : '';
}

/** Of the shades of a color too, such as `semi-dark-red`. */
function toneOf(color: Json | undefined): Threshold['tone'] | undefined {
  const name = /^(?:super-light-|light-|semi-dark-|dark-)?([a-z]+)$/.exec(
    typeof color === 'string' ? color : '',
  )?.[1];
  return name === undefined ? undefined : toneOfColor.get(name);
}

function thresholdStyle(custom: JsonObject): Pick<Tile, 'thresholdStyle'> {
  const { mode } = objectOf(custom['thresholdsStyle']);
  if (mode === 'off') return { thresholdStyle: 'NONE' };
  if (mode === 'line' || mode === 'dashed') return { thresholdStyle: 'LINE' };
  return typeof mode === 'string' ? { thresholdStyle: 'BAND' } : {};
}

type SeriesLook = Pick<TileSeries, 'style' | 'axis'>;

function lookOf(panel: JsonObject, custom: JsonObject): SeriesLook {
  const style = styleOf(custom) ?? oldStyleOf(panel);
  const isRight = custom['axisPlacement'] === 'right';
  return { ...(style && { style }), ...(isRight && { axis: 'RIGHT' as const }) };
}

function styleOf({ drawStyle, lineInterpolation }: JsonObject): TileSeries['style'] | undefined {
  if (drawStyle === 'bars') return 'BAR';
  if (drawStyle === 'points') return 'POINTS';
  if (lineInterpolation === 'stepBefore' || lineInterpolation === 'stepAfter') return 'STEP';
  return undefined;
}

/** Of a graph of old. */
function oldStyleOf({ lines, bars, points, steppedLine }: JsonObject) {
  if (lines === false && bars === true) return 'BAR';
  if (lines === false && points === true) return 'POINTS';
  return steppedLine === true ? 'STEP' : undefined;
}

type Figures = NonNullable<NonNullable<NonNullable<Tile['legend']>['figures']>>;
const figureOfCalc: ReadonlyMap<unknown, Figures[number]> = new Map([
  ['last', 'LAST'],
  ['lastNotNull', 'LAST'],
  ['min', 'MIN'],
  ['mean', 'AVG'],
  ['max', 'MAX'],
  ['sum', 'SUM'],
]);

function legendOf(panel: JsonObject): Pick<Tile, 'legend'> {
  const legend = objectOf(panel['options'])['legend'];
  if (!isObject(legend)) return {};
  const { placement, showLegend, displayMode, calcs } = legend;
  const isHidden = showLegend === false || displayMode === 'hidden';
  const place = isHidden ? 'NONE' : placement === 'right' ? 'RIGHT' : 'BOTTOM';
  const figures = new Set(listOf(calcs).flatMap((calc) => figureOfCalc.get(calc) ?? []));
  return { legend: { place, ...(figures.size > 0 && { figures: [...figures] }) } };
}

// Times and variables.

const secondsOf: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** Of a count and a unit of Grafana, in which `m` is minutes and `M` months. */
function durationOf(count: string, unit: string): string {
  if (unit === 's' || unit === 'm' || unit === 'h')
    return `PT${Number(count)}${unit.toUpperCase()}`;
  return `P${Number(count)}${unit.toUpperCase()}`;
}

/** Within the limits of this platform, 5 seconds and a day. */
function refreshOf(text: string): string | undefined {
  const [, count = '', unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const seconds = Number(count) * (secondsOf[unit] ?? 0);
  if (seconds <= 0) return undefined;
  if (seconds < 5) return 'PT5S';
  return seconds > 86_400 ? 'P1D' : durationOf(count, unit);
}

/** The values of a custom variable: `a, b, Text : c`, or its list of options. */
function optionsOf({ options, query }: JsonObject): string[] {
  const listed = objectsIn(options).map(({ value }) => value);
  const written = typeof query === 'string' ? query.split(/(?<!\\),/) : [];
  const values = written
    .map((one) => one.replaceAll('\\,', ',').split(' : ').at(-1)?.trim() ?? '')
    .filter((one) => one !== '');
  const found = values.length > 0 ? values : listed;
  return [...new Set(found.filter(isName).filter((one) => one !== '$__all'))];
}

/** A name in the form of this platform that is not taken. */
function variableName(name: string, taken: ReadonlySet<string>): string {
  const words = name.split(/[^A-Za-z0-9]+/).filter((word) => word !== '');
  const joined = words
    .map((word, place) => (place === 0 ? word : word.charAt(0).toUpperCase() + word.slice(1)))
    .join('');
  const lower = joined.charAt(0).toLowerCase() + joined.slice(1);
  const base = (/^[a-z]/.test(lower) ? lower : `v${joined}`).slice(0, 36);
  let free = base;
  for (let n = 2; taken.has(free); n++) free = `${base}${n}`;
  return free;
}
