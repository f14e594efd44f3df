// API schemas of the audit log (contract 26).
import Type from 'typebox';
import { auditActions } from '../model/audit-entry.ts';
import { listParameter, listParameters } from './list-parameters.ts';
import { id, list, oneOf, orNull, text, time } from './record-fields.ts';
import { namedObject } from './named.ts';

const anything = Type.Unknown();

export const auditEntrySchema = namedObject('AuditEntry', {
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

export const auditLogQuery = Type.Object({ ...listParameters(['timestamp']), ...filters });
export const auditExportQuery = Type.Object({
  ...filters,
  format: Type.Optional(oneOf(['csv', 'ndjson'])),
});
