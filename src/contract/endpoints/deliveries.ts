// Endpoints of deliveries (contract 35).
import {
  bulkResendBody,
  connectorTestBody,
  connectorTestSchema,
  deliveryListQuery,
  deliverySchema,
  resentSchema,
} from '../delivery.ts';
import { endpoint } from '../endpoint.ts';
import { pageSchema } from '../page-envelope.ts';
import { idParams } from '../record-fields.ts';

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
