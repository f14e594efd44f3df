// Routes of deliveries: what became of them, sending them again, and testing a connector (contract 35).
import {
  bulkResendBody,
  connectorTestBody,
  connectorTestSchema,
  deliveryListQuery,
  deliverySchema,
  resentSchema,
} from '../../contract/delivery.ts';
import { pageSchema } from '../../contract/page-envelope.ts';
import { idParams } from '../../contract/record-fields.ts';
import {
  listDeliveries,
  type Renewed,
  resendDeliveries,
  resendDelivery,
} from '../../inventory/flows/deliveries.ts';
import type { Principal } from '../../model/principal.ts';
import { listOf, pageRequestOf } from '../edge/list-query.ts';
import { guardedRoute, type Route } from '../edge/route.ts';
import { byId, type RecordParts } from './record-parts.ts';

const tag = 'Deliveries';

export interface ConnectorTest {
  readonly ok: boolean;
  readonly answer: string | null;
  readonly reason: string | null;
  readonly payload: string | null;
  readonly durationMs: number;
}

export interface DeliveryParts extends RecordParts {
  readonly renewed: Renewed;
  /** Whether default payloads carry the names that older clients read (contract 34). */
  readonly vendorNames: boolean;
  /** Sends the last sample of a device, or an invented one. Throws 404 or 403 for a device that the principal may not see. */
  readonly testConnector: (
    connectorId: string,
    deviceId: string | undefined,
    principal: Principal,
    signal: AbortSignal,
  ) => Promise<ConnectorTest>;
}

export function deliveryRoutes(parts: DeliveryParts): Route[] {
  const { records, now, renewed, vendorNames } = parts;
  const connector = { scope: 'dataFlow', place: byId(parts, 'outputConnector') } as const;
  return [
    guardedRoute({
      method: 'GET',
      path: '/v3/output-connectors/:id/deliveries',
      summary: 'The deliveries of an output connector, newest first',
      tag,
      access: { ...connector, verb: 'read' },
      params: idParams,
      query: deliveryListQuery,
      response: pageSchema(deliverySchema),
      handle: ({ params, query }, principal) => {
        const filter = {
          connectorId: params.id,
          states: listOf(query, 'state'),
          deviceId: query.deviceId,
        };
        return listDeliveries(records, principal, filter, {
          page: pageRequestOf(query),
          vendorNames,
        });
      },
    }),
    guardedRoute({
      method: 'POST',
      path: '/v3/output-connectors/:id/deliveries/resend',
      summary:
        'Send deliveries of an output connector again: the dead ones, unless the body says which',
      tag,
      access: { ...connector, verb: 'update' },
      params: idParams,
      body: bulkResendBody,
      status: 202,
      response: resentSchema,
      handle: ({ params, body }, principal) => {
        const states = body?.state === undefined ? undefined : [body.state];
        const deviceId = body?.deviceId ?? undefined;
        const filter = {
          connectorId: params.id,
          states,
          deviceId,
          ids: body?.deliveryIds ?? undefined,
        };
        return resendDeliveries(records, principal, renewed, filter, now());
      },
    }),
    guardedRoute({
      method: 'POST',
      path: '/v3/deliveries/:id/resend',
      summary: 'Send a delivery again that arrived or was given up',
      tag,
      access: { scope: 'dataFlow', verb: 'update', place: byId(parts, 'delivery') },
      params: idParams,
      status: 202,
      response: deliverySchema,
      handle: ({ params }) =>
        resendDelivery(records, renewed, params.id, { now: now(), vendorNames }),
    }),
    guardedRoute({
      method: 'POST',
      path: '/v3/output-connectors/:id/test',
      summary: 'Send a sample to the target now, once, and answer what came back',
      tag,
      access: { ...connector, verb: 'read' },
      params: idParams,
      body: connectorTestBody,
      needsAlso: 'With a device also `asset` `read`.',
      response: connectorTestSchema,
      handle: ({ params, body, signal }, principal) =>
        parts.testConnector(params.id, body?.deviceId ?? undefined, principal, signal),
    }),
  ];
}
