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
    summary: 'The deliveries of an output connector, newest first',
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
    summary:
      'Send deliveries of an output connector again: the dead ones, unless the body says which',
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
    summary: 'Send a delivery again that arrived or was given up',
    tag,
    access: { scope: 'dataFlow', verb: 'update', resource: 'path' },
    params: idParams,
    status: 202,
    response: deliverySchema,
  }),
  testConnector: endpoint({
    method: 'POST',
    path: '/v3/output-connectors/:id/test',
    summary: 'Send a sample to the target now, once, and answer what came back',
    tag,
    access: { ...connector, verb: 'update' },
    params: idParams,
    body: connectorTestBody,
    needsAlso: 'With a device also `asset` `read`.',
    response: connectorTestSchema,
  }),
} as const;
