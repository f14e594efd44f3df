// Endpoints of the audit log (contract 26).
import Type from 'typebox';
import { auditEntrySchema, auditExportQuery, auditLogQuery } from '../audit-entry.ts';
import { endpoint } from '../endpoint.ts';
import { pageSchema } from '../page-envelope.ts';

const tag = 'Audit log';
const access = {
  scope: 'organization',
  verb: 'manage',
  resource: 'handler',
} as const;

export const auditLogs = {
  list: endpoint({
    method: 'GET',
    path: '/v3/audit-logs',
    summary: 'List audit log entries',
    description: 'Returns who changed what, with the values before and after, newest first.',
    tag,
    access,
    query: auditLogQuery,
    response: pageSchema(auditEntrySchema),
  }),
  export: endpoint({
    method: 'GET',
    path: '/v3/audit-logs/export',
    summary: 'Export the audit log',
    description: 'Downloads matching audit log entries as a file, newest first.',
    tag,
    access,
    query: auditExportQuery,
    answerTypes: { 'text/csv': Type.String(), 'application/x-ndjson': Type.String() },
  }),
} as const;
