// Routes of the search over all records, and of questions (contract 37, 39.5).
import { asking, searching } from '../../contract/search.ts';
import { search } from '../../inventory/search/search.ts';
import { problem } from '../../model/problem.ts';
import { type SearchKind, searchKinds } from '../../model/search.ts';
import { listOf, listScopeOf } from '../edge/list-query.ts';
import { route, type Route } from '../edge/route.ts';
import type { Queries } from './device-access.ts';
import type { RecordRoutes } from './record-routes.ts';
import { ask, type AskedKey, type AskParts } from '../../inventory/search/ask.ts';
import type { DeviceType } from '../../model/device-type.ts';
import type { JsonObject } from '../../model/json.ts';
import {
  declaredSchemas,
  inferSchema,
  type TopicSchema,
  withCalculated,
} from '../../query/inferred-schema.ts';
import { createBoundedMap } from '../../structures/caches.ts';

export function searchRoute({ records }: RecordRoutes): Route {
  return route(searching.search, ({ query }, principal) =>
    search(records, principal, {
      q: query.q,
      limit: query.limit,
      kinds: listOf(query, 'kinds')?.map(kindNamed),
      ...listScopeOf(query),
    }),
  );
}

/** `DEVICE_TYPE` or `deviceType`. */
function kindNamed(name: string): SearchKind {
  const plain = (word: string) => word.replaceAll('_', '').toLowerCase();
  const kind = searchKinds.find((known) => plain(known) === plain(name));
  if (kind !== undefined) return kind;
  const known = searchKinds.join(', ');
  throw problem('invalidRequest', {
    reason: `query kinds: unknown kind ${name}; valid kinds: ${known}`,
  });
}

// Route of questions: what their words mean among the names and data keys of a workspace (contract 39.5).

/** Types of a workspace whose keys are known. */
const typesMax = 200;
const typesKept = 1_000;

export function askRoute(
  { records, store, now, typeOfDevice, calendars }: Queries,
  /** The device types that devices of the workspace have. */
  typesOfWorkspace: (workspaceId: string, max: number) => Promise<readonly DeviceType[]>,
): Route {
  /** By type and version, because schemas are large. */
  const known = createBoundedMap<string, readonly AskedKey[]>(typesKept);
  const keysOfType = (type: DeviceType): readonly AskedKey[] => {
    const name = `${type.id} ${type.version}`;
    const kept = known.use(name);
    if (kept !== undefined) return kept;
    const schemas = withCalculated('', declaredSchemas(type.schemas), type.calculatedKeys);
    const keys = keysOf(schemas);
    known.set(name, keys);
    return keys;
  };
  const askParts: AskParts = {
    records,
    now,
    async keysOfWorkspace(workspaceId) {
      const types = await typesOfWorkspace(workspaceId, typesMax);
      return types.flatMap(keysOfType);
    },
    async keysOfDevice(deviceId) {
      const type = await typeOfDevice(deviceId);
      const schemas = await inferSchema(deviceId, type?.schemas ?? {}, store, now());
      return keysOf(withCalculated(deviceId, schemas, type?.calculatedKeys ?? []));
    },
  };
  return route(asking.ask, ({ query: { q, workspaceId, timeZone } }, principal) => {
    const zone = () => calendars.zoneOf(timeZone, workspaceId);
    return ask(askParts, principal, { q, workspaceId, zone });
  });
}

function keysOf(schemas: Readonly<Record<string, TopicSchema>>): AskedKey[] {
  return Object.entries(schemas).flatMap(([topic, { properties }]) =>
    Object.entries(properties).map(([dataKey, property]) => {
      const { title, unit } = (property ?? {}) as JsonObject;
      return {
        topic,
        dataKey,
        title: typeof title === 'string' ? title : null,
        unit: typeof unit === 'string' ? unit : null,
      };
    }),
  );
}
