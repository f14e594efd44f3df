// Schemas and endpoints of the search over all records (contract 37).
import Type from 'typebox';
import {
  searchFields,
  searchKinds,
  searchLengthMax,
  searchLimitDefault,
  searchLimitMax,
} from '../model/search.ts';
import { endpoint } from './endpoint.ts';
import { listParameter } from './list-parameters.ts';
import { namedObject } from './named.ts';
import { id, list, oneOf, orNull, text } from './record-fields.ts';

const searchQuery = Type.Object({
  q: Type.String({
    minLength: 1,
    maxLength: searchLengthMax,
    description:
      'Search words in any order, or an ID (record, device, or EUI). All words must match.',
  }),
  organizationId: Type.Optional(Type.String()),
  workspaceId: listParameter,
  workspaceIds: listParameter,
  kinds: Type.Optional(
    Type.Union([Type.String(), Type.Array(Type.String())], {
      description: `Kinds of records, separated by commas. Defaults to all: ${searchKinds.join(', ')}.`,
    }),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: searchLimitMax,
      description: `Maximum number of results. Defaults to ${searchLimitDefault}.`,
    }),
  ),
});

const searchSchema = namedObject('SearchResult', {
  hits: list(
    namedObject('SearchHit', {
      kind: oneOf(searchKinds),
      id,
      name: text,
      workspaceId: orNull(id),
      match: Type.Object(
        { field: oneOf(searchFields), value: text },
        { description: 'Matching field and value.' },
      ),
    }),
  ),
});

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
