// Routes of reports, and the pages of links to unsubscribe (contract 39.1).
import { Readable } from 'node:stream';
import { reports } from '../../contract/reports.ts';
import { type Subscription, Reports } from '../../inventory/workspaces/reports.ts';
import { change, type Step } from '../../inventory/record-crud.ts';
import { problem, Problem } from '../../model/problem.ts';
import { listScopeOf, pageRequestOf } from '../edge/list-query.ts';
import { alsoNeeds, Answer, resourceRoute, route, type Route } from '../edge/route.ts';
import type { RecordRoutes } from './record-routes.ts';
import type { DocumentThread } from '../../dashboards/documents/document-thread.ts';
import { tileCsv } from '../../dashboards/documents/document.ts';
import { Alarms } from '../../inventory/alarms/alarm-lists.ts';
import { readDashboard } from '../../inventory/workspaces/dashboards.ts';
import { type EpochMs, formatInstant } from '../../model/instant.ts';
import { holds, type Principal } from '../../model/principal.ts';
import type { Report } from '../../model/report.ts';
import type { ReportContent } from '../../reports/report-mail.ts';
import { csvColumns, type DashboardDocumentParts, documentOf } from './dashboard-render.ts';
import type { DashboardReader, ReadTile } from './dashboard-reader.ts';
import { parseIsoDuration } from '../../model/iso-duration.ts';

/**
 * The range of a report that ends at a moment; its length is that of the calendar of the zone. Throws
 * for a duration or zone that was not checked.
 */
function rangeUpTo(
  { last, schedule: { timeZone } }: Report,
  to: EpochMs,
): { readonly from: EpochMs; readonly to: EpochMs } {
  const parsed = parseIsoDuration(last);
  if ('reason' in parsed) throw new Error(`The range of a report: ${parsed.reason}`);
  const { months, days, ms: milliseconds } = parsed.duration;
  const end = Temporal.Instant.fromEpochMilliseconds(to).toZonedDateTimeISO(timeZone);
  return { from: end.subtract({ months, days, milliseconds }).epochMilliseconds, to };
}

export function reportRoutes(
  common: RecordRoutes,
  /** The setting without which no mail can be sent. */
  missingSetting: string | undefined,
  /** Renders a report, and returns what queues its mails in a transaction. */
  prepare: (id: string, signal: AbortSignal) => Promise<(step: Step) => Promise<readonly string[]>>,
): Route[] {
  const { records } = common;
  const service = new Reports(records);
  const findReport = common.byId('report');
  const needMail = () => {
    if (missingSetting !== undefined) throw problem('reportsNeedMail', { setting: missingSetting });
  };
  return [
    ...common.crud(reports, {
      kind: 'report',
      list: ({ query }, principal) =>
        service.list(principal, { ...query, ...listScopeOf(query) }, pageRequestOf(query)),
      checkCreate: needMail,
      create: (step, { body }, { kind, id }) => new Reports(step).create({ type: kind, id }, body),
      read: (id) => service.read(id),
      update: async (id, { body }, principal) => {
        alsoNeeds(principal, 'asset', 'read', (await findReport({ id })).workspaceId);
        needMail();
        return service.update({ type: principal.kind, id: principal.id }, id, body);
      },
      remove: (id) => service.remove(id),
    }),
    resourceRoute(reports.send, findReport, async (input, principal) => {
      const queue = await prepare(input.params.id, input.signal);
      return common.answeredOnce(input, principal, async (step) => ({
        deliveryIds: await change(step, queue),
      }));
    }),
    route(reports.unsubscribePage, ({ params }) =>
      answered(async () => {
        const found = await service.findSubscription(params.token);
        return found.isGone ? gonePage(found) : askingPage(found);
      }),
    ),
    route(reports.unsubscribe, ({ params, body }) =>
      answered(async () => {
        // Mail readers send a form; what it says is known from the address.
        for await (const _ of body) continue;
        return gonePage(await service.unsubscribe(params.token));
      }),
    ),
  ];
}

// Pages: without scripts, in plain HTML.

async function answered(work: () => Promise<string>): Promise<Answer<never>> {
  try {
    return pageAnswer(200, await work());
  } catch (error) {
    if (!(error instanceof Problem) || error.problem !== 'linkUnknown') throw error;
    return pageAnswer(404, `<h1>${escaped(error.message)}</h1>`);
  }
}

function pageAnswer(status: number, content: string): Answer<never> {
  const style =
    'body{font:16px/1.5 system-ui,sans-serif;color:#1c1917;max-width:32rem;margin:15vh auto;padding:0 1rem}' +
    'h1{font-size:1.4rem;overflow-wrap:anywhere}button{font:inherit;padding:.6rem 1.2rem}';
  const page = `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="robots" content="noindex"><title>Unsubscribe</title><style>${style}</style></head><body><main>${content}</main></body></html>`;
  return new Answer<never>(status, Readable.from([page]), {
    'content-type': 'text/html; charset=utf-8',
  });
}

function askingPage({ email, name }: Subscription): string {
  return (
    `<h1>Unsubscribe from ${escaped(name ?? 'this report')}</h1>` +
    `<p>${escaped(email)} will no longer receive this report.</p>` +
    '<form method="post"><button name="List-Unsubscribe" value="One-Click">Unsubscribe</button></form>'
  );
}

function gonePage({ email, name }: Subscription): string {
  const of = name === null ? 'this report' : escaped(name);
  return `<h1>Unsubscribed</h1><p>${escaped(email)} does not receive ${of}.</p>`;
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

// Report content: what the mail of a report shows, read and drawn with the permissions of its owner (contract 39.1).

/** Throws Problem 404 without the dashboard, and what reading the dashboard throws. */
export async function reportContent(
  parts: DashboardDocumentParts & {
    readonly reader: DashboardReader;
    readonly thread: DocumentThread;
  },
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
  return (await new Alarms(records).list(owner, filter, page)).totalElements;
}
