// Schemas and endpoints of device types (contract 7).
import Type, { type Static } from 'typebox';
import { deviceTypeKinds, payloadEncodings } from '../model/device-type.ts';
import type { Json } from '../model/json.ts';
import {
  auditFields,
  commonSortFields,
  flowHealth,
  id,
  list,
  listParameter,
  listParameters,
  name,
  named,
  namedObject,
  object,
  oneOf,
  optional,
  orNull,
  pageSchema,
  text,
  updateFields,
  writtenDataKey,
} from './schema-parts.ts';
import { endpoint, recordEndpoints } from './endpoint.ts';
import { payloadBytesMax } from '../model/payload.ts';

const calculatedKeysMax = 50;
const encoding = oneOf(payloadEncodings);
const script = Type.Object({ code: Type.String(), version: Type.Integer() });
const scriptDraft = Type.Object({
  code: optional(Type.String()),
  version: Type.Optional(
    Type.Unknown({ description: 'Version of the script. Set by the server; ignored in requests.' }),
  ),
});
const picture = Type.String({ maxLength: 1_000_000 });

const metaSchema = namedObject('DeviceTypeMeta', {
  manufacturer: orNull(text),
  url: orNull(text),
  author: orNull(text),
  properties: orNull(object),
  firmwareVersion: orNull(text),
  encoding: orNull(encoding),
  connectivity: orNull(text),
  availableSensors: orNull(list(text)),
  outputTopics: orNull(list(text)),
});

const metaDraft = namedObject('DeviceTypeMetaDraft', {
  manufacturer: optional(text),
  url: optional(text),
  author: optional(text),
  properties: optional(object),
  firmwareVersion: optional(text),
  encoding: optional(encoding),
  connectivity: optional(text),
  availableSensors: optional(list(text)),
  outputTopics: optional(list(text)),
});

const calculatedKeySchema = namedObject('CalculatedKey', {
  key: Type.String({ description: 'Data key that the expression is stored as.' }),
  topic: Type.String({ description: 'Topic whose samples get the key.' }),
  expression: Type.String({ description: 'Formula over data keys, computed for each sample.' }),
  title: orNull(text),
  unit: orNull(text),
  description: orNull(text),
});

const calculatedKeyDraft = namedObject('CalculatedKeyDraft', {
  key: writtenDataKey('Data key that the expression is stored as.'),
  topic: optional(
    Type.String({
      minLength: 1,
      maxLength: 500,
      description: 'Topic whose samples get the key. Defaults to `default`.',
    }),
  ),
  expression: Type.String({
    minLength: 1,
    maxLength: 20_000,
    description:
      'Formula over data keys, computed for each sample when it is received. Windows are at most PT24H.',
  }),
  title: optional(text),
  unit: optional(text),
  description: optional(text),
});

export function calculatedKeysDraft(description: string) {
  return optional(Type.Array(calculatedKeyDraft, { maxItems: calculatedKeysMax, description }));
}

const summaryFields = {
  id,
  name,
  description: orNull(text),
  type: oneOf(deviceTypeKinds),
  organizationId: orNull(id),
  ...auditFields,
  meta: metaSchema,
  libraryPath: orNull(text),
  pictureUrl: orNull(text),
};

export const deviceTypeSchema = namedObject('DeviceType', {
  ...summaryFields,
  schemas: Type.Unsafe<Readonly<Record<string, string>>>({
    type: 'object',
    additionalProperties: { type: 'string' },
  }),
  typedSchemas: Type.Null(),
  sampleData: Type.Unsafe<Json>({}),
  uplinkScript: orNull(script),
  downlinkScript: orNull(script),
  calculatedKeys: list(calculatedKeySchema),
});

/** An item of the list without `details`. */
const deviceTypeItemSchema = named(
  'DeviceTypeItem',
  Type.Union([
    deviceTypeSchema,
    namedObject('DeviceTypeSummary', { ...summaryFields, health: flowHealth }),
  ]),
);

const draftFields = {
  description: optional(text),
  meta: optional(metaDraft),
  schemas: Type.Optional(
    Type.Unsafe<Readonly<Record<string, unknown>> | null>({ type: ['object', 'null'] }),
  ),
  sampleData: Type.Optional(Type.Unsafe<Json>({})),
  uplinkScript: optional(scriptDraft),
  downlinkScript: optional(scriptDraft),
  calculatedKeys: calculatedKeysDraft(
    'Keys that are computed into the data of new samples. They may use each other without cycles.',
  ),
  pictureUrl: optional(picture),
};

export const deviceTypeDraft = namedObject('DeviceTypeDraft', {
  name,
  organizationId: id,
  type: Type.Optional(text),
  ...draftFields,
});
export type DeviceTypeDraft = Static<typeof deviceTypeDraft>;
const deviceTypeUpdate = namedObject('DeviceTypeUpdate', {
  ...updateFields,
  name: Type.Optional(name),
  ...draftFields,
});
export type DeviceTypeUpdate = Static<typeof deviceTypeUpdate>;

const deviceTypeListQuery = Type.Object({
  ...listParameters([...commonSortFields, 'type']),
  organizationId: Type.Optional(Type.String()),
  types: listParameter,
  details: Type.Optional(
    Type.Union([Type.Boolean(), Type.Literal('health')], {
      description: '`true` includes schemas and scripts. `health` adds `health` to each item.',
    }),
  ),
});

export const deviceTypes = recordEndpoints({
  path: '/v3/device-types',
  tag: 'Device types',
  scope: 'deviceType',
  record: deviceTypeSchema,
  list: {
    summary: 'List device types',
    description: "Returns a page of the organization's own and library device types.",
    query: deviceTypeListQuery,
    response: pageSchema(deviceTypeItemSchema),
  },
  create: {
    summary: 'Create a device type',
    description: 'Creates a device type with its decoder, encoder, and schemas.',
    body: deviceTypeDraft,
  },
  read: {
    summary: 'Get a device type',
    description: 'Returns a device type with its scripts and schemas.',
  },
  update: {
    summary: 'Update a device type',
    description: 'Updates a device type; its devices use the new scripts from the next uplink.',
    body: deviceTypeUpdate,
  },
  remove: {
    summary: 'Delete a device type',
    description: 'Deletes a device type; fails with 409 while a data flow uses it.',
  },
});

// Schemas and endpoints of the device type library (contract 7).

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

// Endpoints of script runs (interface 4.8).

// A source and an event of 1 MiB each, escaped in JSON at worst sixfold, still fit.
const bodyBytesMax = 12 * 1024 * 1024;

export const scriptPayload = Type.Object(
  {
    hex: Type.Optional(
      Type.String({
        pattern: '^(?:[0-9a-fA-F]{2})*$',
        maxLength: 2 * payloadBytesMax,
        description: 'Bytes of the payload as hexadecimal digits. Send `hex` or `text`.',
      }),
    ),
    text: Type.Optional(
      Type.String({ maxLength: payloadBytesMax, description: 'The payload as text.' }),
    ),
    encoding: Type.Optional(
      Type.Union([oneOf(payloadEncodings), Type.Null()], {
        description: 'Declared encoding. Defaults to reading the payload by its content.',
      }),
    ),
    contentType: optional(Type.String({ description: 'Content type that the device would name.' })),
    port: optional(Type.Integer({ minimum: 0, maximum: 255, description: 'Port of the payload.' })),
  },
  { description: 'Payload that is read as one of a device and becomes `event.data`.' },
);

export const scripts = {
  run: endpoint({
    method: 'POST',
    path: '/v3/run-script',
    summary: 'Run a script once',
    description:
      'Runs a script on the given event and returns what it emits; script errors are returned as `ERROR` entries with status 200.',
    tag: 'Scripts',
    access: { scope: 'deviceType', verb: 'read', resource: 'handler' },
    body: Type.Object({
      script: Type.String({ description: 'JavaScript source with a function consume(event).' }),
      event: Type.Optional(
        Type.Unsafe<Json>({
          description: 'Argument of `consume`, usually `{data, timestamp}`.',
        }),
      ),
      payload: Type.Optional(scriptPayload),
    }),
    response: Type.Array(Type.Object({ type: Type.String(), event: Type.Unsafe<Json>({}) })),
    bodyBytesMax,
  }),
} as const;
