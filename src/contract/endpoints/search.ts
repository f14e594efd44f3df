// Endpoint of the search over all records (contract 37).
import { endpoint } from '../endpoint.ts';
import { searchQuery, searchSchema } from '../search.ts';

export const searching = {
  search: endpoint({
    method: 'GET',
    path: '/v3/search',
    summary: 'Search',
    description: 'Searches records of every kind by name or id and returns the best matches first.',
    tag: 'Search',
    access: {
      anyCredential: 'Any valid credential. Returns only records that the caller can read.',
    },
    query: searchQuery,
    response: searchSchema,
  }),
} as const;
