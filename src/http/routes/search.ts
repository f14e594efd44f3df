// Route of the search over all records (contract 37).
import { searching } from '../../contract/search.ts';
import { search } from '../../inventory/search/search.ts';
import { problem } from '../../model/problem.ts';
import { type SearchKind, searchKinds } from '../../model/search.ts';
import { listOf, listScopeOf } from '../edge/list-query.ts';
import { type Route, route } from '../edge/route.ts';
import type { RecordParts } from './record-routes.ts';

export function searchRoute({ records }: RecordParts): Route {
  return route(searching.search, ({ query }, principal) =>
    search(records, principal, {
      q: query.q,
      limit: query.limit,
      kinds: listOf(query, 'kinds')?.map(kindNamed),
      ...listScopeOf(query),
    }),
  );
}

/** `DEVICE_TYPE` or `deviceType`. */
function kindNamed(name: string): SearchKind {
  const plain = (word: string) => word.replaceAll('_', '').toLowerCase();
  const kind = searchKinds.find((known) => plain(known) === plain(name));
  if (kind !== undefined) return kind;
  const known = searchKinds.join(', ');
  throw problem('invalidRequest', {
    reason: `query kinds: unknown kind ${name}; valid kinds: ${known}`,
  });
}
