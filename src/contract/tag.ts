// The wire form of tags (contract 6).
import Type from 'typebox';
import { id, name, optional, orNull, text, time, updateFields } from './record-fields.ts';

export const tagSchema = Type.Object({
  id,
  name,
  description: orNull(text),
  workspaceId: id,
  color: orNull(text),
  taggedDevices: Type.Integer({ description: 'How many devices carry the tag' }),
  created: time,
  updated: orNull(time),
});

const draftFields = { description: optional(text), color: optional(text) };

export const tagDraft = Type.Object({ workspaceId: id, name, ...draftFields });
export const tagUpdate = Type.Object({ ...updateFields, name: Type.Optional(name), ...draftFields });
