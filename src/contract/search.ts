// Schemas and endpoints of the search over all records, and of questions (contract 37, 39.5).
import Type from 'typebox';
import { searchFields, searchKinds, searchLimitDefault } from '../model/search.ts';
import { endpoint } from './endpoint.ts';
import {
  id,
  list,
  listParameter,
  namedObject,
  object,
  oneOf,
  orNull,
  text,
} from './schema-parts.ts';

const searchLimitMax = 100;

const searchLengthMax = 200;

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

// Schemas and endpoint of questions (contract 39.5).

const reading = namedObject('Reading', {
  kind: Type.Unsafe<'CHART' | 'VALUE' | 'DEVICES' | 'OPEN'>({
    ...oneOf(['CHART', 'VALUE', 'DEVICES', 'OPEN'] as const),
    description:
      'What answers the question: a chart, one value, a list of devices, or a record to open.',
  }),
  sentence: Type.String({ description: 'What was understood, in the language of the question.' }),
  series: list(
    Type.Object({
      deviceId: Type.Optional(id),
      tagId: Type.Optional(id),
      placeId: Type.Optional(id),
      topic: text,
      dataKey: text,
      label: Type.String({ description: 'Name of the device, tag, or place.' }),
      unit: orNull(text),
    }),
  ),
  accumulator: orNull(text),
  interval: orNull(
    Type.Object({
      from: Type.String({ format: 'date-time', description: 'Start, inclusive.' }),
      to: Type.String({ format: 'date-time', description: 'End, exclusive.' }),
    }),
  ),
  filter: orNull(object),
  link: Type.String({ description: 'Path in the console.' }),
});

export const asking = {
  ask: endpoint({
    method: 'GET',
    path: '/v3/ask',
    summary: 'Ask a question',
    description:
      'Returns what a question in English or German means: data keys, devices, tags, places, times, and accumulators, such as `average temperature room 1 last week`. The best reading is first.',
    tag: 'Search',
    access: { scope: 'asset', verb: 'read', resource: 'handler' },
    query: Type.Object({
      q: Type.String({ minLength: 1, maxLength: 200, description: 'Question, up to 16 words.' }),
      workspaceId: id,
      timeZone: Type.Optional(
        Type.String({
          maxLength: 100,
          description:
            "IANA time zone of times such as `yesterday`. Defaults to the workspace's, else UTC.",
        }),
      ),
    }),
    response: namedObject('AskResult', {
      readings: list(reading),
      ignored: Type.Unsafe<readonly string[]>({
        type: 'array',
        items: { type: 'string' },
        description: 'Words of the question that were not understood.',
      }),
    }),
  }),
} as const;
