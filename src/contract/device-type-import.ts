// Schemas and endpoints of the device type library (contract 7).
import Type from 'typebox';
import { endpoint } from './endpoint.ts';
import { namedObject } from './named.ts';
import { id, list, text } from './record-fields.ts';

const libraryUpload = namedObject('LibraryUpload', {
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
const importSummarySchema = namedObject('LibraryImport', {
  types: count,
  created: count,
  updated: count,
  unchanged: count,
  /** Why types are refused. */
  problems: list(note),
  /** What is missing or odd about types that are taken. */
  warnings: list(note),
});

const libraryBytesMax = 128 * 1024 * 1024;

export const deviceTypeLibrary = {
  import: endpoint({
    method: 'POST',
    path: '/v3/device-types/import',
    summary: 'Import device types',
    description:
      'Creates or updates the device types of a library; invalid types are reported and do not stop the others.',
    tag: 'Device types',
    access: { scope: 'deviceType', verb: 'create', resource: 'body' },
    body: libraryUpload,
    bodyBytesMax: libraryBytesMax,
    response: importSummarySchema,
  }),
} as const;
