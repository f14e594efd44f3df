// Endpoints that answer one number: per device, per tag and for lists of devices (interface 4.4, 4.5).
import { endpoint } from './endpoint.ts';
import { pageSchema } from './list-parameters.ts';
import { list } from './record-fields.ts';
import {
  batchKpiBody,
  batchKpiSchema,
  deviceParams,
  kpiBody,
  kpiPageQuery,
  kpiSchema,
  placeKpiSchema,
  placeParams,
  placeValueSchema,
  placeValuesBody,
  tagKpiSchema,
  tagParams,
} from './sample-queries.ts';

const tag = 'Data';
const takesShares = 'series';
const ofResource = { scope: 'asset', verb: 'read', resource: 'path' } as const;
const ofDevices = { scope: 'asset', verb: 'read', resource: 'handler' } as const;

export type KpiEndpoints = ReturnType<typeof kpiEndpoints>;

/** Numbers from samples. */
export const sampleKpis = kpiEndpoints('raw', 'samples');
/** Numbers from hourly aggregates. */
export const hourlyKpis = kpiEndpoints('aggregated/hourly', 'hourly aggregates');
/** Another path of `sampleKpis.batch`. */
export const batchKpi = batchEndpoint(
  '/v3/devices/query/batch',
  'Calculate KPIs for many devices',
  'Alias of `/v3/devices/query/batch/raw/kpi`.',
);

/** Numbers of places, for heat maps. */
export const placeValues = endpoint({
  method: 'POST',
  path: '/v3/places/query/values',
  summary: 'Calculate values of places',
  description:
    'Combines the KPIs of the devices at and below each place to one number. Devices without a value are left out. Above 25 hours, hourly aggregates are read.',
  tag,
  access: { scope: 'asset', verb: 'read', resource: 'body' },
  body: placeValuesBody,
  response: list(placeValueSchema),
});

function kpiEndpoints(path: string, source: string) {
  return {
    device: endpoint({
      method: 'POST',
      path: `/v3/devices/:deviceId/query/${path}/kpi`,
      summary: `Calculate a KPI from ${source}`,
      description: 'Reduces the values of one data key in the interval to a single number.',
      tag,
      takesShares,
      access: ofResource,
      params: deviceParams,
      body: kpiBody,
      response: kpiSchema,
    }),
    tag: endpoint({
      method: 'POST',
      path: `/v3/tags/:tagId/query/${path}/kpi`,
      summary: `Calculate KPIs for a tag from ${source}`,
      description: 'Returns one KPI per device of the tag.',
      tag,
      takesShares,
      access: ofResource,
      params: tagParams,
      query: kpiPageQuery,
      body: kpiBody,
      response: pageSchema(kpiSchema),
    }),
    tagAccumulated: endpoint({
      method: 'POST',
      path: `/v3/tags/:tagId/query/${path}/accumulated-kpi`,
      summary: `Calculate an accumulated KPI for a tag from ${source}`,
      description: "Returns the sum of the KPIs of the tag's devices.",
      tag,
      takesShares,
      access: ofResource,
      params: tagParams,
      body: kpiBody,
      response: tagKpiSchema,
    }),
    place: endpoint({
      method: 'POST',
      path: `/v3/places/:placeId/query/${path}/kpi`,
      summary: `Calculate KPIs for a place from ${source}`,
      description: 'Returns one KPI per device at the place and below it.',
      tag,
      takesShares,
      access: ofResource,
      params: placeParams,
      query: kpiPageQuery,
      body: kpiBody,
      response: pageSchema(kpiSchema),
    }),
    placeAccumulated: endpoint({
      method: 'POST',
      path: `/v3/places/:placeId/query/${path}/accumulated-kpi`,
      summary: `Calculate an accumulated KPI for a place from ${source}`,
      description: 'Returns the sum of the KPIs of the devices at the place and below it.',
      tag,
      takesShares,
      access: ofResource,
      params: placeParams,
      body: kpiBody,
      response: placeKpiSchema,
    }),
    batch: batchEndpoint(
      `/v3/devices/query/batch/${path}/kpi`,
      `Calculate KPIs for many devices from ${source}`,
      'Returns one KPI per listed device. Unknown devices are omitted.',
    ),
    batchAccumulated: endpoint({
      method: 'POST',
      path: `/v3/devices/query/batch/${path}/accumulated-kpi`,
      summary: `Calculate an accumulated KPI for many devices from ${source}`,
      description: 'Returns the sum of the KPIs of the listed devices.',
      tag,
      takesShares,
      access: ofDevices,
      body: batchKpiBody,
      response: batchKpiSchema,
    }),
  } as const;
}

function batchEndpoint(path: string, summary: string, description: string) {
  return endpoint({
    method: 'POST',
    path,
    summary,
    description,
    tag,
    takesShares,
    access: ofDevices,
    query: kpiPageQuery,
    body: batchKpiBody,
    response: pageSchema(kpiSchema),
  });
}
