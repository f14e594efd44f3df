// Schemas and endpoints of tags and of custom fields (contract 5, 6).
import Type, { type Static } from 'typebox';
import {
  auditFields,
  commonSortFields,
  id,
  list,
  listParameter,
  name,
  namedObject,
  object,
  oneOf,
  optional,
  orNull,
  pageSchema,
  text,
  time,
  updateFields,
  workspaceListParameters,
} from './schema-parts.ts';
import { recordEndpoints } from './endpoint.ts';
import { customFieldTypes } from '../model/device.ts';
import type { Json } from '../model/json.ts';

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

// Schemas and endpoints of custom fields (contract 5).

const type = oneOf(customFieldTypes);
const options = list(Type.String({ minLength: 1, maxLength: 1_000 }));

const customFieldSchema = namedObject('CustomField', {
  id,
  workspaceId: id,
  name,
  type,
  description: orNull(text),
  required: Type.Boolean(),
  selectOptions: orNull(options),
  ...auditFields,
});

const customFieldDraftFields = {
  description: optional(text),
  required: optional(Type.Boolean()),
  selectOptions: optional(options),
};

export const customFieldDraft = namedObject('CustomFieldDraft', {
  workspaceId: id,
  name,
  type,
  ...customFieldDraftFields,
});
export type CustomFieldDraft = Static<typeof customFieldDraft>;
const customFieldUpdate = namedObject('CustomFieldUpdate', {
  ...updateFields,
  name: Type.Optional(name),
  type: optional(text),
  ...customFieldDraftFields,
});
export type CustomFieldUpdate = Static<typeof customFieldUpdate>;
const customFieldListQuery = Type.Object({
  ...workspaceListParameters([...commonSortFields, 'type', 'required']),
  type: listParameter,
});
const customFieldDeleteQuery = Type.Object({
  force: Type.Optional(Type.Boolean({ description: "Whether to delete the devices' values too." })),
});

/** A value of a device: the field, and the value under the name of its type. */
export const customFieldValueSchema = namedObject('CustomFieldValue', {
  meta: Type.Object({ id, workspaceId: id, name, type, created: time, updated: orNull(time) }),
  fieldMetaId: id,
  fieldMetaName: name,
  created: time,
  updated: orNull(time),
  STRING: Type.Optional(Type.String()),
  NUMBER: Type.Optional(Type.Number()),
  DATE: Type.Optional(time),
  JSON: Type.Optional(Type.Unsafe<Json>({})),
  GPS_COORDINATES: Type.Optional(object),
});

export const customFields = recordEndpoints({
  path: '/v3/custom-fields/meta',
  tag: 'Custom fields',
  scope: 'asset',
  record: customFieldSchema,
  list: {
    summary: 'List custom fields',
    description: 'Returns a page of the custom field definitions in the requested workspaces.',
    query: customFieldListQuery,
    response: pageSchema(customFieldSchema),
  },
  create: {
    summary: 'Create a custom field',
    description: 'Defines a custom field for the devices of a workspace.',
    body: customFieldDraft,
  },
  read: { summary: 'Get a custom field', description: 'Returns a custom field definition.' },
  update: {
    summary: 'Update a custom field',
    description: 'Updates a custom field definition; its type cannot be changed.',
    body: customFieldUpdate,
  },
  remove: {
    summary: 'Delete a custom field',
    description:
      'Deletes a custom field definition; fails with 409 while a device has a value for it, unless `force` is true.',
    query: customFieldDeleteQuery,
  },
});
