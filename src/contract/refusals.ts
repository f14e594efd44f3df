// Schemas and endpoints of refused uplinks (contract 39.3).
import Type, { type Static } from 'typebox';
import { payloadForms, refusalReasons, refusalTransports } from '../model/refused-uplink.ts';
import { endpoint } from './endpoint.ts';
import { listParameters, pageSchema } from './list-parameters.ts';
import { namedObject } from './named.ts';
import { deviceSchema } from './devices.ts';
import {
  id,
  idParams,
  list,
  name,
  object,
  oneOf,
  optional,
  orNull,
  reference,
  time,
} from './record-fields.ts';

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

const sample = Type.Object({ topic: Type.String(), timestamp: time, data: object });
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
      samples: Type.Unsafe<readonly Static<typeof sample>[]>(
        Type.Array(sample, { description: 'What the decoder made of the payload.' }),
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

const tag = 'Refusals';
const reading = { scope: 'asset', verb: 'read', resource: 'path' } as const;
const creating = { scope: 'asset', verb: 'create', resource: 'path' } as const;
const deleting = { scope: 'asset', verb: 'delete', resource: 'path' } as const;
const response = pageSchema(refusalSchema);

const proposal = {
  method: 'GET',
  tag,
  access: reading,
  params: refusalParams,
  response: proposalSchema,
} as const;

const registration = {
  method: 'POST',
  tag,
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
    tag,
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
    tag,
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
    tag,
    access: deleting,
    params: idParams,
  }),
  clearWorkspace: endpoint({
    method: 'DELETE',
    path: '/v3/workspaces/:id/refusals',
    summary: 'Clear rejected uplinks of a workspace',
    description: 'Deletes the lists of rejected uplinks of every device connector in a workspace.',
    tag,
    access: deleting,
    params: idParams,
  }),
  removeOfConnector: endpoint({
    method: 'DELETE',
    path: '/v3/device-connectors/:id/refusals/:refusalId',
    summary: 'Delete a rejected uplink',
    description: 'Deletes one rejected uplink of a device connector.',
    tag,
    access: deleting,
    params: refusalParams,
  }),
  removeOfWorkspace: endpoint({
    method: 'DELETE',
    path: '/v3/workspaces/:id/refusals/:refusalId',
    summary: 'Delete a rejected uplink of a workspace',
    description: 'Deletes one rejected uplink of a workspace.',
    tag,
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
