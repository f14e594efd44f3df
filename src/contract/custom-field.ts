// API schemas of custom fields, and of a device's values in them (contract 4, 5).
import Type from 'typebox';
import { customFieldTypes } from '../model/custom-field.ts';
import type { Json } from '../model/json.ts';
import { commonSortFields, listParameter, workspaceListParameters } from './list-parameters.ts';
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
import { namedObject } from './named.ts';

const type = oneOf(customFieldTypes);
const options = list(Type.String({ minLength: 1, maxLength: 1_000 }));

export const customFieldSchema = namedObject('CustomField', {
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
export const customFieldUpdate = namedObject('CustomFieldUpdate', {
  ...updateFields,
  name: Type.Optional(name),
  type: optional(text),
  ...draftFields,
});
export const customFieldListQuery = Type.Object({
  ...workspaceListParameters([...commonSortFields, 'type', 'required']),
  type: listParameter,
});
export const customFieldDeleteQuery = Type.Object({
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
