// Endpoints that answer one number: per device, per tag and for lists of devices (interface 4.4, 4.5).
import { endpoint } from '../endpoint.ts';
import { pageSchema } from '../page-envelope.ts';
import {
  batchKpiBody,
  batchKpiSchema,
  deviceParams,
  kpiBody,
  kpiPageQuery,
  kpiSchema,
  tagKpiSchema,
  tagParams,
} from '../queries.ts';

const tag = 'Data';
const takesShares = 'series';
const ofResource = { scope: 'asset', verb: 'read', resource: 'path' } as const;
const ofDevices = { scope: 'asset', verb: 'read', resource: 'handler' } as const;

export type KpiEndpoints = ReturnType<typeof kpiEndpoints>;

/** Numbers from samples. */
export const sampleKpis = kpiEndpoints('raw', 'samples');
/** Numbers from hourly aggregates. */
export const hourlyKpis = kpiEndpoints('aggregated/hourly', 'hourly aggregates');
/** The older path of `sampleKpis.batch`. */
export const batchKpi = batchEndpoint('/v3/devices/query/batch', 'samples');

function kpiEndpoints(path: string, source: string) {
  return {
    device: endpoint({
      method: 'POST',
      path: `/v3/devices/:deviceId/query/${path}/kpi`,
      summary: `One number of a device, from ${source}`,
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
      summary: `One number per device of a tag, from ${source}`,
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
      summary: `One number summed over the devices of a tag, from ${source}`,
      tag,
      takesShares,
      access: ofResource,
      params: tagParams,
      body: kpiBody,
      response: tagKpiSchema,
    }),
    batch: batchEndpoint(`/v3/devices/query/batch/${path}/kpi`, source),
    batchAccumulated: endpoint({
      method: 'POST',
      path: `/v3/devices/query/batch/${path}/accumulated-kpi`,
      summary: `One number summed over a list of devices, from ${source}`,
      tag,
      takesShares,
      access: ofDevices,
      body: batchKpiBody,
      response: batchKpiSchema,
    }),
  } as const;
}

function batchEndpoint(path: string, source: string) {
  return endpoint({
    method: 'POST',
    path,
    summary: `One number per device of a list, from ${source}`,
    tag,
    takesShares,
    access: ofDevices,
    query: kpiPageQuery,
    body: batchKpiBody,
    response: pageSchema(kpiSchema),
  });
}
