// Schemas and endpoints of deliveries (contract 35).
import Type from 'typebox';
import { deliveryCauses, deliveryStates } from '../model/delivery.ts';
import { endpoint } from './endpoint.ts';
import {
  id,
  idParams,
  listParameter,
  listParameters,
  namedObject,
  object,
  oneOf,
  optional,
  orNull,
  pageSchema,
  time,
} from './schema-parts.ts';

const resendIdsMax = 1_000;

const deliverySchema = namedObject('Delivery', {
  id,
  outputConnectorId: id,
  workspaceId: id,
  deviceId: id,
  state: oneOf(deliveryStates),
  tries: Type.Integer(),
  created: time,
  updated: time,
  nextTry: orNull(time),
  cause: oneOf(deliveryCauses),
  ruleId: orNull(id),
  alarmId: orNull(id),
  alarmChange: orNull(Type.String({ description: 'Alarm change, such as `OPENED`.' })),
  correlationId: Type.String(),
  payload: Type.String({ description: 'Message payload. Long payloads are truncated.' }),
  answer: orNull(Type.String()),
  reason: orNull(Type.String({ description: 'Error of the last attempt.' })),
});

const deliveryListQuery = Type.Object({
  ...listParameters(['created', 'updated', 'state', 'tries', 'nextAt']),
  state: listParameter,
  deviceId: Type.Optional(Type.String()),
});

const bulkResendBody = Type.Optional(
  namedObject('BulkResendBody', {
    state: Type.Optional(oneOf(['DEAD', 'DELIVERED'])),
    deviceId: optional(id),
    deliveryIds: optional(Type.Array(id, { maxItems: resendIdsMax })),
  }),
);

const resentSchema = namedObject('ResentDeliveries', {
  resent: Type.Integer(),
});

const connectorTestBody = Type.Optional(
  namedObject('ConnectorTestBody', {
    deviceId: optional(
      Type.String({
        description: 'Device whose latest sample is sent. Without it, example data is sent.',
      }),
    ),
  }),
);

const connectorTestSchema = namedObject('ConnectorTest', {
  ok: Type.Boolean(),
  answer: orNull(Type.String()),
  reason: orNull(Type.String()),
  payload: orNull(Type.String()),
  durationMs: Type.Integer(),
});

const tag = 'Deliveries';
const connector = { scope: 'dataFlow', resource: 'path' } as const;

export const deliveries = {
  list: endpoint({
    method: 'GET',
    path: '/v3/output-connectors/:id/deliveries',
    summary: 'List deliveries',
    description:
      'Returns the deliveries of an output connector with their attempts and responses, newest first.',
    tag,
    access: { ...connector, verb: 'read' },
    params: idParams,
    query: deliveryListQuery,
    response: pageSchema(deliverySchema),
  }),
  resendMany: endpoint({
    method: 'POST',
    path: '/v3/output-connectors/:id/deliveries/resend',
    ownBody: true,
    summary: 'Resend deliveries',
    description:
      'Queues failed deliveries of an output connector again; the body can select others.',
    tag,
    access: { ...connector, verb: 'update' },
    params: idParams,
    body: bulkResendBody,
    status: 202,
    response: resentSchema,
  }),
  resend: endpoint({
    method: 'POST',
    path: '/v3/deliveries/:id/resend',
    summary: 'Resend a delivery',
    description: 'Queues a delivered or failed delivery again.',
    tag,
    access: { scope: 'dataFlow', verb: 'update', resource: 'path' },
    params: idParams,
    status: 202,
    response: deliverySchema,
  }),
  testConnector: endpoint({
    method: 'POST',
    path: '/v3/output-connectors/:id/test',
    summary: 'Test an output connector',
    description:
      'Sends one sample to the target immediately and returns the response; nothing is logged or retried.',
    tag,
    access: { ...connector, verb: 'update' },
    params: idParams,
    body: connectorTestBody,
    needsAlso: 'With a device, also requires `asset` `read`.',
    response: connectorTestSchema,
  }),
} as const;

// Schemas and endpoints of template previews (interface 2.11).

const templatePreviewBody = namedObject('TemplatePreviewBody', {
  workspaceId: id,
  template: Type.String({ maxLength: 300_000 }),
  place: Type.Optional(oneOf(['json', 'text', 'url'])),
  deviceId: optional(
    Type.String({
      description: 'Service device ID. Its latest sample is used to render the template.',
    }),
  ),
  topic: optional(Type.String()),
  context: optional(object),
});

const templatePreviewSchema = namedObject('TemplatePreview', {
  text: Type.String({ description: 'Rendered template.' }),
  valid: Type.Boolean({
    description: 'Whether the result is valid for its target, such as JSON or a URL.',
  }),
  reason: orNull(Type.String()),
  context: object,
});

export const templates = {
  preview: endpoint({
    method: 'POST',
    path: '/v3/templates/preview',
    ownBody: true,
    summary: 'Preview a template',
    description: 'Renders a template with the latest sample of a device.',
    tag: 'Templates',
    access: { scope: 'dataFlow', verb: 'read', resource: 'body' },
    needsAlso: 'With a device, also requires `asset` `read`.',
    body: templatePreviewBody,
    response: templatePreviewSchema,
  }),
} as const;
