// Query parameters of lists: page, size, order, search, and lists in the four forms that clients send (contract 0.1).
import Type from 'typebox';
import { pageSizeMax } from '../model/page.ts';

const listValue = Type.Union([Type.String(), Type.Array(Type.String())]);

/** `[a, b]`, `a,b` or repeated; the handler reads `name[]` as well. */
export const listParameter = Type.Optional(listValue);

/** The edge narrows the rows of every list that takes it. */
const fields = Type.Optional(
  Type.Union([Type.String(), Type.Array(Type.String())], {
    description: 'Members of the rows, as in `id,name`: the answer has only these. All by default',
  }),
);

export const pageParameters = {
  page: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 1_000_000, description: 'Zero-based page number' }),
  ),
  size: Type.Optional(
    Type.Integer({ minimum: 1, maximum: pageSizeMax, description: 'Items a page' }),
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
  const description = `Field and direction, as in ${sortFields[0]},asc or asc,${sortFields[0]}; repeatable. Fields: ${sortFields.join(', ')}`;
  return {
    ...pageParameters,
    fields,
    sort: Type.Optional(Type.Unsafe<string | string[]>({ ...listValue, description })),
    search: Type.Optional(
      Type.String({
        maxLength: 500,
        description: 'Part of a name, in any case; of devices also of their ids',
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
