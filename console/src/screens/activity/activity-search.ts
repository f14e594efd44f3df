// Addresses of the activity and of the audit log: person, range, page, and the open request.
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

// Search of the audit log: the page, and the person and the kind of record that it is limited to.

export interface AuditSearch {
  readonly page?: number;
  /** Id of a user, a key or a client. */
  readonly actor?: string;
  /** Kind of record, such as `DEVICE`. */
  readonly kind?: string;
}

export function readAuditSearch(search: Record<string, unknown>): AuditSearch {
  const { actor, kind } = search;
  return {
    ...readPage(search),
    // An id of digits arrives as a number.
    ...((typeof actor === 'string' || typeof actor === 'number') && { actor: String(actor) }),
    ...(typeof kind === 'string' && { kind }),
  };
}
