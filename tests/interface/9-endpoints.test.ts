// The endpoints of the contract and the handlers of the platform: each has exactly one of the other.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Endpoint } from '../../src/contract/endpoint.ts';
import { allEndpoints } from '../../src/contract/endpoint-table.ts';
import { startWorld, type World } from '../world/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

const named = (endpoints: readonly Endpoint[]) =>
  endpoints.map(({ method, path }) => `${method} ${path}`).sort();

/** Those of sign-in by a provider have handlers only where one is set; its tests call them. */
const ofProvider = ({ path }: Endpoint) => path.startsWith('/v3/auth/oidc/');

test('each endpoint has exactly one handler, and each handler an endpoint', () => {
  const { routes } = world.platform;
  expect(named(routes)).toEqual(named(allEndpoints.filter((one) => !ofProvider(one))));
  expect(new Set(named(routes)).size).toBe(routes.length);
});

test('a route finds the resource that its endpoint names, and says so nowhere else', () => {
  const wrong = world.platform.routes.filter(({ access, findResource }) => {
    const isNamed = 'scope' in access && access.resource !== 'handler';
    return isNamed !== (findResource !== undefined);
  });
  expect(named(wrong)).toEqual([]);
});

test('a route serves its endpoint unchanged', () => {
  const byName = new Map(allEndpoints.map((one) => [`${one.method} ${one.path}`, one]));
  for (const route of world.platform.routes)
    expect(route).toMatchObject({ ...byName.get(`${route.method} ${route.path}`) });
});
