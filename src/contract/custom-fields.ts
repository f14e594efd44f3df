// Schemas and endpoints of custom fields (contract 5).
import Type, { type Static } from 'typebox';
import { customFieldTypes } from '../model/device-fields.ts';
import type { Json } from '../model/json.ts';
import {
  commonSortFields,
  listParameter,
  pageSchema,
  workspaceListParameters,
} from './list-parameters.ts';
import { namedObject } from './named.ts';
import {
  auditFields,
  id,
  list,
  name,
  object,
  oneOf,
  optional,
  orNull,
  text,
  time,
  updateFields,
} from './record-fields.ts';
import { recordEndpoints } from './endpoint.ts';

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

const draftFields = {
  description: optional(text),
  required: optional(Type.Boolean()),
  selectOptions: optional(options),
};

export const customFieldDraft = namedObject('CustomFieldDraft', {
  workspaceId: id,
  name,
  type,
  ...draftFields,
});
export type CustomFieldDraft = Static<typeof customFieldDraft>;
const customFieldUpdate = namedObject('CustomFieldUpdate', {
  ...updateFields,
  name: Type.Optional(name),
  type: optional(text),
  ...draftFields,
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
