// Route tree: finds what a search through all routes finds, for any path.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createRouteTree } from './route-tree.ts';

const paths = [
  '/v3/devices',
  '/v3/devices/list',
  '/v3/devices/:deviceId',
  '/v3/devices/:deviceId/query',
  '/v3/devices/:deviceId/query/:kind',
  '/v3/devices/query/latest',
  '/v3/:any/query/:kind/last',
  '/health/live',
] as const;
const routes = paths.map((path) => ({ method: 'GET', path }) as const);
const find = createRouteTree(routes);

/** The first step in which two routes differ decides, literal before parameter. */
function searched(path: string) {
  const steps = path.split('/');
  if (steps[0] !== '' || steps.slice(1).some((step) => !/^[\w.~:@-]{1,500}$/.test(step)))
    return undefined;
  const fitting = paths
    .map((one) => one.split('/'))
    .filter(
      (one) =>
        one.length === steps.length &&
        one.every((step, i) => step.startsWith(':') || step === steps[i]),
    );
  const rank = (one: readonly string[]) => one.map((step) => Number(step.startsWith(':'))).join('');
  const [best] = fitting.sort((a, b) => (rank(a) < rank(b) ? -1 : 1));
  if (best === undefined) return undefined;
  const params = best.flatMap((step, i) =>
    step.startsWith(':') ? [[step.slice(1), steps[i]]] : [],
  );
  return { path: best.join('/'), params: Object.fromEntries(params) };
}

const step = fc.oneof(
  fc.constantFrom('v3', 'devices', 'query', 'latest', 'last', 'list', 'health', 'live', ''),
  fc.constantFrom('02f944d4ce322b5a', 'a.b', '%20', 'ö', ':deviceId', 'x'.repeat(501)),
  fc.string({ maxLength: 4 }),
);

test('a path has the route that a search through all routes finds, and its parameters', () => {
  const path = fc.oneof(
    fc.array(step, { maxLength: 7 }).map((steps) => `/${steps.join('/')}`),
    fc.string(),
  );
  fc.assert(
    fc.property(path, (one) => {
      const found = find('GET', one);
      expect(found && { path: found.route.path, params: { ...found.params } }).toEqual(
        searched(one),
      );
      expect(find('POST', one)).toBeUndefined();
    }),
    { numRuns: 3_000 },
  );
  expect(find('HEAD', '/v3/devices/d1/query')?.params).toEqual({ deviceId: 'd1' });
});
