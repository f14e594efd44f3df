// Problems of backfills: rows of the table in problem.ts.
import type { ProblemRow } from './problem-row.ts';

/** The result for the samples of a backfill so far; error bodies contain it too. */
type BackfillOutcome = {
  readonly accepted: number;
  readonly duplicates: number;
  readonly rejected: readonly {
    readonly index: number;
    readonly errorCode: string;
    readonly message: string;
  }[];
};

type BrokenPlace = {
  readonly index: number;
  readonly byte: number;
  readonly line?: number;
};

function placeText({ byte, line, index }: BrokenPlace): string {
  const inLine = line === undefined ? '' : `line ${line}, `;
  return `sample ${index} (${inLine}byte ${byte})`;
}

function storedBefore({ accepted, duplicates, rejected }: BackfillOutcome): string {
  if (accepted + duplicates + rejected.length === 0) return 'Nothing was stored';
  return (
    `Before that, ${accepted} samples were stored, ${duplicates} were duplicates, and ${rejected.length} were rejected. ` +
    'Resending is safe: identical samples are stored once'
  );
}

export const backfillProblems = {
  olderThanRetention: {
    status: 400,
    code: '40051_OLDER_THAN_RETENTION',
    message: (d: { timestamp: string; keptDays: number }) =>
      `The sample timestamp ${d.timestamp} is older than the retention of ${d.keptDays} days, which would delete the sample at once`,
  },
  backfillRejected: {
    status: 400,
    code: '40044_BACKFILL_REJECTED',
    message: ({ rejected }: BackfillOutcome) => {
      const reason = rejected[0]?.message ?? '';
      if (rejected.length === 1) return `The sample was rejected: ${reason}`;
      return `All ${rejected.length} samples were rejected. First reason: ${reason}`;
    },
  },
  backfillBroken: {
    status: 400,
    code: '40045_BACKFILL_BROKEN',
    message: (d: BackfillOutcome & BrokenPlace & { reason: string }) =>
      `The body is invalid at ${placeText(d)}: ${d.reason}. ${storedBefore(d)}`,
  },
  backfillUnreadable: {
    status: 400,
    code: '40052_BACKFILL_UNREADABLE',
    message: (d: BackfillOutcome & { reason: string }) => `${d.reason}. ${storedBefore(d)}`,
  },
  backfillTooLarge: {
    status: 413,
    code: '41301_BACKFILL_TOO_LARGE',
    message: (d: BackfillOutcome & { limit: string }) =>
      `The request exceeds ${d.limit}. Split it into smaller requests. ${storedBefore(d)}`,
  },
  backfillInterrupted: {
    status: 503,
    code: '50303_BACKFILL_INTERRUPTED',
    message: (d: BackfillOutcome) => `The platform is shutting down. ${storedBefore(d)}`,
  },
  backfillStorageFull: {
    status: 507,
    code: '50701_BACKFILL_STORAGE_FULL',
    message: (d: BackfillOutcome) => `The disk is full. ${storedBefore(d)}`,
  },
} as const satisfies Record<string, ProblemRow>;
