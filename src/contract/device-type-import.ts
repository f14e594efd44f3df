// API schemas of the upload of a device type library, and of its result (contract 7).
import Type from 'typebox';
import { id, list, text } from './record-fields.ts';
import { namedObject } from './named.ts';

export const libraryUpload = namedObject('LibraryUpload', {
  organizationId: id,
  files: Type.Unsafe<Readonly<Record<string, string>>>({
    type: 'object',
    additionalProperties: { type: 'string' },
    description:
      'Text files by library path: `meta.json`, `uplink.js`, `downlink.js`, `*.schema.json`, and data models.',
  }),
  pictures: Type.Optional(
    Type.Unsafe<Readonly<Record<string, string>>>({
      type: 'object',
      additionalProperties: { type: 'string' },
      description:
        "Base64 images by library path. The first PNG, JPEG, GIF, or WebP up to 1 MiB becomes the type's picture.",
    }),
  ),
});

const note = Type.Object({ path: text, message: text });
const count = Type.Integer({ minimum: 0 });
export const importSummarySchema = namedObject('LibraryImport', {
  types: count,
  created: count,
  updated: count,
  unchanged: count,
  /** Why types are refused. */
  problems: list(note),
  /** What is missing or odd about types that are taken. */
  warnings: list(note),
});
