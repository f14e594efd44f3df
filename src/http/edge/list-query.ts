// List queries: pages, orders and lists, in every form that clients send (contract 0.1).
import { type PageRequest, pageSizeDefault, type SortOrder } from '../../model/page.ts';

const sortFieldsMax = 5;

export function pageRequestOf(
  query: {
    readonly page?: number | undefined;
    readonly size?: number | undefined;
    readonly sort?: string | readonly string[] | undefined;
  },
  sizeDefault: number = pageSizeDefault,
): PageRequest {
  const size = query.size ?? sizeDefault;
  const sorts = [query.sort ?? []].flat();
  return { page: query.page ?? 0, size, sort: sorts.slice(0, sortFieldsMax).flatMap(sortOrders) };
}

/** `name,asc`, `asc,name`, a bare field, or several fields before one direction. */
function sortOrders(text: string): SortOrder[] {
  const words = text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
  const isDirection = (word: string) => /^(asc|desc)$/i.test(word);
  const isDescending = words.find(isDirection)?.toLowerCase() === 'desc';
  const direction = isDescending ? 'desc' : 'asc';
  return words.filter((word) => !isDirection(word)).map((field) => ({ field, direction }));
}

/**
 * A list parameter as `[a, b]`, `a,b`, repeated, or under `name[]`; undefined when none was sent.
 */
export function listOf(query: object, name: string): string[] | undefined {
  const parameters = query as Readonly<Record<string, unknown>>;
  const sent = [parameters[name], parameters[`${name}[]`]]
    .flat()
    .filter((value) => typeof value === 'string');
  if (sent.length === 0) return undefined;
  const values = sent.flatMap((value) =>
    value
      .trim()
      .replace(/^\[(.*)\]$/s, '$1')
      .split(','),
  );
  const wanted = values.map((value) => value.trim()).filter((value) => value !== '');
  if (wanted.length > 0) return wanted;
  return undefined;
}

/** The workspaces a list is asked for, under either name. */
export function listScopeOf(query: { readonly organizationId?: string | undefined }) {
  const workspaceIds = [
    ...(listOf(query, 'workspaceId') ?? []),
    ...(listOf(query, 'workspaceIds') ?? []),
  ];
  return { organizationId: query.organizationId, workspaceIds };
}
