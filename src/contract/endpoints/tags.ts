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
    summary: 'Tags of workspaces',
    query: Type.Object(workspaceListParameters()),
    response: pageSchema(tagSchema),
  },
  create: { summary: 'Make a tag', body: tagDraft },
  read: { summary: 'One tag' },
  update: { summary: 'Change a tag', body: tagUpdate },
  remove: { summary: 'Delete a tag; its devices lose it' },
});
