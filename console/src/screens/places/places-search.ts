// Address of the places screen: the search of the tree, the page of a list, what colors the plan, and the time that is shown.
import { type ListSearch, readListSearch } from '../../ui/list-search.ts';
import { type RangeSearch, readRangeSearch } from '../dashboards/dashboard-search.ts';

export interface PlacesSearch extends ListSearch, RangeSearch {
  /** Topic and data key, separated by a space, which topics do not have. */
  readonly color?: string;
}

export function readPlacesSearch(search: Record<string, unknown>): PlacesSearch {
  const { color } = search;
  return {
    ...readListSearch(search),
    ...readRangeSearch(search),
    ...(typeof color === 'string' && color.includes(' ') ? { color } : {}),
  };
}
