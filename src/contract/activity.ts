// Schemas and endpoints of the activity of workspaces (contract 37).
import Type from 'typebox';
import { auditActions } from '../model/audit-entry.ts';
import { endpoint } from './endpoint.ts';
import { listParameter, listParameters } from './list-parameters.ts';
import { namedObject } from './named.ts';
import { pageSchema } from './page-envelope.ts';
import { id, list, oneOf, orNull, text, time } from './record-fields.ts';

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
