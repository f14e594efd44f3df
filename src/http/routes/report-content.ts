// Report content: what the mail of a report shows, read and drawn with the permissions of its owner (contract 39.1).
import type { DocumentThread } from '../../documents/document-thread.ts';
import { tileCsv } from '../../documents/tile-csv.ts';
import { listAlarms } from '../../inventory/alarms/alarm-lists.ts';
import { readDashboard } from '../../inventory/workspaces/dashboards.ts';
import { type EpochMs, formatInstant } from '../../model/instant.ts';
import { holds, type Principal } from '../../model/principal.ts';
import { rangeUpTo, type Report } from '../../model/report.ts';
import type { ReportContent } from '../../reports/report-mail.ts';
import { csvColumns, type DashboardDocumentParts, documentOf } from './dashboard-render.ts';
import type { DashboardReader, ReadTile } from './dashboard-reader.ts';

interface ReportContentParts extends DashboardDocumentParts {
  readonly reader: DashboardReader;
  readonly thread: DocumentThread;
}

/** Throws Problem 404 without the dashboard, and what reading the dashboard throws. */
export async function reportContent(
  parts: ReportContentParts,
  report: Report,
  to: EpochMs,
  { owner, signal }: { readonly owner: Principal; readonly signal: AbortSignal },
): Promise<ReportContent> {
  const { records, reader, thread } = parts;
  const dashboard = await readDashboard(records, report.dashboardId);
  const range = rangeUpTo(report, to);
  const asked = {
    from: formatInstant(range.from),
    to: formatInstant(range.to),
    timeZone: report.schedule.timeZone,
  };
  const parameters = Object.entries(report.variables).flatMap(([name, values]) =>
    values.map((value) => [`var.${name}`, value] as const),
  );
  const read = await reader.read(dashboard, asked, parameters, undefined, owner, signal);
  const document = await documentOf(parts, dashboard, read, owner);
  const wants = new Set(report.formats);
  const zone = report.schedule.timeZone;
  return {
    range,
    document,
    pictures: await thread.pictures(document, signal),
    pdf: wants.has('PDF') ? (await thread.pdf(document, signal)).bytes : undefined,
    tables: wants.has('CSV')
      ? read.tiles
          .filter(({ series }) => series.length > 0)
          .map((tile) => ({ title: tile.title, lines: tileCsv(csvColumns(tile), zone) }))
      : [],
    ...reportingOf(read.tiles, range.from),
    openAlarms: await openAlarmsIn(parts, report.workspaceId, owner),
  };
}

/** Devices that the tiles show, and those with a value in the range. */
function reportingOf(tiles: readonly ReadTile[], from: EpochMs) {
  const devices = new Set<string>();
  const reporting = new Set<string>();
  for (const { series, latest } of tiles) {
    for (const { series: one, dataPoints } of series) {
      devices.add(one.deviceId);
      const values = Object.values(dataPoints).flat();
      if (values.some((value) => value !== null)) reporting.add(one.deviceId);
    }
    for (const { deviceId, timestamp } of latest) {
      devices.add(deviceId);
      if (timestamp !== null && Date.parse(timestamp) >= from) reporting.add(deviceId);
    }
  }
  return { devices: devices.size, reporting: reporting.size };
}

async function openAlarmsIn(
  { records }: DashboardDocumentParts,
  workspaceId: string,
  owner: Principal,
): Promise<number | null> {
  if (!holds(owner, 'rule', 'read', workspaceId)) return null;
  const filter = { workspaceIds: [workspaceId], states: ['OPEN', 'ACKNOWLEDGED'] };
  const page = { page: 0, size: 1, sort: [] };
  return (await listAlarms(records, owner, filter, page)).totalElements;
}
