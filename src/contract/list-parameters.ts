// Query parameters of lists: page, size, order, search, and lists in the four forms that clients send (contract 0.1).
import Type from 'typebox';
import { pageSizeMax } from '../model/page.ts';

const listValue = Type.Union([Type.String(), Type.Array(Type.String())]);

/** `[a, b]`, `a,b` or repeated; the handler reads `name[]` as well. */
export const listParameter = Type.Optional(listValue);

export const listParameters = {
  page: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000, description: 'Zero-based page number' })),
  size: Type.Optional(Type.Integer({ minimum: 1, maximum: pageSizeMax, description: 'Items a page' })),
  sort: Type.Optional(
    Type.Unsafe<string | string[]>({
      ...listValue,
      description:
        'Field and direction: name,asc or asc,name; repeatable. A field that the list does not have is a 400 that names its own',
    }),
  ),
  search: Type.Optional(
    Type.String({ maxLength: 500, description: 'Part of a name, in any case; of devices also of their ids' }),
  ),
} as const;

/** What narrows a list of workspace records. */
export const workspaceListParameters = {
  ...listParameters,
  organizationId: Type.Optional(Type.String()),
  workspaceId: listParameter,
  workspaceIds: listParameter,
} as const;
