// Endpoint of the search over all records (contract 37).
import { endpoint } from '../endpoint.ts';
import { searchQuery, searchSchema } from '../search.ts';

export const searching = {
  search: endpoint({
    method: 'GET',
    path: '/v3/search',
    summary: 'Records of all kinds by name or id, the best hits first',
    tag: 'Search',
    access: { anyCredential: 'only records that the caller may read are found' },
    query: searchQuery,
    response: searchSchema,
  }),
} as const;
