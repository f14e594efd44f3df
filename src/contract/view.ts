// API schemas of saved views (contract 37).
import Type from 'typebox';
import { commonSortFields, workspaceListParameters } from './list-parameters.ts';
import { namedObject } from './named.ts';
import {
  auditFields,
  id,
  name,
  object,
  optional,
  orNull,
  text,
  updateFields,
} from './record-fields.ts';

const kind = Type.String({
  minLength: 1,
  maxLength: 100,
  description: 'View kind, such as `devices`.',
});
const shared = Type.Boolean({
  description: 'Whether the view is shared with the workspace. Requires `workspace` `update`.',
});

export const viewSchema = namedObject('View', {
  id,
  name,
  description: orNull(text),
  kind,
  organizationId: id,
  workspaceId: id,
  shared,
  ownerId: id,
  own: Type.Boolean({ description: 'Whether the caller owns the view.' }),
  content: object,
  ...auditFields,
});

const draftFields = {
  description: optional(text),
  shared: optional(shared),
  content: optional(object),
};

export const viewDraft = namedObject('ViewDraft', {
  workspaceId: id,
  name,
  kind,
  ...draftFields,
});
export const viewUpdate = namedObject('ViewUpdate', {
  ...updateFields,
  name: Type.Optional(name),
  kind: Type.Optional(kind),
  ...draftFields,
});
export const viewListQuery = Type.Object({
  ...workspaceListParameters([...commonSortFields, 'kind']),
  kind: Type.Optional(Type.String()),
});
