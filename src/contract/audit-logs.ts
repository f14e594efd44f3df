// Schemas and endpoints of the audit log (contract 26).
import Type from 'typebox';
import { auditActions } from '../model/record.ts';
import { endpoint } from './endpoint.ts';
import {
  id,
  list,
  listParameter,
  listParameters,
  namedObject,
  oneOf,
  orNull,
  pageSchema,
  text,
  time,
} from './schema-parts.ts';

const anything = Type.Unknown();

const auditEntrySchema = namedObject('AuditEntry', {
  id,
  timestamp: time,
  organizationId: id,
  workspaceId: orNull(id),
  actor: Type.Object({ type: oneOf(['USER', 'API_KEY', 'OAUTH_CLIENT']), id, name: text }),
  action: oneOf(auditActions),
  resourceType: Type.String({ description: 'Such as DEVICE or DEVICE_TYPE.' }),
  resourceId: id,
  resourceName: orNull(text),
  requestId: orNull(text),
  ip: orNull(text),
  changes: list(
    Type.Object({
      field: text,
      before: Type.Optional(anything),
      after: Type.Optional(anything),
      secret: Type.Optional(
        Type.Boolean({ description: 'Whether the field is a secret. Its values are not shown.' }),
      ),
    }),
  ),
});

const filters = {
  organizationId: Type.Optional(Type.String()),
  workspaceId: listParameter,
  workspaceIds: listParameter,
  from: Type.Optional(Type.String({ description: 'ISO-8601 time, inclusive.' })),
  to: Type.Optional(Type.String({ description: 'ISO-8601 time, exclusive.' })),
  actorId: Type.Optional(Type.String()),
  resourceType: Type.Optional(Type.String()),
  resourceId: Type.Optional(Type.String()),
  action: Type.Optional(oneOf(auditActions)),
};

const auditLogQuery = Type.Object({ ...listParameters(['timestamp']), ...filters });
const auditExportQuery = Type.Object({
  ...filters,
  format: Type.Optional(oneOf(['csv', 'ndjson'])),
});

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

// Schemas and endpoints of the activity of workspaces (contract 37).

const change = {
  action: oneOf(auditActions),
  resourceType: Type.String({
    description: 'Resource type, as in the audit log, such as `DEVICE`.',
  }),
};

const activitySchema = namedObject('Activity', {
  id,
  workspaceId: id,
  requestId: orNull(text),
  actor: Type.Object({ type: oneOf(['USER', 'API_KEY', 'OAUTH_CLIENT']), id, name: text }),
  started: time,
  timestamp: Type.String({ format: 'date-time', description: 'Time of the last change.' }),
  total: Type.Integer({ description: 'Number of changed records.' }),
  changes: list(Type.Object({ ...change, count: Type.Integer() })),
  records: list(
    Type.Object(
      { ...change, resourceId: id, resourceName: orNull(text) },
      { description: 'First 10 records.' },
    ),
  ),
});

const activityQuery = Type.Object({
  ...listParameters(['timestamp']),
  organizationId: Type.Optional(Type.String()),
  workspaceId: listParameter,
  workspaceIds: listParameter,
  from: Type.Optional(Type.String({ description: 'ISO-8601 time, inclusive.' })),
  to: Type.Optional(Type.String({ description: 'ISO-8601 time, exclusive.' })),
  actorId: Type.Optional(Type.String()),
  requestId: Type.Optional(
    Type.String({ description: 'Request ID from the `x-request-id` response header.' }),
  ),
});

export const activity = {
  list: endpoint({
    method: 'GET',
    path: '/v3/activity',
    summary: 'List activity',
    description: 'Returns the changes of each request in the requested workspaces, newest first.',
    tag: 'Audit log',
    access: { scope: 'workspace', verb: 'read', resource: 'handler' },
    needsAlso: 'Returns only changes to records that the caller can read.',
    query: activityQuery,
    response: pageSchema(activitySchema),
  }),
} as const;
