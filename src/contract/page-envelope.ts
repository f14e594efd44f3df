// The wire form of pages: the envelope around the items of a list (interface 2.2, contract 0.1).
import Type, { type Static, type TSchema } from 'typebox';
import type { Page, unpagedOf } from '../model/page.ts';

/** The envelope around items of a schema. */
export function pageSchema<T extends TSchema>(item: T) {
  return Type.Unsafe<Page<Static<T>>>(Type.Object({ ...envelopeOf(item), pageable: pageableSchema }));
}

/** The envelope of a list that is answered whole. */
export function unpagedSchema<T extends TSchema>(item: T) {
  const pageable = Type.Literal('INSTANCE');
  return Type.Unsafe<ReturnType<typeof unpagedOf<Static<T>>>>(Type.Object({ ...envelopeOf(item), pageable }));
}

const sort = Type.Object({ empty: Type.Boolean(), sorted: Type.Boolean(), unsorted: Type.Boolean() });
const pageableSchema = Type.Object({
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
