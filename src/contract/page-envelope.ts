// The wire form of pages: the envelope around the items of a list (interface 2.2, contract 0.1).
import Type, { type Static, type TSchema } from 'typebox';
import type { Page } from '../model/page.ts';

/** The envelope around items of a schema. */
export function pageSchema<T extends TSchema>(item: T) {
  const sort = Type.Object({ empty: Type.Boolean(), sorted: Type.Boolean(), unsorted: Type.Boolean() });
  const envelope = Type.Object({
    content: Type.Array(item),
    pageable: Type.Object({
      sort,
      offset: Type.Integer(),
      pageNumber: Type.Integer(),
      pageSize: Type.Integer(),
      paged: Type.Boolean(),
      unpaged: Type.Boolean(),
    }),
    sort,
    totalPages: Type.Integer(),
    totalElements: Type.Integer(),
    size: Type.Integer(),
    number: Type.Integer(),
    numberOfElements: Type.Integer(),
    first: Type.Boolean(),
    last: Type.Boolean(),
    empty: Type.Boolean(),
  });
  return Type.Unsafe<Page<Static<T>>>(envelope);
}
