// Route of the data of a dashboard as JSON, CSV, or PDF (contract 39).
import { Readable } from 'node:stream';
import { dashboardRender, type RenderedDashboard } from '../../contract/dashboards.ts';
import {
  type CsvColumn,
  type DashboardDocument,
  tileCsv,
} from '../../dashboards/documents/document.ts';
import type { DocumentSlots } from '../../dashboards/documents/document-slots.ts';
import type { DocumentThread } from '../../dashboards/documents/document-thread.ts';
import type { WrittenPdf } from '../../dashboards/documents/pdf.ts';
import type { Inventory } from '../../inventory/record-crud.ts';
import { readDashboard } from '../../inventory/workspaces/dashboards.ts';
import { type EpochMs, formatInstant } from '../../model/instant.ts';
import type { Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import type { OpenZone } from '../../query/accumulation.ts';
import { missing } from '../../structures/missing.ts';
import { Answer, resourceRoute, type Route, writtenAnswer } from '../edge/route.ts';
import { alarmsOfTiles, dashboardDocument, notesOfCharts } from './dashboard-document.ts';
import type { DashboardReader, ReadDashboard, ReadTile } from './dashboard-reader.ts';
import { byId } from './record-routes.ts';

export interface DashboardDocumentParts {
  readonly records: Inventory;
  readonly openZone: OpenZone;
  readonly now: () => EpochMs;
}

interface DashboardRenderParts extends DashboardDocumentParts {
  readonly reader: DashboardReader;
  readonly slots: DocumentSlots;
  readonly thread: DocumentThread;
}

export function dashboardRenderRoute(parts: DashboardRenderParts): Route {
  const { records, reader, slots, thread } = parts;
  return resourceRoute(
    dashboardRender.render,
    byId(parts, 'dashboard'),
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
        const document = await documentOf(parts, dashboard, read, principal);
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
        const { timestamps, dataPoints } = points;
        // A calculation is of no device.
        const source = deviceId === '' ? { deviceId: null, topic: null } : { deviceId, topic };
        const names = { ...source, label, unit, dataKey };
        return { ...names, timestamps: [...timestamps], dataPoints };
      }),
      latest: latest.map(({ unit: _, ...value }) => value),
    })),
  };
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
