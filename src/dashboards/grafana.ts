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
  // What Grafana calls tables of before version 7.
  ['table-old', 'table'],
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
  lumens: 'lm',
  candela: 'cd',
  pressurepa: 'Pa',
  pressurehpa: 'hPa',
  pressurekpa: 'kPa',
  pressurembar: 'mbar',
  pressurebar: 'bar',
  pressurekbar: 'kbar',
  pressurehg: 'inHg',
  pressurepsi: 'psi',
  mwatt: 'mW',
  watt: 'W',
  kwatt: 'kW',
  megwatt: 'MW',
  gwatt: 'GW',
  Wm2: 'W/m²',
  watth: 'Wh',
  kwatth: 'kWh',
  kwattm: 'kWmin',
  joule: 'J',
  ev: 'eV',
  amphr: 'Ah',
  kamphr: 'kAh',
  mamphr: 'mAh',
  mamp: 'mA',
  amp: 'A',
  kamp: 'kA',
  mvolt: 'mV',
  volt: 'V',
  kvolt: 'kV',
  mohm: 'mΩ',
  ohm: 'Ω',
  kohm: 'kΩ',
  Mohm: 'MΩ',
  farad: 'F',
  henry: 'H',
  voltamp: 'VA',
  kvoltamp: 'kVA',
  voltampreact: 'var',
  kvoltampreact: 'kvar',
  dB: 'dB',
  dBm: 'dBm',
  hertz: 'Hz',
  rothz: 'Hz',
  rotrpm: 'rpm',
  rotrads: 'rad/s',
  rotdegs: '°/s',
  ppm: 'ppm',
  conppm: 'ppm',
  conppb: 'ppb',
  conngm3: 'ng/m³',
  conugm3: 'µg/m³',
  conμgm3: 'µg/m³',
  conmgm3: 'mg/m³',
  congm3: 'g/m³',
  conmgdL: 'mg/dl',
  conmmolL: 'mmol/l',
  lengthmm: 'mm',
  lengthm: 'm',
  lengthkm: 'km',
  lengthft: 'ft',
  lengthin: 'in',
  lengthmi: 'mi',
  areaM2: 'm²',
  areaF2: 'ft²',
  areaMI2: 'mi²',
  acres: 'ac',
  hectares: 'ha',
  massmg: 'mg',
  massg: 'g',
  masslb: 'lb',
  masskg: 'kg',
  masst: 't',
  mlitre: 'ml',
  litre: 'l',
  m3: 'm³',
  Nm3: 'Nm³',
  dm3: 'dm³',
  gallons: 'gal',
  flowgpm: 'gpm',
  flowlpm: 'l/min',
  flowlph: 'l/h',
  litreh: 'l/h',
  flowcms: 'm³/s',
  flowcfs: 'ft³/s',
  flowcfm: 'ft³/min',
  flowmlpm: 'ml/min',
  forceNm: 'Nm',
  forcekNm: 'kNm',
  forceN: 'N',
  forcekN: 'kN',
  degree: '°',
  radian: 'rad',
  velocityms: 'm/s',
  velocitykmh: 'km/h',
  velocitymph: 'mph',
  velocityknot: 'kn',
  accMS2: 'm/s²',
  accFS2: 'ft/s²',
  accG: 'g',
  radbq: 'Bq',
  radsv: 'Sv',
  radmsv: 'mSv',
  radusv: 'µSv',
  radmsvh: 'mSv/h',
  radusvh: 'µSv/h',
  ns: 'ns',
  µs: 'µs',
  ms: 'ms',
  s: 's',
  m: 'min',
  h: 'h',
  d: 'd',
  dtdurations: 's',
  dtdurationms: 'ms',
  dthms: 's',
  clocks: 's',
  clockms: 'ms',
  bits: 'bit',
  decbits: 'bit',
  bytes: 'B',
  decbytes: 'B',
  kbytes: 'KiB',
  deckbytes: 'kB',
  mbytes: 'MiB',
  decmbytes: 'MB',
  gbytes: 'GiB',
  decgbytes: 'GB',
  tbytes: 'TiB',
  dectbytes: 'TB',
  pps: 'packets/s',
  binbps: 'bit/s',
  bps: 'bit/s',
  Kbits: 'kbit/s',
  Mbits: 'Mbit/s',
  Gbits: 'Gbit/s',
  binBps: 'B/s',
  Bps: 'B/s',
  KiBs: 'KiB/s',
  KBs: 'kB/s',
  MiBs: 'MiB/s',
  MBs: 'MB/s',
  GBs: 'GB/s',
  cps: '1/s',
  ops: 'operations/s',
  reqps: 'requests/s',
  'req/s': 'requests/s',
  rps: 'reads/s',
  wps: 'writes/s',
  iops: 'IO/s',
  eps: 'events/s',
  mps: 'messages/s',
  recps: 'records/s',
  rowsps: 'rows/s',
  cpm: '1/min',
  opm: 'operations/min',
  reqpm: 'requests/min',
  rpm: 'reads/min',
  wpm: 'writes/min',
  currencyEUR: '€',
  currencyUSD: '$',
  currencyGBP: '£',
  currencyCHF: 'CHF',
  currencyJPY: '¥',
};
/** Units that are given by their text: as it is, or with prefixes that Grafana chooses. */
const writtenUnit = /^(?:suffix|prefix|si|count|currency):(?=\S)/;
/** What has no unit in Grafana. */
const withoutUnit = new Set(['none', 'short', 'string', 'locale', 'sci', '']);

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
  description: 2_000,
  key: 500,
  panels: 5_000,
  notes: 2_000,
} as const;
const standardPosition = { x: 0, y: 0, w: 12, h: 8 } as const;

/** A panel that became a tile; the types in Grafana and here. */
interface MappedPanel {
  readonly panelId: number | string | null;
  readonly title: string;
  readonly from: string;
  readonly to: TileKind;
}

/** A panel, or a part of a panel or of the dashboard (`panelId` null), that is left out. */
interface NotMapped {
  readonly panelId: number | string | null;
  readonly title: string;
  readonly reason: string;
}

interface GrafanaImport {
  /** Of version 2; fits its schema. */
  readonly configuration: Configuration;
  /** The title in Grafana; undefined without one. */
  readonly name: string | undefined;
  readonly description: string | undefined;
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
  /** Types of data sources by the names of inputs and variables that stand for them. */
  readonly #sources: ReadonlyMap<string, string>;
  #descriptions = 0;

  constructor(dashboard: JsonObject) {
    this.#dashboard = dashboard;
    this.#sources = sourcesIn(dashboard);
  }

  read(): GrafanaImport {
    const variables = this.#variables();
    const tiles: Tile[] = [];
    for (const { panel, ...position } of this.#panelsInOrder()) {
      const tile = this.#tileOf(panel, tiles.length);
      if (tile !== undefined) tiles.push({ ...tile, ...halved(position) });
    }
    this.#leaveOutParts();
    const { title, description } = this.#dashboard;
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
      description: isText(description) ? plain(description, limits.description) : undefined,
      mapped: this.#mapped,
      notMapped: this.#notMapped,
    };
  }

  #leaveOut(panel: JsonObject | null, reason: string, title = titleOf(panel)): void {
    if (this.#notMapped.length < limits.panels + limits.notes)
      this.#notMapped.push({ panelId: idOf(panel), title, reason });
  }

  /** Of the dashboard as a whole. */
  #leaveOutParts(): void {
    if (objectsIn(this.#dashboard['links']).length > 0)
      this.#leaveOut(null, 'Links of the dashboard are not imported', 'links');
    if (this.#descriptions > 0) {
      const of = this.#descriptions === 1 ? '1 panel' : `${this.#descriptions} panels`;
      this.#leaveOut(null, `The description of ${of} is not imported`, 'description');
    }
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
      this.#leaveOutRow(each.panel);
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
      if (row['showTitle'] === true || isText(row['repeat'])) this.#leaveOutRow(row);
      let [x, bottom] = [0, y];
      for (const panel of this.#named(row['panels'], 'panels of a row')) {
        const w = Math.min(24, Math.max(1, whole(panel['span'], 12)) * 2);
        const h = heightIn(panel) ?? heightIn(row) ?? standardPosition.h;
        if (x + w > 24) [x, y] = [0, bottom];
        top.push({ panel, x, y, w, h });
        x += w;
        bottom = Math.max(bottom, y + h);
      }
      y = bottom;
    }
    if (top.length > limits.panels)
      throw problem('invalidRequest', {
        reason: `body source: has ${top.length} panels; the limit is ${limits.panels}`,
      });
    return top;
  }

  #leaveOutRow(row: JsonObject): void {
    this.#leaveOut(row, 'Rows have no tile; the panels of the row are imported');
    if (isText(row['repeat']))
      this.#leaveOut(row, 'The row is not repeated, because its variable names no devices');
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

  #tileOf(placed: JsonObject, tiles: number): UnplacedTile | undefined {
    const panel = this.#withLibrary(placed);
    if (panel === undefined) return undefined;
    const { type, repeatPanelId } = panel;
    // Grafana before version 9 saves the copies of a repeated panel, and creates them again.
    if (typeof repeatPanelId === 'number') {
      this.#leaveOut(panel, `The panel is a copy of the repeated panel ${repeatPanelId}`);
      return undefined;
    }
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
    if (isText(panel['description'])) this.#descriptions++;
    const title = this.#withNames(titleOf(panel));
    return {
      id: `panel-${tiles + 1}`,
      kind: to,
      ...(title !== '' && { title }),
      ...(text !== undefined && { text }),
      ...(text === undefined && to !== 'alarms' && this.#drawn(panel, to)),
    };
  }

  /** The panel with what its library panel says, which exports for others carry along. */
  #withLibrary(panel: JsonObject): JsonObject | undefined {
    const { libraryPanel, id, gridPos, title } = panel;
    if (!isObject(libraryPanel)) return panel;
    const { uid, name } = libraryPanel;
    const elements = objectOf(this.#dashboard['__elements']);
    const element = isName(uid) && Object.hasOwn(elements, uid) ? elements[uid] : undefined;
    const { model } = { ...objectOf(libraryPanel), ...objectOf(element) };
    if (isObject(model))
      return {
        ...model,
        ...(id !== undefined && { id }),
        ...(gridPos !== undefined && { gridPos }),
        ...(isText(title) && { title }),
      };
    // Before version 9, exports have its parts in its place.
    if (isText(panel['type'])) return panel;
    const shownName = isName(name) ? ` ${plain(name, 100)}` : '';
    this.#leaveOut(
      panel,
      `The library panel${shownName} is not in the file. Export the dashboard for sharing externally`,
    );
    return undefined;
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
    const [axis = {}] = objectsIn(panel['yaxes']);
    const unit = this.#unitOf(panel, defaults['unit'] ?? panel['format'] ?? axis['format']);
    const thresholds = this.#thresholdsOf(panel, defaults);
    const look = kind === 'line' ? lookOf(panel, custom) : {};
    const series = this.#seriesOf(panel, unit, look);
    this.#leaveOutSettings(panel, kind, defaults);
    return {
      ...(series.length > 0 && { series }),
      ...(thresholds.length > 0 && { thresholds, ...thresholdStyle(custom) }),
      ...this.#scaleOf(panel, kind, defaults),
      ...legendOf(panel),
    };
  }

  #leaveOutSettings(panel: JsonObject, kind: TileKind, defaults: JsonObject): void {
    const { transformations, links, seriesOverrides, alert, repeat, timeFrom, timeShift } = panel;
    const { overrides } = objectOf(panel['fieldConfig']);
    const kinds = new Set(
      objectsIn(transformations)
        .map(({ id }) => id)
        .filter(isName),
    );
    const named = [...kinds].slice(0, 10).map((id) => plain(id, 50));
    for (const [list, what] of [
      [transformations, `Transformations${named.length > 0 ? ` (${named.join(', ')})` : ''}`],
      [links, 'Links of the panel'],
      [defaults['links'], 'Links of values'],
      [defaults['mappings'] ?? panel['valueMaps'], 'Mappings of values to texts'],
      [overrides, 'Overrides of fields'],
      [seriesOverrides, 'Overrides of series'],
    ] as const)
      if (objectsIn(list).some((one) => !isEmptyMapping(one)))
        this.#leaveOut(panel, `${what} are not imported`);
    const { mode } = objectOf(objectOf(defaults['custom'])['stacking']);
    if ((isText(mode) && mode !== 'none') || panel['stack'] === true)
      this.#leaveOut(panel, 'The series are not stacked');
    for (const [value, what] of [
      [timeFrom, 'time range'],
      [timeShift, 'time shift'],
    ] as const)
      if (isText(value))
        this.#leaveOut(panel, `The ${what} of the panel, ${plain(value, 50)}, is not imported`);
    const calculation = kind === 'value' || kind === 'gauge' ? calculationOf(panel) : undefined;
    if (calculation !== undefined)
      this.#leaveOut(
        panel,
        `The calculation ${plain(calculation, 50)} is not imported; the tile shows the newest value`,
      );
    if (isObject(alert))
      this.#leaveOut(panel, 'The alert of the panel is not imported. Create a rule for it');
    if (isText(repeat))
      this.#leaveOut(panel, 'The panel is not repeated, because its variable names no devices');
  }

  #unitOf(panel: JsonObject, unit: Json | undefined): string | undefined {
    if (typeof unit !== 'string' || withoutUnit.has(unit)) return undefined;
    if (Object.hasOwn(units, unit)) return units[unit];
    if (writtenUnit.test(unit)) return plain(unit.replace(writtenUnit, ''), 100);
    this.#leaveOut(
      panel,
      unit === 'percentunit'
        ? 'The unit percentunit is left out; values from 0 to 1 are not multiplied by 100'
        : `The unit ${plain(unit, 100)} is not known`,
    );
    return undefined;
  }

  #thresholdsOf(panel: JsonObject, defaults: JsonObject): Threshold[] {
    const found = new Map<number, Threshold>();
    const add = (from: number, tone: Threshold['tone']) => found.set(from, { from, tone });
    const { mode, steps } = objectOf(defaults['thresholds']);
    const { min, max } = defaults;
    const isPercent = mode === 'percentage' && objectsIn(steps).length > 1;
    const scale =
      typeof min === 'number' && typeof max === 'number' && min < max ? { min, max } : undefined;
    if (isPercent && scale === undefined)
      this.#leaveOut(
        panel,
        'Thresholds in percent of the range are left out, because it has no minimum and maximum',
      );
    else
      for (const { color, value } of objectsIn(steps)) {
        const tone = toneOf(color);
        const bound = typeof value === 'number' ? value : lowest;
        if (tone !== undefined) add(isPercent ? percentOf(scale, bound) : bound, tone);
        else
          this.#leaveOut(
            panel,
            `The threshold of color ${plain(String(color), 100)} is left out; green, yellow, orange, and red are imported`,
          );
      }
    // Panels of old: a text of bounds with colors, or a list with alert colors.
    const old = panel['thresholds'];
    if (typeof old === 'string' && old.trim() !== '' && hasColors(panel)) {
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
    for (const { colorMode, value, op, lineColor, fillColor } of objectsIn(old)) {
      const tone = toneOfMode.get(colorMode) ?? toneOf(lineColor) ?? toneOf(fillColor);
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
    const foreign = new Map<string, string[]>();
    const hidden: string[] = [];
    let isCut = false;
    for (const [place, target] of objectsIn(panel['targets']).entries()) {
      const { refId, dataKey, topic, hide, legendFormat } = target;
      const name = isName(refId) ? plain(refId, 100) : String(place + 1);
      const deviceId = [target['deviceId'], target['assetId']].find(isName);
      if (deviceId === undefined || !isName(dataKey)) {
        const source = this.#sourceOf(target['datasource'] ?? panel['datasource']);
        const names = foreign.get(source) ?? [];
        foreign.set(source, names);
        names.push(name);
      } else if (hide === true) hidden.push(name);
      else if (found.length === limits.series) isCut = true;
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
    for (const [source, names] of foreign)
      this.#leaveOut(
        panel,
        `${queries(names)}${source} ${names.length === 1 ? 'is' : 'are'} not supported. Choose a device and a data key`,
      );
    if (hidden.length > 0)
      this.#leaveOut(panel, `${queries(hidden)} ${hidden.length === 1 ? 'is' : 'are'} hidden`);
    if (isCut) this.#leaveOut(panel, `A tile has at most ${limits.series} series`);
    return found;
  }

  /** The source of a query, for the report: ` (prometheus)`. */
  #sourceOf(datasource: Json | undefined): string {
    const named = isObject(datasource) ? (datasource['type'] ?? datasource['uid']) : datasource;
    if (!isName(named)) return '';
    const [, name = named] = /^(?:\$|\[\[)\{?(\w{1,100})(?:\}|\]\])?$/.exec(named) ?? [];
    return ` (${plain(this.#sources.get(name) ?? named, 100)})`;
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

function isText(value: Json | undefined): value is string {
  return typeof value === 'string' && value.trim() !== '';
}

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

/** `Query A`, or `Queries A, B, C`. */
function queries(names: readonly string[]): string {
  const shownNames = names.slice(0, 20).join(', ');
  const more = names.length > 20 ? ` and ${names.length - 20} more` : '';
  return `${names.length === 1 ? 'Query' : 'Queries'} ${shownNames}${more}`;
}

/** Exports name their data sources as inputs, and dashboards may let the reader choose one. */
function sourcesIn(dashboard: JsonObject): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const { name, pluginId } of objectsIn(dashboard['__inputs']))
    if (isName(name) && isName(pluginId)) found.set(name, pluginId);
  for (const { type, name, query } of objectsIn(objectOf(dashboard['templating'])['list']))
    if (type === 'datasource' && isName(name) && isName(query)) found.set(name, query);
  return found;
}

/** By its name, also of shades such as `semi-dark-red`, or by the hue of `#d44a3a` and `rgba(212, 74, 58, 0.9)`. */
function toneOf(color: Json | undefined): Threshold['tone'] | undefined {
  if (typeof color !== 'string') return undefined;
  const name = /^(?:super-light-|light-|semi-dark-|dark-)?([a-z]+)$/.exec(color)?.[1];
  const hue = name === undefined ? hueOf(color) : undefined;
  if (hue === undefined) return name === undefined ? undefined : toneOfColor.get(name);
  if (hue <= 15 || hue >= 340) return 'BAD';
  if (hue <= 65) return 'WARNING';
  return hue <= 165 ? 'OK' : undefined;
}

/** In degrees, from 0 for red; undefined for grays and for what is no color. */
function hueOf(color: string): number | undefined {
  const [, hex] = /^#([0-9a-f]{6})(?:[0-9a-f]{2})?$/i.exec(color) ?? [];
  const [, ...written] =
    /^rgba?\(\s*(\d{1,3})\s*,\s*(\d{1,3})\s*,\s*(\d{1,3})\s*[,)]/.exec(color) ?? [];
  const parts =
    hex === undefined
      ? written.map(Number)
      : [0, 2, 4].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));
  const [red = 0, green = 0, blue = 0] = parts;
  const most = Math.max(red, green, blue);
  const width = most - Math.min(red, green, blue);
  if (width === 0 || width < most / 4) return undefined;
  const sixths =
    most === red
      ? (green - blue) / width
      : most === green
        ? (blue - red) / width + 2
        : (red - green) / width + 4;
  return (sixths * 60 + 360) % 360;
}

/** The value at a share of the range; what is below everything stays there. */
function percentOf(scale: { min: number; max: number } | undefined, percent: number): number {
  if (scale === undefined || percent === lowest) return lowest;
  return scale.min + ((scale.max - scale.min) * percent) / 100;
}

/** Single values of old have thresholds also where these color nothing. */
function hasColors({ colorValue, colorBackground, gauge }: JsonObject): boolean {
  return colorValue !== false || colorBackground !== false || objectOf(gauge)['show'] === true;
}

/** What the value of a panel is, unless it is the newest one. */
function calculationOf(panel: JsonObject): string | undefined {
  const { calcs } = objectOf(objectOf(panel['options'])['reduceOptions']);
  const named = [...listOf(calcs), panel['valueName'] ?? null].filter(isName);
  return named.find((one) => one !== 'current' && figureOfCalc.get(one) !== 'LAST');
}

/** Old panels have `null` and `N/A` as a standard. */
function isEmptyMapping({ value, text, op }: JsonObject): boolean {
  return op === '=' && value === 'null' && text === 'N/A';
}

/** The height of a row or panel of old, `250px` or `250`, in rows of Grafana's grid; undefined without one. */
function heightIn({ height }: JsonObject): number | undefined {
  const pixels = typeof height === 'string' ? Number.parseFloat(height) : height;
  if (typeof pixels !== 'number' || !(pixels > 0)) return undefined;
  return Math.min(100, Math.max(3, Math.ceil(pixels / 38)));
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
  if (!isObject(legend)) return oldLegendOf(panel['legend']);
  const { placement, showLegend, displayMode, calcs } = legend;
  const isHidden = showLegend === false || displayMode === 'hidden';
  const place = isHidden ? 'NONE' : placement === 'right' ? 'RIGHT' : 'BOTTOM';
  const figures = new Set(listOf(calcs).flatMap((calc) => figureOfCalc.get(calc) ?? []));
  return { legend: { place, ...(figures.size > 0 && { figures: [...figures] }) } };
}

const oldFigures = [
  ['current', 'LAST'],
  ['min', 'MIN'],
  ['avg', 'AVG'],
  ['max', 'MAX'],
  ['total', 'SUM'],
] as const;

/** Of a graph of old. */
function oldLegendOf(legend: Json | undefined): Pick<Tile, 'legend'> {
  if (!isObject(legend)) return {};
  const { show, rightSide, values } = legend;
  const place = show === false ? 'NONE' : rightSide === true ? 'RIGHT' : 'BOTTOM';
  const figures = oldFigures.flatMap(([name, figure]) => (legend[name] === true ? [figure] : []));
  return { legend: { place, ...(values === true && figures.length > 0 && { figures }) } };
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
