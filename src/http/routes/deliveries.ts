// Routes of deliveries: their states, resending, and the test of a connector (contract 35).
import { deliveries, templates } from '../../contract/deliveries.ts';
import {
  type DeliveryBook,
  deliveryPlace,
  listDeliveries,
  resendDeliveries,
  resendDelivery,
} from '../../inventory/data-flows/deliveries.ts';
import type { Principal } from '../../model/principal.ts';
import type { previewTemplate, testConnector } from '../../outputs/deliveries/connector-test.ts';
import { listOf, pageRequestOf } from '../edge/list-query.ts';
import { resourceRoute, type Route } from '../edge/route.ts';
import type { RecordRoutes } from './record-routes.ts';
import type { JsonObject } from '../../model/json.ts';

export function deliveryRoutes(
  common: RecordRoutes,
  book: DeliveryBook,
  /** Whether default payloads carry the names that older clients read (contract 34). */
  vendorNames: boolean,
  /**
   * Sends the last sample of a device, or an invented one. Throws 404 or 403 for a device that the
   * principal may not see.
   */
  testOf: (
    connectorId: string,
    deviceId: string | undefined,
    principal: Principal,
    signal: AbortSignal,
  ) => ReturnType<typeof testConnector>,
): Route[] {
  const { records } = common;
  const byDelivery = ({ id }: { readonly id: string }) => deliveryPlace(records, book, id);
  const byConnector = common.byId('outputConnector');
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
      testOf(params.id, body?.deviceId ?? undefined, principal, signal),
    ),
  ];
}

// Route of template previews, with the last sample of a device (interface 2.11, contract 29).

export function templatePreviewRoute(
  common: RecordRoutes,
  /**
   * Throws `templateInvalid` for a broken template, 404 or 403 for a device the principal may not
   * read, 404 for one without samples. `context` members replace those of the sample.
   */
  preview: (
    wanted: {
      readonly template: string;
      readonly place: 'json' | 'text' | 'url';
      readonly deviceId: string | undefined;
      readonly topic: string | undefined;
      readonly context: JsonObject | undefined;
    },
    principal: Principal,
  ) => ReturnType<typeof previewTemplate>,
): Route {
  return resourceRoute(templates.preview, common.byWorkspace, ({ body }, principal) => {
    const { template, place = 'json', deviceId, topic, context } = body;
    const wanted = {
      template,
      place,
      deviceId: deviceId ?? undefined,
      topic: topic ?? undefined,
    };
    return preview({ ...wanted, context: context ?? undefined }, principal);
  });
}
