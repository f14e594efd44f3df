// Query parameters of lists: page, size, order, search, and lists in the four forms that clients send (contract 0.1).
import Type from 'typebox';
import { pageSizeMax } from '../model/page.ts';

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
