// API schemas of blobs (contract 31).
import Type from 'typebox';
import { commonSortFields, workspaceListParameters } from './list-parameters.ts';
import { id, orNull, text, time } from './record-fields.ts';
import { namedObject } from './named.ts';

export const blobSchema = namedObject('Blob', {
  id,
  name: text,
  contentType: text,
  size: Type.Integer({ description: 'Size in bytes.' }),
  organizationId: id,
  workspaceId: orNull(id),
  sha256: Type.String({ description: 'SHA-256 of the content, hexadecimal.' }),
  created: time,
});

export const blobListQuery = Type.Object(
  workspaceListParameters([...commonSortFields, 'size', 'contentType']),
);

export const blobPlaceQuery = Type.Object({
  organizationId: Type.Optional(Type.String()),
  workspaceId: Type.Optional(Type.String()),
  name: Type.Optional(Type.String({ minLength: 1, maxLength: 255, description: 'File name.' })),
});
