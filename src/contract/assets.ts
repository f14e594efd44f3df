// Endpoints of the device list (interface 4.2).
import {
  assetListBody,
  assetListPageQuery,
  assetListQuery,
  deviceSchema,
  filterOptionsBody,
  filterOptionsQuery,
  filterOptionsSchema,
} from './devices.ts';
import { endpoint } from './endpoint.ts';
import { pageSchema } from './list-parameters.ts';

const tag = 'Assets';
const access = { scope: 'asset', verb: 'read', resource: 'handler' } as const;

export const assets = {
  list: endpoint({
    method: 'GET',
    path: '/v3/assets',
    summary: 'List assets',
    description:
      'Returns a page of the devices in the requested workspaces or in the organization.',
    tag,
    access,
    query: assetListQuery,
    response: pageSchema(deviceSchema),
  }),
  search: endpoint({
    method: 'POST',
    path: '/v3/assets/list',
    summary: 'Search assets',
    description: 'Returns a page of the devices that match a search text and a filter expression.',
    tag,
    access,
    query: assetListPageQuery,
    body: assetListBody,
    response: pageSchema(deviceSchema),
  }),
  filterOptions: endpoint({
    method: 'GET',
    path: '/v3/assets/filter-options-v2',
    summary: 'Get asset filter options',
    description:
      'Returns the filterable fields, their filter types and values, and the predicates that each supports.',
    tag,
    access,
    query: filterOptionsQuery,
    response: filterOptionsSchema,
  }),
  searchFilterOptions: endpoint({
    method: 'POST',
    path: '/v3/assets/filter-options-v2',
    summary: 'Get asset filter options',
    description:
      'Returns the filterable fields, their filter types and values, and the predicates that each supports.',
    tag,
    access,
    body: filterOptionsBody,
    response: filterOptionsSchema,
  }),
} as const;
