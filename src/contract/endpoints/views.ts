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
    summary: 'Own views, and those shared with workspaces',
    query: viewListQuery,
    response: pageSchema(viewSchema),
  },
  create: {
    summary: 'Save a view',
    body: viewDraft,
    needsAlso: 'A shared view needs `workspace` `update`.',
  },
  read: { summary: 'One view; 404 for one that another owner has not shared' },
  update: {
    summary: 'Change a view',
    body: viewUpdate,
    needsAlso: 'A view that is or becomes shared needs `workspace` `update`.',
  },
  remove: {
    summary: 'Delete a view',
    needsAlso: 'A shared view of another owner needs `workspace` `update`.',
  },
});

/** Who reads a workspace may keep views there. */
export const views = {
  ...records,
  create: { ...records.create, access: { ...records.create.access, verb: 'read' } },
  update: { ...records.update, access: { ...records.update.access, verb: 'read' } },
  remove: { ...records.remove, access: { ...records.remove.access, verb: 'read' } },
} as const;
