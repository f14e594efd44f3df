// Problems of quotas: rows of the table in problem.ts. `limitName` is the name of the quota in quota.ts.
import type { ProblemRow } from './problem-row.ts';

interface Reached {
  readonly limitName: string;
  readonly limitMax: number;
  /** Whose limit it is: organization, device or uplink. */
  readonly per: string;
  readonly what: string;
}

const reached = ({ limitName, limitMax, per, what }: Reached): string =>
  `Quota reached: ${limitMax} ${what} per ${per} (limit ${limitName})`;

export const quotaProblems = {
  /** For stored records: a later request fails too. */
  quotaReached: { status: 409, code: '40910_QUOTA_REACHED', message: reached },
  /** For temporary use: the same request can succeed later. */
  quotaBusy: {
    status: 429,
    code: '42910_QUOTA_BUSY',
    message: (d: Reached & { retryAfterSeconds: number }) =>
      `${reached(d)}. Try again in ${d.retryAfterSeconds} s.`,
  },
} as const satisfies Record<string, ProblemRow>;
