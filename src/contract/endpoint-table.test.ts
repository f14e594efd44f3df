// Endpoints as data: distinct operation ids, complete path parameters, and no library behind them but the one of schemas.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Type from 'typebox';
import { expect, test } from 'vitest';
import { operationIdOf } from './endpoint.ts';
import { allEndpoints, endpoints } from './endpoint-table.ts';

test('operation ids are distinct', () => {
  const ids = allEndpoints.map(operationIdOf);
  expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([]);
});

test.each([
  [endpoints.tags.list, 'getTags'],
  [endpoints.tags.create, 'createTag'],
  [endpoints.devices.read, 'getDevice'],
  [endpoints.devices.readByDeviceId, 'getDevicesByDeviceId'],
  [endpoints.sampleKpis.device, 'postDeviceQueryRawKpi'],
])('an operation id is derived from method and path: %o', (endpoint, id) => {
  expect(operationIdOf(endpoint)).toBe(id);
});

test('each parameter of a path has a schema', () => {
  const missing = allEndpoints.filter(({ path, params }) => {
    const described = params !== undefined && Type.IsObject(params) ? params.properties : {};
    return [...path.matchAll(/:(\w+)/g)].some(([, name = '']) => !(name in described));
  });
  expect(missing.map(({ path }) => path)).toEqual([]);
});

test('no file behind endpoints imports a library but typebox: outputs load theirs when they are first used', () => {
  const seen = new Set<string>();
  const outside = new Map<string, string>();
  const visit = (file: string): void => {
    if (seen.has(file)) return;
    seen.add(file);
    // Imports of types are gone when the code runs.
    const imports = readFileSync(file, 'utf8').matchAll(/^import (?!type )[^;]*?from '([^']+)';/gm);
    for (const [, from = ''] of imports) {
      if (from.startsWith('.')) visit(join(dirname(file), from));
      else if (!from.startsWith('node:')) outside.set(from, file);
    }
  };
  visit(join(import.meta.dirname, 'endpoint-table.ts'));
  expect(seen.size).toBeGreaterThan(40);
  expect([...outside.keys()]).toEqual(['typebox']);
});
