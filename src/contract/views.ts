// Schemas and endpoints of saved views (contract 37).
import Type, { type Static } from 'typebox';
import {
  auditFields,
  commonSortFields,
  id,
  name,
  namedObject,
  object,
  optional,
  orNull,
  pageSchema,
  text,
  updateFields,
  workspaceListParameters,
} from './schema-parts.ts';
import { recordEndpoints } from './endpoint.ts';

const kind = Type.String({
  minLength: 1,
  maxLength: 100,
  description: 'View kind, such as `devices`.',
});
const shared = Type.Boolean({
  description: 'Whether the view is shared with the workspace. Requires `workspace` `update`.',
});

const viewSchema = namedObject('View', {
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

const viewDraft = namedObject('ViewDraft', {
  workspaceId: id,
  name,
  kind,
  ...draftFields,
});
export type ViewDraft = Static<typeof viewDraft>;
const viewUpdate = namedObject('ViewUpdate', {
  ...updateFields,
  name: Type.Optional(name),
  kind: Type.Optional(kind),
  ...draftFields,
});
export type ViewUpdate = Static<typeof viewUpdate>;
const viewListQuery = Type.Object({
  ...workspaceListParameters([...commonSortFields, 'kind']),
  kind: Type.Optional(Type.String()),
});

const records = recordEndpoints({
  path: '/v3/views',
  isOwn: true,
  tag: 'Views',
  scope: 'workspace',
  record: viewSchema,
  list: {
    summary: 'List views',
    description: "Returns the caller's own views and the views shared in the requested workspaces.",
    query: viewListQuery,
    response: pageSchema(viewSchema),
  },
  create: {
    summary: 'Create a view',
    description: 'Saves a view.',
    body: viewDraft,
    needsAlso: 'A shared view also requires `workspace` `update`.',
  },
  read: {
    summary: 'Get a view',
    description: 'Returns a view; private views of other users return 404.',
  },
  update: {
    summary: 'Update a view',
    description: 'Updates a view.',
    body: viewUpdate,
    needsAlso: 'A view that is or becomes shared also requires `workspace` `update`.',
  },
  remove: {
    summary: 'Delete a view',
    description: 'Deletes a view.',
    needsAlso: "Another user's shared view also requires `workspace` `update`.",
  },
});

/** Who reads a workspace may keep views there. */
export const views = {
  ...records,
  create: { ...records.create, access: { ...records.create.access, verb: 'read' } },
  update: { ...records.update, access: { ...records.update.access, verb: 'read' } },
  remove: { ...records.remove, access: { ...records.remove.access, verb: 'read' } },
} as const;
