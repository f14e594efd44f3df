// API schemas of pages: the envelope around the items of a list (interface 2.2, contract 0.1).
import Type, { type Static, type TSchema } from 'typebox';
import type { Page, unpagedOf } from '../model/page.ts';
import { namedObject } from './named.ts';

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
