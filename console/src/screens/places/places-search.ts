// Address of the places screen: the search of the tree, the page of a list, and what colors the plan.
import { type ListSearch, readListSearch } from '../../ui/list-search.ts';

export interface PlacesSearch extends ListSearch {
  /** Topic and data key, separated by a space, which topics do not have. */
  readonly color?: string;
}

export function readPlacesSearch(search: Record<string, unknown>): PlacesSearch {
  const { color } = search;
  return {
    ...readListSearch(search),
    ...(typeof color === 'string' && color.includes(' ') ? { color } : {}),
  };
}
