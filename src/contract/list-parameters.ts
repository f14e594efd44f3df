// Query parameters of lists: page, size, order, search, and lists in the four forms that clients send (contract 0.1).
import Type, { type Static, type TSchema } from 'typebox';
import { type Page, pageSizeMax, type unpagedOf } from '../model/page.ts';
import { namedObject } from './named.ts';

const listValue = Type.Union([Type.String(), Type.Array(Type.String())]);

/** `[a, b]`, `a,b` or repeated; the handler reads `name[]` as well. */
export const listParameter = Type.Optional(listValue);

/** The edge narrows the rows of every list that takes it. */
const fields = Type.Optional(
  Type.Union([Type.String(), Type.Array(Type.String())], {
    description:
      'Comma-separated properties of the items to return, such as `id,name`. Others are then absent, also those that the schema requires. Defaults to all.',
  }),
);

export const pageParameters = {
  page: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 1_000_000, description: 'Zero-based page number.' }),
  ),
  size: Type.Optional(
    Type.Integer({ minimum: 1, maximum: pageSizeMax, description: 'Number of items per page.' }),
  ),
} as const;

/** What most lists can be ordered by. */
export const commonSortFields = [
  'id',
  'name',
  'description',
  'created',
  'updated',
  'version',
] as const;

/**
 * `sortFields` are those that the list takes; a test compares them with what it refuses (contract
 * 36).
 */
export function listParameters(sortFields: readonly string[] = commonSortFields) {
  const description = `Sort field and direction, such as \`${sortFields[0]},asc\`. Repeatable. Fields: ${sortFields.join(', ')}.`;
  return {
    ...pageParameters,
    fields,
    sort: Type.Optional(Type.Unsafe<string | string[]>({ ...listValue, description })),
    search: Type.Optional(
      Type.String({
        maxLength: 500,
        description: 'Case-insensitive search in names, and in device IDs.',
      }),
    ),
  } as const;
}

/** What narrows a list of workspace records. */
export function workspaceListParameters(sortFields?: readonly string[]) {
  return {
    ...listParameters(sortFields),
    organizationId: Type.Optional(Type.String()),
    workspaceId: listParameter,
    workspaceIds: listParameter,
  } as const;
}

// API schemas of pages: the envelope around the items of a list (interface 2.2, contract 0.1).

/** The envelope around items of a schema. */
export function pageSchema<T extends TSchema>(item: T) {
  const page = { ...envelopeOf(item), pageable: pageableSchema };
  return Type.Unsafe<Page<Static<T>>>(namedObject(`${nameOf(item)}Page`, page));
}

/** The envelope of a list that is answered whole. */
export function unpagedSchema<T extends TSchema>(item: T) {
  const pageable = Type.Literal('INSTANCE');
  const unpaged = { ...envelopeOf(item), pageable };
  return Type.Unsafe<ReturnType<typeof unpagedOf<Static<T>>>>(
    namedObject(`${nameOf(item)}List`, unpaged),
  );
}

const sort = namedObject('Sort', {
  empty: Type.Boolean(),
  sorted: Type.Boolean(),
  unsorted: Type.Boolean(),
});
const pageableSchema = namedObject('Pageable', {
  sort,
  offset: Type.Integer(),
  pageNumber: Type.Integer(),
  pageSize: Type.Integer(),
  paged: Type.Boolean(),
  unpaged: Type.Boolean(),
});

function envelopeOf<T extends TSchema>(item: T) {
  return {
    content: Type.Array(item),
    sort,
    totalPages: Type.Integer(),
    totalElements: Type.Integer(),
    size: Type.Integer(),
    number: Type.Integer(),
    numberOfElements: Type.Integer(),
    first: Type.Boolean(),
    last: Type.Boolean(),
    empty: Type.Boolean(),
  };
}

function nameOf(item: TSchema): string {
  const { title } = item as { readonly title?: string };
  if (title === undefined) throw new Error('The items of a page need a named schema');
  return title;
}
