// Search of the audit log: the page, and the person and the kind of record that it is limited to.
import { readPage } from '../../../ui/list-search.ts';

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
