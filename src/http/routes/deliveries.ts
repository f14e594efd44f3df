// Routes of deliveries: their states, resending, and the test of a connector (contract 35).
import { deliveries } from '../../contract/endpoints/deliveries.ts';
import {
  listDeliveries,
  type Renewed,
  resendDeliveries,
  resendDelivery,
} from '../../inventory/flows/deliveries.ts';
import type { Principal } from '../../model/principal.ts';
import { listOf, pageRequestOf } from '../edge/list-query.ts';
import { resourceRoute, type Route } from '../edge/route.ts';
import { byId, type RecordParts } from './record-parts.ts';

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
  /**
   * Sends the last sample of a device, or an invented one. Throws 404 or 403 for a device that the
   * principal may not see.
   */
  readonly testConnector: (
    connectorId: string,
    deviceId: string | undefined,
    principal: Principal,
    signal: AbortSignal,
  ) => Promise<ConnectorTest>;
}

export function deliveryRoutes(parts: DeliveryParts): Route[] {
  const { records, renewed, vendorNames } = parts;
  const byConnector = byId(parts, 'outputConnector');
  return [
    resourceRoute(deliveries.list, byConnector, ({ params, query }, principal) => {
      const filter = {
        connectorId: params.id,
        states: listOf(query, 'state'),
        deviceId: query.deviceId,
      };
      return listDeliveries(records, principal, filter, {
        page: pageRequestOf(query),
        vendorNames,
      });
    }),
    resourceRoute(deliveries.resendMany, byConnector, ({ params, body }, principal) => {
      const states = body?.state === undefined ? undefined : [body.state];
      const deviceId = body?.deviceId ?? undefined;
      const filter = {
        connectorId: params.id,
        states,
        deviceId,
        ids: body?.deliveryIds ?? undefined,
      };
      return resendDeliveries(records, principal, renewed, filter);
    }),
    resourceRoute(deliveries.resend, byId(parts, 'delivery'), ({ params }) =>
      resendDelivery(records, renewed, params.id, vendorNames),
    ),
    resourceRoute(deliveries.testConnector, byConnector, ({ params, body, signal }, principal) =>
      parts.testConnector(params.id, body?.deviceId ?? undefined, principal, signal),
    ),
  ];
}
