// Route of the data of a dashboard as JSON, CSV, or PDF (contract 39).
import { Readable } from 'node:stream';
import { dashboardRender, type RenderedDashboard } from '../../contract/dashboards.ts';
import {
  type CsvColumn,
  type DashboardDocument,
  type DocumentTile,
  type Figure,
  momentText,
  tableRowsMax,
  type TileContent,
  tileCsv,
  valueText,
} from '../../dashboards/documents/document.ts';
import type { DocumentSlots } from '../../dashboards/documents/document-slots.ts';
import type { DocumentThread } from '../../dashboards/documents/document-thread.ts';
import type { WrittenPdf } from '../../dashboards/documents/pdf.ts';
import type { Inventory } from '../../inventory/record-crud.ts';
import { readDashboard } from '../../inventory/workspaces/dashboards.ts';
import { type EpochMs, formatInstant } from '../../model/instant.ts';
import { holds, type Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import type { OpenZone } from '../../query/accumulation.ts';
import { missing } from '../../structures/missing.ts';
import { Answer, resourceRoute, type Route, writtenAnswer } from '../edge/route.ts';
import type {
  DashboardRange,
  DashboardReader,
  ReadDashboard,
  ReadTile,
  ReadValue,
} from './dashboard-reader.ts';
import type { RecordRoutes } from './record-routes.ts';
import { thresholdOf } from '../../dashboards/configuration.ts';
import { devicesOf } from '../../dashboards/plan.ts';
import { heatmapOf, histogramOf } from '../../dashboards/distribution.ts';
import { chartPlot, colorIn, type PlotMark } from '../../dashboards/plot.ts';
import { stretchesOf } from '../../dashboards/states.ts';
import { type AlarmView, Alarms } from '../../inventory/alarms/alarm-lists.ts';
import { Annotations } from '../../inventory/workspaces/annotations.ts';
import { annotationLimits } from '../../model/annotation.ts';
import type { Json } from '../../model/json.ts';
import { offsetAt, type TimeZone } from '../../model/time-zone.ts';

export interface DashboardDocumentParts {
  readonly records: Inventory;
  readonly openZone: OpenZone;
  readonly now: () => EpochMs;
}

export function dashboardRenderRoute(
  common: RecordRoutes,
  openZone: OpenZone,
  {
    reader,
    slots,
    thread,
  }: {
    readonly reader: DashboardReader;
    readonly slots: DocumentSlots;
    readonly thread: DocumentThread;
  },
): Route {
  const { records, now } = common;
  return resourceRoute(
    dashboardRender.render,
    common.byId('dashboard'),
    async ({ params: { id }, query, signal }, principal) => {
      const { format = 'json', tile } = query;
      if (format === 'csv' && tile === undefined)
        throw problem('invalidRequest', { reason: 'query tile: is required for CSV' });
      const dashboard = await readDashboard(records, id);
      return slots.run(dashboard.organizationId, signal, async (ended) => {
        const parameters = parametersOf(query);
        const read = await reader.read(dashboard, query, parameters, tile, principal, ended);
        if (format === 'csv') return csvAnswer(read, tile ?? '');
        if (format === 'json') return jsonAnswer(read);
        const document = await documentOf({ records, openZone, now }, dashboard, read, principal);
        return pdfAnswer(await thread.pdf(document, ended), dashboard.name);
      });
    },
  );
}

function jsonAnswer(read: ReadDashboard): Answer<never> {
  return writtenAnswer(JSON.stringify(renderedDashboard(read)));
}

/** Each value of a repeated parameter. */
function parametersOf(query: object): [string, string][] {
  const sent = Object.entries(query) as [string, unknown][];
  const parameters: [string, string][] = [];
  for (const [name, values] of sent)
    for (const value of [values].flat())
      if (typeof value === 'string') parameters.push([name, value]);
  return parameters;
}

/** What the dashboard has read as a document of the caller. */
export async function documentOf(
  { records, openZone, now }: DashboardDocumentParts,
  { name, workspaceId }: { readonly name: string; readonly workspaceId: string },
  read: ReadDashboard,
  principal: Principal,
): Promise<DashboardDocument> {
  const zone = openZone(read.range.zone) ?? missing('zone of the range');
  const alarms = await alarmsOfTiles(records, workspaceId, read.tiles, principal);
  const notes = await notesOfCharts(records, workspaceId, read, principal);
  const made = { by: principal.name, at: now() };
  return dashboardDocument(name, read, made, zone, { alarms, notes });
}

function pdfAnswer({ bytes, missing: glyphs }: WrittenPdf, name: string): Answer<never> {
  const file = name.replaceAll(/[^\w.-]+/g, '_').slice(0, 100) || 'dashboard';
  return new Answer<never>(200, Readable.from([bytes]), {
    'content-type': 'application/pdf',
    'content-disposition': `attachment; filename="${file}.pdf"`,
    ...(glyphs.length > 0 && { 'x-missing-glyphs': glyphs.join(' ') }),
  });
}

/** The body of the answer as JSON. */
function renderedDashboard({ range, tiles }: ReadDashboard): RenderedDashboard {
  return {
    range: { from: formatInstant(range.from), to: formatInstant(range.to), timeZone: range.zone },
    tiles: tiles.map(({ tile, title, series, latest }) => ({
      id: tile.id,
      kind: tile.kind,
      title,
      series: series.map(({ series: { deviceId, unit, topic, dataKey }, label, ...points }) => {
        const { combined, timestamps, dataPoints } = points;
        const names = { ...sourceOf(deviceId, topic), label, unit, dataKey, ...combined };
        return { ...names, timestamps: [...timestamps], dataPoints };
      }),
      latest: latest.map(({ unit: _, deviceId, topic, combined, ...value }) => ({
        ...sourceOf(deviceId, topic),
        ...value,
        ...combined,
      })),
    })),
  };
}

/** Combined devices have no id, and a calculation has no topic either. */
function sourceOf(deviceId: string, topic: string) {
  return { deviceId: deviceId || null, topic: topic || null };
}

function csvAnswer({ tiles, range }: ReadDashboard, tile: string): Answer<never> {
  const lines = tileCsv(tiles.flatMap(csvColumns), range.zone);
  const name = tile.replaceAll(/[^\w.-]/g, '_').slice(0, 100);
  return new Answer<never>(200, Readable.from(lines), {
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': `attachment; filename="${name}.csv"`,
  });
}

/** Its series over time; of a tile that shows newest values only, these with their times. */
export function csvColumns({ series, latest }: ReadTile): CsvColumn[] {
  if (series.length > 0)
    return series.map(({ series: { accumulator, unit }, label, timestamps, dataPoints }) => {
      const points = dataPoints[accumulator] ?? Object.values(dataPoints)[0] ?? [];
      return { label, unit, timestamps, values: points };
    });
  return latest.map(({ label, unit, timestamp, value }) => ({
    label,
    unit,
    timestamps: timestamp === null ? [] : [timestamp],
    values: [value],
  }));
}

// Document of a dashboard: what its tiles have read as charts, figures, lists, and texts of pages and mails (contract 39).

/** Open alarms of the workspace; null for a caller who may not read them. */
type OpenAlarms = { readonly rows: readonly AlarmView[]; readonly total: number } | null;

/** `alarms` are those of each alarm tile, by its id; `notes` those that charts mark. */
function dashboardDocument(
  name: string,
  { range, variables, tiles, deviceNames }: ReadDashboard,

  /** Who makes the document, and when. */
  {
    by,
    at,
  }: {
    readonly by: string;
    readonly at: EpochMs;
  },
  zone: TimeZone,
  {
    alarms,
    notes,
  }: { readonly alarms: ReadonlyMap<string, OpenAlarms>; readonly notes: ChartNotes },
): DashboardDocument {
  const { from, to } = range;
  const moment = (ms: EpochMs) => momentText(ms, range.zone);
  const shown = tiles.flatMap((read): DocumentTile[] => {
    const { title, tile } = read;
    const content = contentOf(read, range, zone, { deviceNames, alarms, notes });
    if (content === undefined) return [];
    const { x, y, width, height } = tile;
    return [{ title, x, y, width, height, ...content }];
  });
  return {
    title: name,
    lead: `${moment(from)} to ${moment(to)} (${range.zone})`,
    variables: variables.filter(({ value }) => value !== ''),
    footer: `Created by ${by} at ${moment(at)}`,
    zone: range.zone,
    tiles: [...shown, ...noteTable(notes, shown, range)],
  };
}

/** Undefined for tiles that only a screen has. */
function contentOf(
  read: ReadTile,
  range: DashboardRange,
  zone: TimeZone,
  known: {
    readonly deviceNames: ReadonlyMap<string, string>;
    readonly alarms: ReadonlyMap<string, OpenAlarms>;
    readonly notes: ChartNotes;
  },
): TileContent | undefined {
  const { tile, latest } = read;
  switch (tile.kind) {
    case 'control':
      return undefined;
    case 'text':
      return { kind: 'text', text: tile.text ?? '' };
    case 'links':
      return { kind: 'text', text: (tile.links ?? []).map(({ label }) => `- ${label}`).join('\n') };
    case 'line':
    case 'bar':
      return chartOf(read, range, zone, known.notes);
    case 'heatmap':
      return heatmapTile(read, zone);
    case 'histogram':
      return histogramTile(read);
    case 'timeline':
      return timelineTile(read, range);
    case 'value':
    case 'state':
    case 'gauge':
      return { kind: 'figures', figures: latest.map((value) => figureOf(read, value)) };
    case 'alarms':
      return alarmTable(known.alarms.get(tile.id) ?? null, range);
    case 'devices':
      return deviceTable(read, range, known.deviceNames);
    default:
      return valueTable(read, range);
  }
}

function chartOf(
  read: ReadTile,
  { from, to }: DashboardRange,
  zone: TimeZone,
  notes: ChartNotes,
): TileContent {
  const isEmpty = read.series.every(({ dataPoints, series: { accumulator } }) =>
    (dataPoints[accumulator] ?? []).every((value) => value === null),
  );
  if (isEmpty) return noData;
  const labeled = read.series.map((one) => ({ ...one, label: notedLabel(one) }));
  const plot = chartPlot(read.tile, labeled, {
    from: from / 1_000,
    to: to / 1_000,
    bucket: read.bucket,
    clock: clockOf(zone),
    levelName: ({ from: value, label }) => label || valueText(value),
  });
  const marks = notes.marks.get(read.tile.id) ?? [];
  return { kind: 'chart', plot: marks.length === 0 ? plot : { ...plot, marks } };
}

const noData: TileContent = { kind: 'text', text: 'No data in this range' };

function clockOf(zone: TimeZone) {
  return (seconds: number) => seconds + offsetAt(zone, seconds * 1_000) / 1_000;
}

function heatmapTile({ series: [first] }: ReadTile, zone: TimeZone): TileContent {
  if (first === undefined) return noData;
  const { series, timestamps, dataPoints } = first;
  const heatmap = heatmapOf(timestamps, dataPoints[series.accumulator] ?? [], clockOf(zone));
  if (heatmap === undefined) return noData;
  return { kind: 'heatmap', heatmap, unit: series.unit, color: colorIn(series.color, 0) };
}

function histogramTile({ samples }: ReadTile): TileContent {
  const values = samples.flatMap((one) =>
    one.samples.flatMap(({ value }) => (typeof value === 'number' ? [value] : [])),
  );
  const histogram = histogramOf(values);
  const [first] = samples;
  if (histogram === undefined || first === undefined) return noData;
  const { unit, color } = first.series;
  return { kind: 'histogram', histogram, unit, color: colorIn(color, 0) };
}

function timelineTile({ tile, samples }: ReadTile, { from, to }: DashboardRange): TileContent {
  const interval = { fromMs: from, toMs: to };
  const rows = samples.map((one) => {
    return { label: one.label, stretches: stretchesOf(one.samples, interval) };
  });
  if (rows.every(({ stretches }) => stretches.length === 0)) return noData;
  return { kind: 'timeline', interval, rows, thresholds: tile.thresholds };
}

/** Says how many of combined devices have a value, where some have none. */
function notedLabel({ label, combined }: Pick<ReadValue, 'label' | 'combined'>): string {
  if (combined === undefined || combined.withValue === combined.devices) return label;
  return `${label} (${combined.withValue} of ${combined.devices} devices)`;
}

function figureOf({ tile: { thresholds } }: ReadTile, read: ReadValue): Figure {
  const { unit, value } = read;
  const isKnown = value !== null && value !== undefined;
  return {
    label: notedLabel(read),
    unit: isKnown ? unit : '',
    value: isKnown ? valueText(value) : 'No data',
    tone: thresholdOf(value, thresholds)?.tone,
  };
}

function tableOf(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  rest = 0,
): TileContent {
  const omitted = Math.max(0, rows.length - tableRowsMax) + rest;
  return { kind: 'table', head, rows: rows.slice(0, tableRowsMax), rest: omitted };
}

function timeText(timestamp: string | null, { zone }: DashboardRange): string {
  return timestamp === null ? '' : momentText(Date.parse(timestamp), zone);
}

function withUnit({ value, unit }: ReadValue): string {
  return `${valueText(value)} ${unit}`.trim();
}

function valueTable({ latest, rest }: ReadTile, range: DashboardRange): TileContent {
  const rows = latest.map((one) => [
    notedLabel(one),
    one.dataKey,
    withUnit(one),
    timeText(one.timestamp, range),
  ]);
  return tableOf(['Name', 'Data key', 'Value', 'Time'], rows, rest);
}

/** A row for each device, a column for each of its values. */
function deviceTable(
  { tile, latest, rest }: ReadTile,
  range: DashboardRange,
  deviceNames: ReadonlyMap<string, string>,
): TileContent {
  const columns = tile.columns ?? [];
  const byDevice = Map.groupBy(latest, ({ deviceId }) => deviceId);
  const rows = [...byDevice].map(([id, values]) => {
    const newest =
      values
        .flatMap(({ timestamp }) => timestamp ?? [])
        .toSorted()
        .at(-1) ?? null;
    const cells = columns.map((_, at) => valueText(values[at]?.value));
    return [deviceNames.get(id) ?? id, ...cells, timeText(newest, range)];
  });
  const head = columns.map(({ label, dataKey }) => label ?? dataKey);
  return tableOf(['Device', ...head, 'Last seen'], rows, rest);
}

function alarmTable(alarms: OpenAlarms, range: DashboardRange): TileContent {
  if (alarms === null)
    return { kind: 'text', text: 'The creator of this document cannot read alarms' };
  if (alarms.total === 0) return { kind: 'text', text: 'No open alarms' };
  const rows = alarms.rows.map(({ name, severity, state, device, lastTriggered }) => [
    name,
    severity,
    state,
    device?.name ?? '',
    timeText(lastTriggered, range),
  ]);
  const head = ['Alarm', 'Severity', 'State', 'Device', 'Last triggered'];
  return tableOf(head, rows, alarms.total - rows.length);
}

// Alarms of an alarm tile: open ones of the workspace, as far as its filter says and the caller may read them.

const openStates = ['OPEN', 'ACKNOWLEDGED'];

/** By the id of each alarm tile. */
async function alarmsOfTiles(
  records: Inventory,
  workspaceId: string,
  tiles: readonly ReadTile[],
  principal: Principal,
): Promise<ReadonlyMap<string, OpenAlarms>> {
  const found = new Map<string, OpenAlarms>();
  for (const { tile } of tiles.filter((one) => one.tile.kind === 'alarms')) {
    if (!holds(principal, 'rule', 'read', workspaceId)) {
      found.set(tile.id, null);
      continue;
    }
    const deviceIds = tile.sources.map(({ id }) => id);
    const filter = {
      workspaceIds: [workspaceId],
      states: textsIn(tile.filter?.['state']) ?? openStates,
      severities: textsIn(tile.filter?.['severity']),
      ...(deviceIds.length > 0 && { deviceIds }),
    };
    const page = { page: 0, size: tableRowsMax, sort: [] };
    const { content, totalElements } = await new Alarms(records).list(principal, filter, page);
    found.set(tile.id, { rows: content, total: totalElements });
  }
  return found;
}

/** Undefined for none. */
function textsIn(value: Json | undefined): readonly string[] | undefined {
  const texts = [value].flat().filter((one) => typeof one === 'string');
  return texts.length === 0 ? undefined : texts;
}

// Notes and alarms of charts: numbered marks, and what the numbers mean in a list after the last tile.

interface ChartNote {
  readonly id: string;
  readonly at: EpochMs;
  readonly until: EpochMs | null;
  readonly text: string;
  /** Name of the device; empty for the workspace or a place. */
  readonly about: string;
  readonly by: string;
  readonly color: PlotMark['color'];
}

interface ChartNotes {
  /** In the order of their numbers, from 1. */
  readonly listed: readonly ChartNote[];
  /** By the id of the tile. */
  readonly marks: ReadonlyMap<string, readonly PlotMark[]>;
}

/** More cannot be told apart in a chart. */
const notesOfChartMax = 100;
const noNotes: ChartNotes = { listed: [], marks: new Map() };

/** As the dashboard says it, and as far as the caller may read them; a link to a dashboard reads none. */
async function notesOfCharts(
  records: Inventory,
  workspaceId: string,
  { configuration: { annotations }, range, tiles, deviceNames }: ReadDashboard,
  principal: Principal,
): Promise<ChartNotes> {
  if (principal.share !== undefined) return noNotes;
  const wantsNotes = annotations?.notes !== false;
  const wantsAlarms = annotations?.alarms === true && holds(principal, 'rule', 'read', workspaceId);
  const page = { page: 0, size: notesOfChartMax, sort: [] };
  const byTile = new Map<string, readonly ChartNote[]>();
  for (const { tile, series } of tiles) {
    if ((tile.kind !== 'line' && tile.kind !== 'bar') || series.length === 0) continue;
    const concerns = devicesOf([tile], new Map()).slice(0, annotationLimits.concernedMax);
    const within = { from: formatInstant(range.from), to: formatInstant(range.to) };
    const notes = wantsNotes
      ? await new Annotations(records).list(
          principal,
          { workspaceIds: [workspaceId], ...within, concerns },
          page,
        )
      : { content: [] };
    const filter = { workspaceIds: [workspaceId], deviceIds: concerns };
    const alarms = wantsAlarms
      ? await new Alarms(records).list(principal, filter, page)
      : { content: [] };
    byTile.set(tile.id, [
      ...notes.content.map(({ id, at, until, text, deviceId, by }) => ({
        id,
        at: Date.parse(at),
        until: until === null ? null : Date.parse(until),
        text,
        about: deviceId === null ? '' : (deviceNames.get(deviceId) ?? deviceId),
        by: by.name,
        color: '--ink-2' as const,
      })),
      ...alarms.content.flatMap((alarm) => alarmNote(alarm, range)),
    ]);
  }
  const all = new Map([...byTile.values()].flat().map((note) => [note.id, note]));
  const listed = [...all.values()].sort((a, b) => a.at - b.at).slice(0, tableRowsMax);
  const numbers = new Map(listed.map(({ id }, place) => [id, String(place + 1)]));
  const marks = new Map(
    [...byTile].map(([tileId, notes]) => [
      tileId,
      notes.flatMap((note) => markOf(note, numbers.get(note.id))),
    ]),
  );
  return { listed, marks };
}

/** Of an alarm that opened in the range. */
function alarmNote(alarm: AlarmView, { from, to }: DashboardRange): ChartNote[] {
  const { id, name, device, firstTriggered, severity } = alarm;
  const at = Date.parse(firstTriggered);
  if (at < from || at >= to) return [];
  const isBad = severity === 'CRITICAL' || severity === 'MAJOR';
  const color = isBad ? ('--bad' as const) : ('--warn' as const);
  return [{ id, at, until: null, text: name, about: device?.name ?? '', by: '', color }];
}

function markOf({ at, until, color }: ChartNote, label: string | undefined): PlotMark[] {
  if (label === undefined) return [];
  return [{ at: at / 1_000, ...(until !== null && { until: until / 1_000 }), label, color }];
}

/** Below all tiles; nothing without notes. */
function noteTable(
  { listed }: ChartNotes,
  tiles: readonly DocumentTile[],
  range: DashboardRange,
): DocumentTile[] {
  if (listed.length === 0) return [];
  const rows = listed.map(({ at, until, text, about, by }, place) => {
    const times = [at, ...(until === null ? [] : [until])].map((ms) => momentText(ms, range.zone));
    return [String(place + 1), times.join(' to '), about, text, by];
  });
  const y = Math.max(0, ...tiles.map((tile) => tile.y + tile.height));
  const place = { title: 'Notes and alarms', x: 0, y, width: 12, height: 4 };
  return [{ ...place, ...tableOf(['No.', 'Time', 'About', 'Note', 'By'], rows) }];
}
