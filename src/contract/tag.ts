// API schemas of tags (contract 6).
import Type from 'typebox';
import { auditFields, id, name, optional, orNull, text, updateFields } from './record-fields.ts';
import { namedObject } from './named.ts';

export const tagSchema = namedObject('Tag', {
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
export const tagUpdate = namedObject('TagUpdate', {
  ...updateFields,
  name: Type.Optional(name),
  ...draftFields,
});
