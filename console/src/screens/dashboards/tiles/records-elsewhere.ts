// Records elsewhere: which records of another workspace are those that a tile or dashboard names, found by their names.
import { queryOptions } from '@tanstack/react-query';
import { ask, platform, Refusal } from '../../../api/platform.ts';
import type { NamedRecord, RecordKind } from './moved-tile.ts';

export interface RecordElsewhere extends NamedRecord {
  /** Its name here, or its id if it is gone or may not be read. */
  readonly name: string;
  /** Undefined unless exactly one record there has the name. */
  readonly idThere: string | undefined;
}

/**
 * Physical ids are unique in the organization, so devices are matched by name like everything else.
 * A picture is of its workspace alone.
 */
export const recordsElsewhere = (here: string, there: string, records: readonly NamedRecord[]) =>
  queryOptions({
    queryKey: ['records elsewhere', there, records],
    enabled: records.length > 0,
    queryFn: async ({ signal }): Promise<readonly RecordElsewhere[]> => {
      const devices = records.filter(({ kind }) => kind === 'device').map(({ id }) => id);
      const rest = records.filter(({ kind }) => kind !== 'device');
      const byId = await devicesElsewhere(here, there, devices, signal);
      const others: RecordElsewhere[] = [];
      for (let from = 0; from < rest.length; from += atOnce)
        others.push(
          ...(await Promise.all(
            rest.slice(from, from + atOnce).map((one) => recordElsewhere(there, one, signal)),
          )),
        );
      const found = devices.map((id) => {
        return {
          kind: 'device' as const,
          id,
          ...(byId.get(id) ?? { name: id, idThere: undefined }),
        };
      });
      return [...found, ...others];
    },
  });

/** Of one request; more devices of these names are not told apart. */
const rowsMax = 1_000;
/** Names and ids of one request. */
const namesMax = 100;
/** Other records that are looked for at the same time. */
const atOnce = 8;

async function devicesElsewhere(
  here: string,
  there: string,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<Map<string, Pick<RecordElsewhere, 'name' | 'idThere'>>> {
  const found = new Map<string, Pick<RecordElsewhere, 'name' | 'idThere'>>();
  for (let from = 0; from < ids.length; from += namesMax) {
    const query = {
      workspaceId: here,
      assetIds: ids.slice(from, from + namesMax).join(),
      fields: 'id,name',
      size: namesMax,
    };
    const own = await ask(platform.GET('/v3/assets', { signal, params: { query } }));
    const names = [...new Set(own.content.map(({ name }) => name))];
    if (names.length === 0) continue;
    const others = await ask(
      platform.POST('/v3/assets/list', {
        signal,
        params: { query: { fields: 'id,name', size: rowsMax } },
        body: {
          workspaceIds: [there],
          expression: { field: 'name', predicate: 'IN', values: names },
        },
      }),
    );
    const isWhole = others.totalElements <= others.content.length;
    for (const { id, name } of own.content) {
      const [one, second] = others.content.filter((device) => device.name === name);
      const isAlone = isWhole && second === undefined;
      found.set(id, { name, idThere: isAlone ? one?.id : undefined });
    }
  }
  return found;
}

interface Lookup {
  /** What it is called; of a place, the names of its path. */
  readonly name: (id: string, signal: AbortSignal) => Promise<string>;
  /** Ids of those with exactly this name. */
  readonly find: (workspaceId: string, name: string, signal: AbortSignal) => Promise<string[]>;
}

const lookups: Readonly<Record<Exclude<RecordKind, 'device'>, Lookup>> = {
  tag: {
    name: async (id, signal) =>
      (await ask(platform.GET('/v3/tags/{id}', { signal, params: { path: { id } } }))).name,
    find: async (workspaceId, name, signal) =>
      named(name, await ask(platform.GET('/v3/tags', searched(workspaceId, name, signal)))),
  },
  place: {
    name: async (id, signal) =>
      pathOf(await ask(platform.GET('/v3/places/{id}', { signal, params: { path: { id } } }))),
    find: async (workspaceId, path, signal) => {
      const last = path.split(separator).at(-1) ?? path;
      const { content } = await ask(
        platform.GET('/v3/places', searched(workspaceId, last, signal)),
      );
      return content.filter((place) => pathOf(place) === path).map(({ id }) => id);
    },
  },
  field: {
    name: async (id, signal) => {
      const params = { path: { id } };
      return (await ask(platform.GET('/v3/custom-fields/meta/{id}', { signal, params }))).name;
    },
    find: async (workspaceId, name, signal) =>
      named(
        name,
        await ask(platform.GET('/v3/custom-fields/meta', searched(workspaceId, name, signal))),
      ),
  },
  dashboard: {
    name: async (id, signal) =>
      (await ask(platform.GET('/v3/dashboards/{id}', { signal, params: { path: { id } } }))).name,
    find: async (workspaceId, name, signal) =>
      named(name, await ask(platform.GET('/v3/dashboards', searched(workspaceId, name, signal)))),
  },
  rule: {
    name: async (id, signal) =>
      (await ask(platform.GET('/v3/rules/{id}', { signal, params: { path: { id } } }))).name,
    find: async (workspaceId, name, signal) =>
      named(name, await ask(platform.GET('/v3/rules', searched(workspaceId, name, signal)))),
  },
  picture: {
    name: async (id, signal) =>
      (await ask(platform.GET('/v3/blobs/{id}', { signal, params: { path: { id } } }))).name ?? id,
    find: () => Promise.resolve([]),
  },
};

const separator = ' / ';
const pathOf = ({ path }: { readonly path: readonly { readonly name: string }[] }): string =>
  path.map(({ name }) => name).join(separator);

function searched(workspaceId: string, search: string, signal: AbortSignal) {
  return { signal, params: { query: { workspaceId, search, size: rowsMax } } };
}

interface Page {
  readonly content: readonly { readonly id: string; readonly name: string }[];
}

function named(name: string, { content }: Page): string[] {
  return content.filter((one) => one.name === name).map(({ id }) => id);
}

async function recordElsewhere(
  workspaceId: string,
  { kind, id }: NamedRecord,
  signal: AbortSignal,
): Promise<RecordElsewhere> {
  if (kind === 'device') throw new Error('devices are found together');
  const lookup = lookups[kind];
  const nothing = { kind, id, name: id, idThere: undefined };
  let name: string;
  try {
    name = await lookup.name(id, signal);
  } catch (error) {
    if (!(error instanceof Refusal) || ![403, 404].includes(error.status)) throw error;
    return nothing;
  }
  const [one, second] = await lookup.find(workspaceId, name, signal);
  return { ...nothing, name, idThere: second === undefined ? one : undefined };
}
