// Schemas and endpoints of tags (contract 6).
import Type, { type Static } from 'typebox';
import { pageSchema, workspaceListParameters } from './list-parameters.ts';
import { namedObject } from './named.ts';
import { auditFields, id, name, optional, orNull, text, updateFields } from './record-fields.ts';
import { recordEndpoints } from './endpoint.ts';

const tagSchema = namedObject('Tag', {
  id,
  name,
  description: orNull(text),
  workspaceId: id,
  color: orNull(text),
  taggedDevices: Type.Integer({ description: 'Number of devices with the tag.' }),
  ...auditFields,
});

const draftFields = { description: optional(text), color: optional(text) };

export const tagDraft = namedObject('TagDraft', { workspaceId: id, name, ...draftFields });
export type TagDraft = Static<typeof tagDraft>;
const tagUpdate = namedObject('TagUpdate', {
  ...updateFields,
  name: Type.Optional(name),
  ...draftFields,
});
export type TagUpdate = Static<typeof tagUpdate>;

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
