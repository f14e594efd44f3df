// Schemas and endpoints of raw uplinks, their trace, the dry run of a decoder, and refused uplinks (contract 35, 39.3).
import Type, { type Static } from 'typebox';
import { payloadEncodings } from '../model/device-type.ts';
import type { Json, JsonObject } from '../model/json.ts';
import { readEncodings } from '../model/payload.ts';
import { endpoint } from './endpoint.ts';
import {
  id,
  idParams,
  list,
  listParameters,
  name,
  namedObject,
  object,
  oneOf,
  optional,
  orNull,
  pageSchema,
  reference,
  time,
} from './schema-parts.ts';
import { traceCodes, traceKinds, traceStates } from '../model/device-trace.ts';
import { searchKinds } from '../model/search.ts';
import { payloadForms, refusalReasons, refusalTransports } from '../model/uplink.ts';
import { deviceSchema } from './devices.ts';

const scriptLengthMax = 1024 * 1024;
const devicesMax = 50;
const uplinksMax = 1_000;

const interval = {
  from: Type.Optional(Type.String({ description: 'ISO-8601 time of receipt, inclusive.' })),
  to: Type.Optional(Type.String({ description: 'ISO-8601 time of receipt, exclusive.' })),
};

const rawUplinkQuery = Type.Object({ ...listParameters(['timestamp']), ...interval });

const rawUplinkFields = {
  id,
  correlationId: id,
  deviceId: id,
  timestamp: time,
  topic: orNull(Type.String()),
  sentTimestamp: orNull(time),
  size: Type.Integer(),
  payload: Type.Unsafe<JsonObject | readonly Json[]>({ type: ['object', 'array'] }),
  encoding: oneOf(readEncodings),
  payloadHex: orNull(Type.String()),
} as const;

const rawUplinkSchema = namedObject('RawUplink', rawUplinkFields);

const code = Type.String({ maxLength: scriptLengthMax });

export const replayRequest = namedObject('ReplayRequest', {
  uplinkScript: optional(
    Type.Union([Type.Object({ code: orNull(code) }), code], {
      description: 'Decoder to run. Defaults to the stored decoder.',
    }),
  ),
  deviceId: Type.Optional(id),
  deviceIds: Type.Optional(
    Type.Array(id, {
      maxItems: devicesMax,
      description: 'Defaults to up to 50 devices of the type.',
    }),
  ),
  encoding: Type.Optional(
    Type.Union([oneOf(payloadEncodings), Type.Null()], {
      description:
        'Reads the bytes of the uplinks again with this encoding. Payloads that were read as JSON or as a form stay as they are.',
    }),
  ),
  from: optional(Type.String()),
  to: optional(Type.String()),
  limit: optional(
    Type.Integer({
      minimum: 1,
      maximum: uplinksMax,
      description: 'Number of newest uplinks. Defaults to 100.',
    }),
  ),
});

const sample = Type.Object({
  topic: Type.String(),
  timestamp: time,
  data: object,
  meta: orNull(object),
});

const replaySchema = namedObject('Replay', {
  dryRun: Type.Literal(true),
  summary: Type.Object({
    devices: Type.Integer(),
    uplinks: Type.Integer(),
    same: Type.Integer(),
    different: Type.Integer(),
    errors: Type.Integer(),
    unknown: Type.Integer(),
    complete: Type.Boolean(),
    durationMs: Type.Number(),
  }),
  uplinks: list(
    Type.Object({
      ...rawUplinkFields,
      verdict: oneOf(['SAME', 'DIFFERENT', 'ERROR', 'UNKNOWN']),
      oldSamples: orNull(list(sample)),
      newSamples: list(sample),
      notes: list(Type.Object({ level: Type.String(), message: Type.String() })),
    }),
  ),
});

// A source of 1 MiB, escaped in JSON at worst sixfold, still fits.
const bodyBytesMax = 8 * 1024 * 1024;

export const rawUplinks = {
  list: endpoint({
    method: 'GET',
    path: '/v3/devices/:id/uplinks',
    summary: 'List raw uplinks',
    description:
      'Returns payloads exactly as the device sent them, newest first, for as long as `RAW_UPLINK_RETENTION` keeps them.',
    tag: 'Devices',
    access: { scope: 'asset', verb: 'read', resource: 'path' },
    params: idParams,
    query: rawUplinkQuery,
    response: pageSchema(rawUplinkSchema),
  }),
  replay: endpoint({
    method: 'POST',
    path: '/v3/device-types/:id/replay',
    ownBody: true,
    summary: 'Replay a decoder',
    description:
      'Runs a decoder on recent raw uplinks and compares the result with the stored samples; stores nothing.',
    tag: 'Device types',
    access: { scope: 'deviceType', verb: 'read', resource: 'path' },
    params: idParams,
    body: replayRequest,
    needsAlso: 'Also requires `asset` `update` on the devices.',
    response: replaySchema,
    bodyBytesMax,
  }),
} as const;

// Schema and endpoint of the trace of an uplink (contract 39.3).

const kind = Type.Unsafe<(typeof searchKinds)[number]>({
  type: 'string',
  enum: searchKinds,
  description: 'Kind of the record, as in search results.',
});
const link = orNull(
  Type.Object({ kind, id }, { description: 'Record to look at. Null without one.' }),
);
const traceCode = oneOf(traceCodes);
const sentence = Type.String({ description: 'What happened, as a sentence.' });

const traceSchema = namedObject('DeviceTrace', {
  device: namedObject('TracedDevice', { id, deviceId: Type.String(), name: Type.String() }),
  at: orNull(time),
  verdict: namedObject('TraceVerdict', {
    code: traceCode,
    text: sentence,
    fix: orNull(namedObject('TraceFix', { text: Type.String(), link })),
  }),
  steps: list(
    namedObject('TraceStep', {
      kind: oneOf(traceKinds),
      state: oneOf(traceStates),
      at: orNull(time),
      code: traceCode,
      text: sentence,
      details: orNull(object),
      link,
    }),
  ),
});

const named = (description: string) => Type.Optional(Type.String({ maxLength: 500, description }));

export const deviceTrace = {
  read: endpoint({
    method: 'GET',
    path: '/v3/devices/:id/trace',
    summary: 'Trace an uplink',
    description:
      'Follows one uplink of a device from its arrival to its deliveries, and says where it broke and what to do. Without a correlation ID and a time, the last one.',
    tag: 'Devices',
    access: { scope: 'asset', verb: 'read', resource: 'path' },
    needsAlso:
      'Steps of rules and alarms require `rule` `read`, those of deliveries `dataFlow` `read`; without it they are `SKIPPED`.',
    params: idParams,
    query: Type.Object({
      correlationId: named('Correlation ID of the uplink.'),
      at: named('ISO-8601 time. The newest uplink at or before it is followed.'),
      topic: named('Topic that the uplink must have led to.'),
      dataKey: named('Data key that its samples must have. Dots lead into nested objects.'),
      ruleId: named('Rule that was expected to fire.'),
      outputConnectorId: named('Output connector that was expected to get it.'),
    }),
    response: traceSchema,
  }),
} as const;

// Schemas and endpoints of refused uplinks (contract 39.3).

/** What refusals can be ordered by. */
const refusalSortFields = ['last', 'first', 'count', 'reason', 'deviceId', 'id'] as const;

const refusalSchema = namedObject('Refusal', {
  id,
  connectorId: id,
  workspaceId: id,
  transport: oneOf(refusalTransports),
  reason: oneOf(refusalReasons),
  status: Type.Integer({
    description: 'HTTP status of the reason, also for other protocols.',
  }),
  deviceId: orNull(
    Type.String({ description: 'Device ID that the sender named. Null without one.' }),
  ),
  message: Type.String({ description: 'Description of the last rejection.' }),
  first: time,
  last: time,
  count: Type.Integer({ minimum: 1 }),
  bytes: Type.Integer({ minimum: 0, description: 'Size of the last payload in bytes.' }),
  payload: orNull(
    Type.String({
      description: 'First 4,096 bytes of the last payload. Null if the secret was wrong.',
    }),
  ),
  payloadForm: orNull(oneOf(payloadForms)),
  registeredDeviceId: orNull(
    Type.String({
      description: 'ID of the device that has the device ID now. Null while there is none.',
    }),
  ),
});

const decodedSample = Type.Object({ topic: Type.String(), timestamp: time, data: object });
const messages = (description: string) =>
  Type.Unsafe<readonly string[]>(Type.Array(Type.String(), { description }));

const proposalSchema = namedObject('RefusalProposal', {
  deviceId: orNull(Type.String()),
  name: Type.String({ description: 'Name for the device.' }),
  unreadable: orNull(
    Type.String({
      description:
        'Why the payload cannot become the first uplink of the device. Null when it can.',
    }),
  ),
  dataFlows: list(
    Type.Object(
      {
        id,
        name,
        deviceTypeId: orNull(Type.String({ description: 'ID of the device type.' })),
        passThrough: Type.Boolean(),
      },
      { description: 'Data flow of the device connector.' },
    ),
  ),
  types: list(
    Type.Object({
      deviceType: Type.Object({ id, name }),
      samples: Type.Unsafe<readonly Static<typeof decodedSample>[]>(
        Type.Array(decodedSample, { description: 'What the decoder made of the payload.' }),
      ),
      errors: messages('Warnings and errors of the decoder.'),
      declaredKeys: messages('Data keys of the samples that the device type declares.'),
      score: Type.Integer({
        minimum: 0,
        maximum: 100,
        description:
          '50 if there is a sample, up to 40 for the share of data keys that the device type declares, and 10 without notes.',
      }),
    }),
  ),
  complete: Type.Boolean({
    description: 'Whether every suitable device type was tried within the time limit.',
  }),
  similar: list(
    Type.Object(
      { id, deviceId: Type.String(), name },
      { description: 'Device whose device ID the sender may have meant.' },
    ),
  ),
});

const registrationSchema = namedObject('RefusalRegistration', {
  name: Type.Optional(name),
  dataFlowId: Type.Optional(
    Type.String({ description: 'Data flow of the device connector. Send it or `deviceTypeId`.' }),
  ),
  deviceTypeId: Type.Optional(
    Type.String({
      description:
        'Device type. Its data flow is created when the device connector has none with this type.',
    }),
  ),
  placeId: optional(Type.String({ description: 'Place of the device.' })),
  tags: optional(list(reference)),
  replay: Type.Optional(
    Type.Boolean({
      description: 'Whether the payload becomes the first uplink of the device. Defaults to true.',
    }),
  ),
});
export type RegistrationDraft = Static<typeof registrationSchema>;

const refusalListQuery = Type.Object(listParameters(refusalSortFields));

const refusalParams = Type.Object({
  id: Type.String({ description: 'ID of the record.' }),
  refusalId: Type.String({ description: 'ID of the rejected uplink.' }),
});

const refusalTag = 'Refusals';
const reading = { scope: 'asset', verb: 'read', resource: 'path' } as const;
const creating = { scope: 'asset', verb: 'create', resource: 'path' } as const;
const deleting = { scope: 'asset', verb: 'delete', resource: 'path' } as const;
const response = pageSchema(refusalSchema);

const proposal = {
  method: 'GET',
  tag: refusalTag,
  access: reading,
  params: refusalParams,
  response: proposalSchema,
} as const;

const registration = {
  method: 'POST',
  tag: refusalTag,
  access: creating,
  params: refusalParams,
  ownBody: true,
  body: registrationSchema,
  status: 201,
  response: deviceSchema,
  needsAlso: 'Also requires `dataFlow` `create` when a data flow is created.',
} as const;

export const refusals = {
  listOfConnector: endpoint({
    method: 'GET',
    path: '/v3/device-connectors/:id/refusals',
    summary: 'List rejected uplinks',
    description:
      'Returns a page of the uplinks that a device connector rejected, with the reason, newest first.',
    tag: refusalTag,
    access: reading,
    params: idParams,
    query: refusalListQuery,
    response,
  }),
  listOfWorkspace: endpoint({
    method: 'GET',
    path: '/v3/workspaces/:id/refusals',
    summary: 'List rejected uplinks of a workspace',
    description:
      'Returns a page of the uplinks that the device connectors of a workspace rejected, newest first.',
    tag: refusalTag,
    access: reading,
    params: idParams,
    query: refusalListQuery,
    response,
  }),
  clearConnector: endpoint({
    method: 'DELETE',
    path: '/v3/device-connectors/:id/refusals',
    summary: 'Clear rejected uplinks',
    description: 'Deletes the list of rejected uplinks of a device connector.',
    tag: refusalTag,
    access: deleting,
    params: idParams,
  }),
  clearWorkspace: endpoint({
    method: 'DELETE',
    path: '/v3/workspaces/:id/refusals',
    summary: 'Clear rejected uplinks of a workspace',
    description: 'Deletes the lists of rejected uplinks of every device connector in a workspace.',
    tag: refusalTag,
    access: deleting,
    params: idParams,
  }),
  removeOfConnector: endpoint({
    method: 'DELETE',
    path: '/v3/device-connectors/:id/refusals/:refusalId',
    summary: 'Delete a rejected uplink',
    description: 'Deletes one rejected uplink of a device connector.',
    tag: refusalTag,
    access: deleting,
    params: refusalParams,
  }),
  removeOfWorkspace: endpoint({
    method: 'DELETE',
    path: '/v3/workspaces/:id/refusals/:refusalId',
    summary: 'Delete a rejected uplink of a workspace',
    description: 'Deletes one rejected uplink of a workspace.',
    tag: refusalTag,
    access: deleting,
    params: refusalParams,
  }),
  proposalOfConnector: endpoint({
    ...proposal,
    path: '/v3/device-connectors/:id/refusals/:refusalId/proposal',
    summary: 'Propose a device for a rejected uplink',
    description:
      'Tries the decoders of suitable device types on the payload of a rejected uplink, and returns them with the best first. Stores nothing.',
  }),
  proposalOfWorkspace: endpoint({
    ...proposal,
    path: '/v3/workspaces/:id/refusals/:refusalId/proposal',
    summary: 'Propose a device for a rejected uplink of a workspace',
    description:
      'Tries the decoders of suitable device types on the payload of a rejected uplink, and returns them with the best first. Stores nothing.',
  }),
  registerOfConnector: endpoint({
    ...registration,
    path: '/v3/device-connectors/:id/refusals/:refusalId/register',
    summary: 'Register the device of a rejected uplink',
    description:
      'Creates the device that a rejected uplink named, with its data flow in one transaction. The payload becomes the first uplink of the device.',
  }),
  registerOfWorkspace: endpoint({
    ...registration,
    path: '/v3/workspaces/:id/refusals/:refusalId/register',
    summary: 'Register the device of a rejected uplink of a workspace',
    description:
      'Creates the device that a rejected uplink named, with its data flow in one transaction. The payload becomes the first uplink of the device.',
  }),
} as const;
