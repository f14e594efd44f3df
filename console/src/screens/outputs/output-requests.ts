// Requests of the outputs: the list, one output, its deliveries, and what changes them.
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { components } from '../../../generated/interface-types.ts';
import { ask, platform } from '../../api/platform.ts';
import type { DeliverySearch, OutputSearch } from './output-search.ts';

export type Delivery = components['schemas']['Delivery'];
export type OutputItem = components['schemas']['OutputConnectorItem'];
const healthMs = 15_000;
const outputRows = 25;
const deliveryRows = 50;

export function outputsOf(workspaceId: string, { q, scope, page = 0 }: OutputSearch) {
  const query = {
    workspaceId,
    page,
    size: outputRows,
    sort: 'name,asc',
    details: 'health' as const,
    ...(q === undefined ? {} : { search: q }),
    ...(scope === undefined ? {} : { scope }),
  };
  return queryOptions({
    queryKey: ['outputs', workspaceId, query],
    refetchInterval: healthMs,
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) =>
      ask(platform.GET('/v3/output-connectors', { signal, params: { query } })),
  });
}

export const outputOf = (id: string) =>
  queryOptions({
    queryKey: ['output', id],
    queryFn: ({ signal }) =>
      ask(platform.GET('/v3/output-connectors/{id}', { signal, params: { path: { id } } })),
  });

/** Events say of each attempt, but not of what waits for its first. */
const deliveriesMs = 30_000;

export const deliveriesKey = (id: string) => ['deliveries', id] as const;

/** Deliveries of one output, newest first. */
export function deliveriesOf(id: string, { state, page = 0 }: DeliverySearch, size = deliveryRows) {
  const query = { page, size, ...(state === undefined ? {} : { state }) };
  return queryOptions({
    queryKey: [...deliveriesKey(id), query],
    refetchInterval: deliveriesMs,
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) =>
      ask(
        platform.GET('/v3/output-connectors/{id}/deliveries', {
          signal,
          params: { path: { id }, query },
        }),
      ),
  });
}

/** The waiting delivery of an output that was tried most often; it says since when and why. */
export function failingDeliveryOf(id: string) {
  const query = { state: 'PENDING', sort: 'tries,desc', size: 1 } as const;
  return queryOptions({
    queryKey: [...deliveriesKey(id), 'failing'],
    refetchInterval: healthMs,
    queryFn: async ({ signal }) => {
      const params = { path: { id }, query };
      const page = await ask(
        platform.GET('/v3/output-connectors/{id}/deliveries', { signal, params }),
      );
      return page.content.find(({ tries }) => tries > 0) ?? null;
    },
  });
}

export function resendOne(id: string) {
  return ask(platform.POST('/v3/deliveries/{id}/resend', { params: { path: { id } } }));
}

/** Sends all dead deliveries again. */
export function resendFailed(id: string) {
  return ask(
    platform.POST('/v3/output-connectors/{id}/deliveries/resend', {
      params: { path: { id } },
      body: { state: 'DEAD' },
    }),
  );
}

/** Sends the last sample of a device, or an invented one, to the target now. */
export function testOutput(id: string, deviceId: string | undefined) {
  return ask(
    platform.POST('/v3/output-connectors/{id}/test', {
      params: { path: { id } },
      body: deviceId === undefined ? {} : { deviceId },
    }),
  );
}

// Readable payloads: JSON with line breaks, everything else as it is.

/** Returns JSON over several lines; a payload that is cut or not JSON stays as it was sent. */
export function readable(payload: string): string {
  try {
    return JSON.stringify(JSON.parse(payload), null, 2);
  } catch {
    return payload;
  }
}
