// Named resources: they decide in which organization a user of several acts (contract 36).
import { listOf } from './list-query.ts';

/** Ids, as many as are looked at: the first that exists decides. */
export interface NamedPlaces {
  readonly organizationId: string | undefined;
  readonly workspaceIds: readonly string[];
  readonly deviceIds: readonly string[];
}

const idsMax = 20;

/** Of a query string or a body; the ids of a `filter` in a body count like its own. */
export function namedPlaces(sent: unknown): NamedPlaces {
  const own = objectOf(sent);
  const members = { ...objectOf((own as { readonly filter?: unknown }).filter), ...own };
  const { organizationId } = members as { readonly organizationId?: unknown };
  const ids = (...names: string[]) =>
    names.flatMap((name) => listOf(members, name) ?? []).slice(0, idsMax);
  return {
    organizationId: typeof organizationId === 'string' ? organizationId : undefined,
    workspaceIds: ids('workspaceId', 'workspaceIds'),
    deviceIds: ids('deviceIds', 'assetIds', 'assetId'),
  };
}

function objectOf(sent: unknown): object {
  return typeof sent === 'object' && sent !== null ? sent : {};
}
