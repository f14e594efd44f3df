// Schemas and endpoints of devices, of their list, configurations and credentials (interface 4.2, contract 4, 11, 12, 27).
import Type, { type Static, type TOptional, type TSchema, type TUnsafe } from 'typebox';
import { connectorAuthTypes, decodingTypes } from '../model/connector.ts';
import {
  type Device,
  type DeviceFieldName,
  deviceFieldRows,
  deviceFieldsWith,
  type DeviceFieldType,
  type DeviceFieldWith,
  filterTypes,
  onlineStates,
  type WireName,
} from '../model/device.ts';
import { endpoint } from './endpoint.ts';
import {
  auditFields,
  commonSortFields,
  filterExpression,
  id,
  idParams,
  list,
  listParameter,
  listParameters,
  name,
  namedObject,
  object,
  oneOf,
  optional,
  orNull,
  pageSchema,
  reference,
  shownPredicate,
  text,
  time,
  unpagedSchema,
  updateFields,
  workspaceListParameters,
} from './schema-parts.ts';
import { nestedIntegrationSchema } from './device-connectors.ts';
import { customFieldValueSchema } from './tags.ts';
import { credentialAlgorithms } from '../model/credential.ts';

const levels = oneOf(['INFO', 'WARN', 'ERROR']);

const processingLogSchema = namedObject('ProcessingLogEntry', {
  id,
  timestamp: time,
  level: levels,
  source: oneOf(['UPLINK', 'SCRIPT', 'OUTPUT', 'RULE', 'DOWNLINK']),
  message: Type.String(),
  correlationId: Type.String(),
  details: orNull(object),
});

const processingLogQuery = Type.Object({
  ...listParameters(['timestamp', 'sequence', 'level', 'source']),
  from: Type.Optional(Type.String({ description: 'ISO-8601 date-time, inclusive.' })),
  to: Type.Optional(Type.String({ description: 'ISO-8601 date-time, exclusive.' })),
  level: Type.Optional(levels),
});

type RequiredField = DeviceFieldWith<'required'>;
type AnswerSchemas = { [Name in DeviceFieldName as WireName<Name>]: TUnsafe<Device[Name]> };
type OptionalSchemas = {
  [Name in Exclude<DeviceFieldName, RequiredField> as WireName<Name>]: TOptional<
    TUnsafe<Device[Name] | null>
  >;
};
type DraftSchemas = OptionalSchemas & {
  [Name in RequiredField as WireName<Name>]: TUnsafe<Device[Name]>;
};
type UpdateSchemas = OptionalSchemas & {
  [Name in RequiredField as WireName<Name>]: TOptional<TUnsafe<Device[Name]>>;
};

type Described = Readonly<Partial<Record<'description', string>>>;

function schemaOf(type: DeviceFieldType, described: Described): TSchema {
  switch (type.kind) {
    case 'name':
      return name;
    case 'text':
      return textSchema(type, described);
    case 'integer':
      return Type.Integer({ minimum: type.min, maximum: type.max, ...described });
    case 'flag':
      return Type.Boolean(described);
    case 'choice':
      return oneOf(type.values);
    case 'object':
      return object;
  }
}

function textSchema(
  { lengthMin, lengthMax }: Extract<DeviceFieldType, { readonly kind: 'text' }>,
  described: Described,
): TSchema {
  const minimum = lengthMin === undefined ? {} : { minLength: lengthMin };
  return Type.String({ ...minimum, maxLength: lengthMax, ...described });
}

const rows = deviceFieldRows.map((row) => {
  const { description } = row;
  const schema = schemaOf(row.type, description === undefined ? {} : { description });
  return { ...row, schema };
});

function schemasOf<Schemas>(schemaOfRow: (row: (typeof rows)[number]) => TSchema): Schemas {
  return Object.fromEntries(rows.map((row) => [row.wireName, schemaOfRow(row)])) as Schemas;
}

/** The fields of a device in answers: all of them, null where that is the initial value. */
const deviceAnswerFields = schemasOf<AnswerSchemas>(({ initial, schema }) =>
  initial === null ? orNull(schema) : schema,
);

/** The fields of a request to create a device. */
const deviceDraftFields = schemasOf<DraftSchemas>(({ required, schema }) =>
  required ? schema : optional(schema),
);

/** The fields of an update: none is required. */
const deviceUpdateFields = schemasOf<UpdateSchemas>(({ required, schema }) =>
  required ? Type.Optional(schema) : optional(schema),
);

const number = orNull(Type.Number());

const uplinkMetricsSchema = namedObject('UplinkMetrics', {
  id,
  uplinkId: id,
  deviceId: id,
  svcDeviceId: id,
  akenzaDeviceId: id,
  uplinkSize: Type.Integer(),
  timestamp: time,
  latitude: number,
  longitude: number,
  locationRadius: number,
  port: number,
  frameCountUp: number,
  frameCountDown: number,
  rssi: number,
  snr: number,
  sf: number,
  txPower: number,
  numberOfGateways: number,
  esp: number,
  sqi: number,
  sqiTimestamp: orNull(time),
  signalQuality: orNull(oneOf(['BAD', 'MEDIUM', 'GOOD'])),
  batteryLevel: number,
  batteryTimestamp: orNull(time),
  batteryLevelStatus: orNull(oneOf(['GOOD', 'MEDIUM', 'LOW'])),
  knownAt: Type.Optional(
    Type.Record(Type.String(), Type.String({ format: 'date-time' }), {
      description: 'Report times of metrics that are older than the last uplink.',
    }),
  ),
});

const nestedFlowSchema = namedObject('DeviceDataFlow', {
  id,
  name,
  deviceType: orNull(Type.Object({ id, name, pictureUrl: orNull(text) })),
  deviceConnector: Type.Object({
    id,
    name,
    authType: oneOf(connectorAuthTypes),
    decodingType: oneOf(decodingTypes),
  }),
  workspaceId: id,
  organizationId: id,
});

const fraction = Type.Number({ minimum: 0, maximum: 1 });
/** Fractions of the width and height of a plan. */
export const planPositionSchema = namedObject('PlanPosition', { x: fraction, y: fraction });

export const deviceSchema = namedObject('Device', {
  id,
  ...deviceAnswerFields,
  type: oneOf(['DEVICE']),
  workspaceId: id,
  organizationId: id,
  online: orNull(Type.Boolean()),
  onlineState: oneOf(onlineStates),
  registered: orNull(Type.Boolean()),
  active: Type.Optional(
    Type.Boolean({
      description: 'Whether the device is active at the network server. LoRaWAN only.',
    }),
  ),
  dataFlowId: id,
  dataFlow: nestedFlowSchema,
  integration: orNull(nestedIntegrationSchema),
  integrationId: orNull(id),
  customFields: list(customFieldValueSchema),
  tags: list(namedObject('DeviceTag', { id, name, description: orNull(text) })),
  placeId: orNull(id),
  place: orNull(
    namedObject('DevicePlace', {
      id,
      name,
      path: Type.Array(Type.String(), {
        description: 'Names from the top of the tree to the place.',
      }),
    }),
  ),
  planPosition: orNull(planPositionSchema),
  uplinkMetrics: orNull(uplinkMetricsSchema),
  loraProperties: orNull(object),
  ...auditFields,
});

const otherDraftFields = {
  tags: optional(list(reference)),
  customFields: optional(list(object)),
  integrationId: optional(id),
  placeId: optional(id),
  loraProperties: optional(object),
  loRaProperties: optional(object),
};

export const deviceDraft = namedObject('DeviceDraft', {
  ...deviceDraftFields,
  workspaceId: id,
  dataFlowId: id,
  ...otherDraftFields,
});
export type DeviceDraft = Static<typeof deviceDraft>;
export const deviceUpdate = namedObject('DeviceUpdate', {
  ...updateFields,
  ...deviceUpdateFields,
  dataFlowId: Type.Optional(id),
  ...otherDraftFields,
});
export type DeviceUpdate = Static<typeof deviceUpdate>;

const deviceByDeviceIdQuery = Type.Object({
  deviceId: Type.String({ description: 'Device ID.' }),
});

const assetSortFields = [
  ...new Set<string>([
    ...commonSortFields,
    ...deviceFieldsWith('sortable').map((field) => field.wireName),
    'workspaceId',
    'dataFlowId',
    'uplinkMetrics.timestamp',
  ]),
];

export const assetListQuery = Type.Object({
  ...workspaceListParameters(assetSortFields),
  type: Type.Optional(Type.String()),
  assetIds: listParameter,
  dataFlowId: Type.Optional(Type.String()),
  connectivity: Type.Optional(Type.String()),
  state: Type.Optional(oneOf(onlineStates)),
  online: Type.Optional(Type.Boolean()),
  integrationId: Type.Optional(Type.String()),
  provider: Type.Optional(
    Type.String({ description: 'Integration provider, such as `swisscom_lora`.' }),
  ),
  packageName: Type.Optional(Type.String({ description: '`packageName` in the properties.' })),
  'tags.ids': listParameter,
  'places.ids': listParameter,
  'customFields.ids': listParameter,
});

const assetListPageQuery = Type.Object(listParameters(assetSortFields));
const assetListBody = namedObject('AssetListBody', {
  organizationId: optional(id),
  workspaceIds: optional(list(id)),
  search: optional(text),
  expression: Type.Optional(filterExpression('Filter expression.')),
});

const filterOptionsQuery = Type.Object({
  organizationId: Type.Optional(Type.String()),
  workspaceId: listParameter,
  workspaceIds: listParameter,
});
const filterOptionsBody = namedObject('FilterOptionsBody', {
  organizationId: optional(id),
  workspaceIds: optional(list(id)),
});

const count = Type.Integer();
const filterOptionsSchema = namedObject('FilterOptions', {
  filterOptions: list(
    Type.Object({
      field: text,
      label: text,
      filterTypes: list(oneOf(filterTypes)),
      customFieldName: Type.Optional(text),
      values: Type.Optional(list(Type.Object({ value: text, label: text }))),
    }),
  ),
  definitions: Type.Object({
    predicates: Type.Unsafe<Readonly<Record<string, readonly string[]>>>({
      type: 'object',
      additionalProperties: { type: 'array', items: shownPredicate },
      description: 'Predicates by filter type. A field supports the predicates of all its types.',
    }),
    values: Type.Unsafe<
      Readonly<
        Record<string, { readonly min: number; readonly max: number; readonly meaning: string }>
      >
    >({
      type: 'object',
      description: 'Number of values and meaning of each predicate.',
    }),
    operators: list(text),
    maxDepth: count,
    maxFilters: count,
    maxValues: count,
  }),
});

const tag = 'Devices';

export const devices = {
  create: endpoint({
    method: 'POST',
    path: '/v3/devices',
    summary: 'Create a device',
    description: 'Registers a device in a workspace and assigns it to a data flow.',
    tag,
    access: { scope: 'asset', verb: 'create', resource: 'body' },
    body: deviceDraft,
    status: 201,
    response: deviceSchema,
  }),
  readByDeviceId: endpoint({
    method: 'GET',
    path: '/v3/devices/by-device-id',
    summary: 'Get a device by its device ID',
    description:
      'Returns the device with the given `deviceId`, the identifier that the device itself uses.',
    tag,
    access: { scope: 'asset', verb: 'read', resource: 'handler' },
    query: deviceByDeviceIdQuery,
    response: deviceSchema,
  }),
  read: endpoint({
    method: 'GET',
    path: '/v3/devices/:id',
    summary: 'Get a device',
    description: 'Returns a device with its state, tags, and custom fields.',
    tag,
    access: { scope: 'asset', verb: 'read', resource: 'path' },
    params: idParams,
    response: deviceSchema,
  }),
  update: endpoint({
    method: 'PUT',
    path: '/v3/devices/:id',
    summary: 'Update a device',
    description: 'Updates the fields that the body contains.',
    tag,
    access: { scope: 'asset', verb: 'update', resource: 'path' },
    params: idParams,
    body: deviceUpdate,
    response: deviceSchema,
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/v3/devices/:id',
    summary: 'Delete a device',
    description:
      'Deletes a device and all of its samples. A LoRaWAN device is also removed from its network server and deleted whatever the server answers.',
    tag,
    access: { scope: 'asset', verb: 'delete', resource: 'path' },
    params: idParams,
    answerHeaders: {
      'X-Deregistered':
        'Whether the network server removed the device. Absent for devices that it does not know.',
      'X-Deregistration-Reason': 'Reason if it did not.',
    },
  }),
  processingLog: endpoint({
    method: 'GET',
    path: '/v3/devices/:id/processing-logs',
    summary: 'List processing log entries',
    description:
      'Returns what decoders, outputs, rules, and downlinks logged for a device, newest first.',
    tag,
    access: { scope: 'asset', verb: 'read', resource: 'path' },
    params: idParams,
    query: processingLogQuery,
    response: pageSchema(processingLogSchema),
  }),
} as const;

// Endpoints of the device list (interface 4.2).

const assetsTag = 'Assets';
const access = { scope: 'asset', verb: 'read', resource: 'handler' } as const;

export const assets = {
  list: endpoint({
    method: 'GET',
    path: '/v3/assets',
    summary: 'List assets',
    description:
      'Returns a page of the devices in the requested workspaces or in the organization.',
    tag: assetsTag,
    access,
    query: assetListQuery,
    response: pageSchema(deviceSchema),
  }),
  search: endpoint({
    method: 'POST',
    path: '/v3/assets/list',
    summary: 'Search assets',
    description: 'Returns a page of the devices that match a search text and a filter expression.',
    tag: assetsTag,
    access,
    query: assetListPageQuery,
    body: assetListBody,
    response: pageSchema(deviceSchema),
  }),
  filterOptions: endpoint({
    method: 'GET',
    path: '/v3/assets/filter-options-v2',
    summary: 'Get asset filter options',
    description:
      'Returns the filterable fields, their filter types and values, and the predicates that each supports.',
    tag: assetsTag,
    access,
    query: filterOptionsQuery,
    response: filterOptionsSchema,
  }),
  searchFilterOptions: endpoint({
    method: 'POST',
    path: '/v3/assets/filter-options-v2',
    summary: 'Get asset filter options',
    description:
      'Returns the filterable fields, their filter types and values, and the predicates that each supports.',
    tag: assetsTag,
    access,
    body: filterOptionsBody,
    response: filterOptionsSchema,
  }),
} as const;

// Schemas and endpoints of device configurations (contract 12).

const deviceConfigurationSchema = namedObject('DeviceConfiguration', {
  deviceId: id,
  version: Type.Integer({ description: 'Version of the configuration, starting at 1.' }),
  workspaceId: id,
  configuration: object,
  created: time,
});
const deviceConfigurationDraft = namedObject('DeviceConfigurationDraft', {
  workspaceId: optional(id),
  configuration: object,
});
const deviceConfigurationQuery = Type.Object({
  ...listParameters(['id', 'name', 'version', 'created']),
  workspaceId: Type.Optional(Type.String()),
});
const configurationParams = Type.Object({ id, version: Type.Integer({ minimum: 1 }) });
const pushedSchema = namedObject('PushedConfiguration', { message: Type.String() });

const configurationTag = 'Device configurations';
const read = { scope: 'asset', verb: 'read', resource: 'path' } as const;
const update = { ...read, verb: 'update' } as const;
const configurationPath = '/v3/devices/:id/configuration';

export const deviceConfigurations = {
  list: endpoint({
    method: 'GET',
    path: configurationPath,
    summary: 'List device configurations',
    description: 'Returns the configuration versions of a device, newest first.',
    tag: configurationTag,
    access: read,
    params: idParams,
    query: deviceConfigurationQuery,
    response: pageSchema(deviceConfigurationSchema),
  }),
  create: endpoint({
    method: 'POST',
    path: configurationPath,
    summary: 'Create a device configuration',
    description: 'Stores a new configuration version for a device.',
    tag: configurationTag,
    access: update,
    params: idParams,
    body: deviceConfigurationDraft,
    status: 201,
    response: deviceConfigurationSchema,
  }),
  latest: endpoint({
    method: 'GET',
    path: `${configurationPath}/latest`,
    summary: 'Get the latest device configuration',
    description: 'Returns the newest configuration version of a device.',
    tag: configurationTag,
    access: read,
    params: idParams,
    response: deviceConfigurationSchema,
  }),
  read: endpoint({
    method: 'GET',
    path: `${configurationPath}/:version`,
    summary: 'Get a device configuration',
    description: 'Returns one configuration version of a device.',
    tag: configurationTag,
    access: read,
    params: configurationParams,
    response: deviceConfigurationSchema,
  }),
  remove: endpoint({
    method: 'DELETE',
    path: `${configurationPath}/:version`,
    summary: 'Delete a device configuration',
    description: 'Deletes one configuration version of a device.',
    tag: configurationTag,
    access: update,
    params: configurationParams,
  }),
  push: endpoint({
    method: 'POST',
    path: `${configurationPath}/push`,
    summary: 'Push the device configuration',
    description:
      'Sends the latest configuration to the device over its open MQTT connection; fails with 409 when it is not connected.',
    tag: configurationTag,
    access: update,
    params: idParams,
    response: pushedSchema,
  }),
} as const;

// Schemas and endpoints of device credentials (contract 11).

const algorithm = oneOf(credentialAlgorithms);

const deviceCredentialSchema = namedObject('DeviceCredential', {
  id,
  name: orNull(text),
  akenzaDeviceId: id,
  svcDeviceId: id,
  deviceId: Type.String({ description: 'Device ID.' }),
  algorithm,
  publicKey: text,
  fingerprint: Type.String({ description: 'SHA-1 fingerprint of the key, hexadecimal.' }),
  expiration: orNull(time),
  created: time,
});

const deviceCredentialDraft = namedObject('DeviceCredentialDraft', {
  algorithm,
  publicKey: Type.String({
    minLength: 1,
    maxLength: 20_000,
    description: 'Public key in PEM format.',
  }),
  name: optional(name),
  expiration: optional(text),
  akenzaDeviceId: optional(id),
  svcDeviceId: optional(id),
});
export type DeviceCredentialDraft = Static<typeof deviceCredentialDraft>;

const credentialParams = Type.Object({ id, credentialId: id });

const credentialTag = 'Device credentials';
const credentialsPath = '/v3/device-authorization/devices/:id/credentials';

export const deviceCredentials = {
  list: endpoint({
    method: 'GET',
    path: credentialsPath,
    summary: 'List device credentials',
    description: 'Returns the public keys with which the device authenticates.',
    tag: credentialTag,
    access: { scope: 'deviceCredential', verb: 'read', resource: 'path' },
    params: idParams,
    response: unpagedSchema(deviceCredentialSchema),
  }),
  create: endpoint({
    method: 'POST',
    path: credentialsPath,
    summary: 'Create a device credential',
    description: 'Adds a public key with which the device can authenticate.',
    tag: credentialTag,
    access: { scope: 'deviceCredential', verb: 'create', resource: 'path' },
    params: idParams,
    body: deviceCredentialDraft,
    status: 201,
    response: deviceCredentialSchema,
  }),
  remove: endpoint({
    method: 'DELETE',
    path: `${credentialsPath}/:credentialId`,
    summary: 'Delete a device credential',
    description: 'Deletes a public key; the device can no longer authenticate with it.',
    tag: credentialTag,
    access: { scope: 'deviceCredential', verb: 'delete', resource: 'path' },
    params: credentialParams,
  }),
} as const;
