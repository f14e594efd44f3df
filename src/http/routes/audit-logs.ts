// Routes of the audit log and of the activity of workspaces (contract 26, 36, 37).
import { Readable } from 'node:stream';
import { activity, auditLogs } from '../../contract/audit-logs.ts';
import { exportAuditLog, readActivity, readAuditLog } from '../../inventory/audit/audit.ts';
import { listScopeOf, pageRequestOf } from '../edge/list-query.ts';
import { Answer, route, type Route } from '../edge/route.ts';
import type { RecordRoutes } from './record-routes.ts';

export function auditLogRoutes({ records }: RecordRoutes): Route[] {
  return [
    route(auditLogs.list, ({ query }, principal) =>
      readAuditLog(records, principal, { ...query, ...listScopeOf(query) }, pageRequestOf(query)),
    ),
    route(auditLogs.export, ({ query }, principal) => {
      const format = query.format ?? 'csv';
      const { format: _, ...asked } = query;
      const lines = exportAuditLog(records, principal, { ...asked, ...listScopeOf(query) }, format);
      return new Answer(200, Readable.from(lines), {
        'content-type': format === 'csv' ? 'text/csv; charset=utf-8' : 'application/x-ndjson',
        'content-disposition': `attachment; filename="audit-log.${format}"`,
      });
    }),
    route(activity.list, ({ query }, principal) =>
      readActivity(records, principal, { ...query, ...listScopeOf(query) }, pageRequestOf(query)),
    ),
  ];
}
