// Endpoints of tags (contract 6).
import Type from 'typebox';
import { workspaceListParameters } from '../list-parameters.ts';
import { pageSchema } from '../page-envelope.ts';
import { tagDraft, tagSchema, tagUpdate } from '../tag.ts';
import { recordEndpoints } from './record-endpoints.ts';

export const tags = recordEndpoints({
  path: '/v3/tags',
  tag: 'Tags',
  scope: 'asset',
  record: tagSchema,
  list: {
    summary: 'List tags',
    description: 'Returns a page of the tags in the requested workspaces.',
    query: Type.Object(workspaceListParameters()),
    response: pageSchema(tagSchema),
  },
  create: { summary: 'Create a tag', description: 'Creates a tag in a workspace.', body: tagDraft },
  read: { summary: 'Get a tag', description: 'Returns a tag.' },
  update: {
    summary: 'Update a tag',
    description: 'Updates the name, description, or color of a tag.',
    body: tagUpdate,
  },
  remove: {
    summary: 'Delete a tag',
    description: 'Deletes a tag and removes it from every device.',
  },
});
