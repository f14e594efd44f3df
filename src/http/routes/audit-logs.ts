// Routes of the audit log, for whoever holds `organization` `manage`: owners, administrators, log shippers (contract 26, 36).
import { Readable } from 'node:stream';
import Type from 'typebox';
import { auditEntrySchema, auditExportQuery, auditLogQuery } from '../../contract/audit-entry.ts';
import { pageSchema } from '../../contract/page-envelope.ts';
import { exportAuditLog, readAuditLog } from '../../inventory/audit/audit-log.ts';
import { listScopeOf, pageRequestOf } from '../edge/list-query.ts';
import { Answer, guardedRoute, type Route } from '../edge/route.ts';
import type { RecordParts } from './record-parts.ts';

const tag = 'Audit log';
const access = {
  scope: 'organization',
  verb: 'manage',
  place: { narrowedByHandler: true },
} as const;

export function auditLogRoutes({ records }: RecordParts): Route[] {
  return [
    guardedRoute({
      method: 'GET',
      path: '/v3/audit-logs',
      summary: 'Who changed what, newest first',
      tag,
      access,
      query: auditLogQuery,
      response: pageSchema(auditEntrySchema),
      handle: ({ query }, principal) =>
        readAuditLog(records, principal, { ...query, ...listScopeOf(query) }, pageRequestOf(query)),
    }),
    guardedRoute({
      method: 'GET',
      path: '/v3/audit-logs/export',
      summary: 'The audit log as a file, newest first',
      tag,
      access,
      query: auditExportQuery,
      answerTypes: { 'text/csv': Type.String(), 'application/x-ndjson': Type.String() },
      handle: ({ query }, principal) => {
        const format = query.format ?? 'csv';
        const { format: _, ...asked } = query;
        const lines = exportAuditLog(
          records,
          principal,
          { ...asked, ...listScopeOf(query) },
          format,
        );
        return new Answer(200, Readable.from(lines), {
          'content-type': format === 'csv' ? 'text/csv; charset=utf-8' : 'application/x-ndjson',
          'content-disposition': `attachment; filename="audit-log.${format}"`,
        });
      },
    }),
  ];
}
