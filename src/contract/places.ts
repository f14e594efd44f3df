// Schemas and endpoints of places (contract 39.2).
import Type, { type Static } from 'typebox';
import { placeLimits } from '../model/place.ts';
import { planPositionSchema } from './devices.ts';
import { type BodyStream, endpoint, recordEndpoints } from './endpoint.ts';
import {
  auditFields,
  commonSortFields,
  healthParameter,
  id,
  idParams,
  list,
  name,
  namedObject,
  object,
  optional,
  orNull,
  pageSchema,
  placeHealth,
  text,
  updateFields,
  workspaceListParameters,
} from './schema-parts.ts';

const kind = Type.String({
  minLength: 1,
  maxLength: placeLimits.kindLengthMax,
  description: 'What the place is, such as `SITE` or `ROOM`. Free text.',
});
const externalId = Type.String({
  minLength: 1,
  maxLength: placeLimits.externalIdLengthMax,
  description: 'ID in another system, unique in the workspace.',
});
const position = namedObject('PlacePosition', {
  latitude: Type.Number({ minimum: -90, maximum: 90 }),
  longitude: Type.Number({ minimum: -180, maximum: 180 }),
});
const placeName = Type.String({ minLength: 1, maxLength: 500, pattern: '\\S' });

const placeSchema = namedObject('Place', {
  id,
  workspaceId: id,
  parentId: orNull(id),
  name,
  kind: orNull(kind),
  description: orNull(text),
  externalId: orNull(externalId),
  position: orNull(position),
  plan: orNull(namedObject('Plan', { blobId: id, width: Type.Number(), height: Type.Number() })),
  properties: object,
  path: list(namedObject('PlacePathStep', { id, name })),
  devices: Type.Integer({ description: 'Number of devices directly at the place.' }),
  devicesBelow: Type.Integer({ description: 'Number of devices at the place and below it.' }),
  health: placeHealth,
  ...auditFields,
});

const draftFields = {
  parentId: optional(id),
  kind: optional(kind),
  description: optional(text),
  externalId: optional(externalId),
  position: optional(position),
  plan: optional(
    namedObject('PlanDraft', {
      blobId: Type.String({ description: 'PNG, JPEG, WebP, or SVG file of the workspace.' }),
    }),
  ),
  properties: optional(object),
};

export const placeDraft = namedObject('PlaceDraft', {
  workspaceId: id,
  name: placeName,
  ...draftFields,
});
export type PlaceDraft = Static<typeof placeDraft>;
const placeUpdate = namedObject('PlaceUpdate', {
  ...updateFields,
  name: Type.Optional(placeName),
  ...draftFields,
});
export type PlaceUpdate = Static<typeof placeUpdate>;

const records = recordEndpoints({
  path: '/v3/places',
  isOwn: true,
  tag: 'Places',
  scope: 'asset',
  record: placeSchema,
  list: {
    summary: 'List places',
    description: 'Returns a page of the places in the requested workspaces.',
    query: Type.Object({
      ...workspaceListParameters([...commonSortFields, 'kind', 'externalId']),
      ...healthParameter,
      parentId: Type.Optional(
        Type.String({
          description: 'Only places directly below this one. `null`: those at the top of the tree.',
        }),
      ),
      hasPlan: Type.Optional(
        Type.Boolean({ description: 'Only places with a plan, or only those without one.' }),
      ),
    }),
    response: pageSchema(placeSchema),
  },
  create: {
    summary: 'Create a place',
    description: 'Creates a place at the top of the tree or below another place.',
    body: placeDraft,
  },
  read: {
    summary: 'Get a place',
    description: 'Returns a place with its path and its number of devices.',
  },
  update: {
    summary: 'Update a place',
    description:
      'Updates the fields that the body contains. A new `parentId` moves the place with all places below it.',
    body: placeUpdate,
  },
  remove: {
    summary: 'Delete a place',
    description:
      'Deletes a place. A place that has devices or places below it, or that a rule uses, returns 409 unless `force` is set.',
    query: Type.Object({
      force: Type.Optional(
        Type.Boolean({
          description: 'Also deletes all places below. Their devices are then at no place.',
        }),
      ),
    }),
  },
});

const devicesPerRequest = 1_000;
const deviceIds = optional(Type.Array(id, { maxItems: devicesPerRequest }));

const placeDevicesBody = namedObject('PlaceDevicesBody', {
  add: deviceIds,
  remove: deviceIds,
  positions: optional(
    Type.Array(Type.Object({ deviceId: id, ...planPositionSchema.properties }), {
      maxItems: devicesPerRequest,
    }),
  ),
});
export type PlaceDevicesBody = Static<typeof placeDevicesBody>;

const fileBytesMax = 16 * 1024 * 1024;
const count = Type.Integer();

export const places = {
  ...records,
  export: endpoint({
    method: 'GET',
    path: '/v3/places/export',
    summary: 'Export places',
    description:
      'Downloads the places of a workspace as CSV. An import of the file changes nothing.',
    tag: 'Places',
    access: { scope: 'asset', verb: 'read', resource: 'handler' },
    query: Type.Object({ workspaceId: Type.String({ description: 'ID of the workspace.' }) }),
    answerTypes: { 'text/csv': Type.String() },
  }),
  import: endpoint({
    method: 'POST',
    path: '/v3/places/import',
    summary: 'Import places',
    description:
      'Creates and updates places from a CSV file in one transaction. If a line has a problem, nothing is stored.',
    tag: 'Places',
    access: { scope: 'asset', verb: 'create', resource: 'handler' },
    query: Type.Object({
      workspaceId: Type.String({ description: 'ID of the workspace.' }),
      dryRun: Type.Optional(Type.Boolean({ description: 'Whether nothing is stored.' })),
    }),
    body: Type.Unsafe<BodyStream>({
      type: 'string',
      description: 'text/csv, or multipart with it',
    }),
    streamedBody: true,
    anyBodyType: true,
    bodyBytesMax: fileBytesMax,
    needsAlso: 'A file that changes places or moves devices also requires `asset` `update`.',
    bodyTypes: {
      'text/csv': Type.String(),
      'multipart/form-data': Type.Object({ file: Type.String() }),
    },
    response: namedObject('PlaceImportReport', {
      created: count,
      updated: count,
      unchanged: count,
      problems: list(
        Type.Object({
          line: Type.Integer({ description: 'Line of the file. The header is line 1.' }),
          column: orNull(Type.String({ description: 'Column. Null for the whole line.' })),
          message: Type.String({ description: 'What is wrong.' }),
        }),
      ),
    }),
  }),
  devices: endpoint({
    method: 'POST',
    path: '/v3/places/:id/devices',
    summary: 'Change the devices of a place',
    description:
      'Moves devices to the place, removes them from it, and sets where they are on its plan.',
    tag: 'Places',
    access: { scope: 'asset', verb: 'update', resource: 'path' },
    params: idParams,
    ownBody: true,
    body: placeDevicesBody,
    response: namedObject('PlaceDevices', {
      changed: Type.Integer({ description: 'Number of devices that changed.' }),
      refused: list(Type.Object({ deviceId: id, message: Type.String() })),
    }),
  }),
} as const;
