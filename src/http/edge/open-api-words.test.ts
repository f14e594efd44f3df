// Words of the OpenAPI document: each row of the tables is that of a property or parameter.
import { describe, expect, test } from 'vitest';
import { allEndpoints } from '../../contract/endpoint-table.ts';
import {
  fieldWords,
  ownFieldWords,
  pageFieldWords,
  parameterWords,
} from './open-api-field-words.ts';
import { openApiDocument, withFieldWords } from './docs.ts';

interface Described {
  readonly name: string;
  readonly description?: string;
}

/** All properties and parameters, however deep. */
function describedIn(node: unknown): readonly Described[] {
  if (typeof node !== 'object' || node === null) return [];
  return Object.entries(node).flatMap(([key, member]) => {
    if (key !== 'properties' && key !== 'parameters') return describedIn(member);
    const named = Object.entries(member as Readonly<Record<string, object>>);
    return named.flatMap(([name, one]) => [{ name, ...one }, ...describedIn(one)]);
  });
}

const described = describedIn(openApiDocument(allEndpoints));
const used = new Set(described.map(({ name, description }) => `${name}: ${description}`));

test.each([
  ['fields', fieldWords],
  ['fields of pages', pageFieldWords],
  ['parameters', parameterWords],
])('review behaviour 21: every row of the %s is in the document', (_, words) => {
  const rows = Object.entries(words).map(([name, word]) => `${name}: ${word}`);
  expect(rows.filter((row) => !used.has(row))).toEqual([]);
});

test('review behaviour 21: every row of one owner is in the document', () => {
  const rows = Object.entries(ownFieldWords).map(([key, word]) => [key, word] as const);
  const unused = rows.filter(([key, word]) => {
    const names = [...key.matchAll(/\./g)].map(({ index }) => key.slice(index + 1));
    return !names.some((name) => used.has(`${name}: ${word}`));
  });
  expect(unused).toEqual([]);
});

describe('review behaviour 21: words', () => {
  const described = (schema: object, owner?: string) =>
    (withFieldWords({ properties: { name: schema } }, owner) as { properties: { name: object } })
      .properties.name;

  test('of the schema win, then those of the owner, then those of the name', () => {
    expect(described({ description: 'x' })).toEqual({ description: 'x' });
    expect(described({}, 'Session')).toEqual({ description: fieldWords['name'] });
    expect(described({}, 'DashboardGroupDraft')).toEqual({ description: 'Name of the group.' });
  });

  test('of an alternative are said of the whole', () => {
    const alternatives = [{ type: 'string', description: 'x' }, { type: 'null' }];
    expect(described({ anyOf: alternatives })).toEqual({
      anyOf: [{ type: 'string' }, { type: 'null' }],
      description: 'x',
    });
  });
});
