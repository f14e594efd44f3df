// Routes of deliveries: their states, resending, and the test of a connector (contract 35).
import { deliveries } from '../../contract/deliveries.ts';
import {
  type DeliveryBook,
  deliveryPlace,
  listDeliveries,
  resendDeliveries,
  resendDelivery,
} from '../../inventory/data-flows/deliveries.ts';
import type { Principal } from '../../model/principal.ts';
import { listOf, pageRequestOf } from '../edge/list-query.ts';
import { resourceRoute, type Route } from '../edge/route.ts';
import { byId, type RecordParts } from './record-parts.ts';

interface ConnectorTest {
  readonly ok: boolean;
  readonly answer: string | null;
  readonly reason: string | null;
  readonly payload: string | null;
  readonly durationMs: number;
}

interface DeliveryParts extends RecordParts {
  readonly book: DeliveryBook;
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
  const { records, book, vendorNames } = parts;
  const byDelivery = ({ id }: { readonly id: string }) => deliveryPlace(records, book, id);
  const byConnector = byId(parts, 'outputConnector');
  return [
    resourceRoute(deliveries.list, byConnector, ({ params, query }, principal) => {
      const filter = {
        connectorId: params.id,
        states: listOf(query, 'state'),
        deviceId: query.deviceId,
      };
      return listDeliveries(book, principal, filter, {
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
      return resendDeliveries(book, principal, filter);
    }),
    resourceRoute(deliveries.resend, byDelivery, ({ params }) =>
      resendDelivery(book, params.id, vendorNames),
    ),
    resourceRoute(deliveries.testConnector, byConnector, ({ params, body, signal }, principal) =>
      parts.testConnector(params.id, body?.deviceId ?? undefined, principal, signal),
    ),
  ];
}
