// Address of the activity: who, since when, the page, and the request that is open.
import { readPage } from '../../ui/list-search.ts';

export const activityRanges = ['24h', '7d', '30d'] as const;
export type ActivityRange = (typeof activityRanges)[number];

/** What the address says; everything without a range. */
export interface ActivitySearch {
  readonly by?: string;
  readonly range?: ActivityRange;
  readonly page?: number;
  /** Id of the activity whose details are shown. */
  readonly open?: string;
}

export function readActivitySearch(search: Record<string, unknown>): ActivitySearch {
  const { by, open } = search;
  const range = activityRanges.find((one) => one === search['range']);
  return {
    ...(isWord(by) ? { by: String(by) } : {}),
    ...(range === undefined ? {} : { range }),
    ...readPage(search),
    ...(isWord(open) ? { open: String(open) } : {}),
  };
}

// An id of only digits is a number to the router.
function isWord(value: unknown): boolean {
  return (typeof value === 'string' && value !== '') || typeof value === 'number';
}
