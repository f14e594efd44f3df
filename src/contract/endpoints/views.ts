// Endpoints of saved views (contract 37).
import { pageSchema } from '../page-envelope.ts';
import { viewDraft, viewListQuery, viewSchema, viewUpdate } from '../view.ts';
import { recordEndpoints } from './record-endpoints.ts';

const records = recordEndpoints({
  path: '/v3/views',
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
