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
  const inLine = line === undefined ? '' : `, in line ${line}`;
  return `byte ${byte}${inLine}, in sample ${index}`;
}

function storedBefore({ accepted, duplicates, rejected }: BackfillOutcome): string {
  if (accepted + duplicates + rejected.length === 0) return 'Nothing was stored';
  return (
    `Of the samples before, ${accepted} were stored, ${duplicates} were stored already and ${rejected.length} rejected; ` +
    'sending samples with the same timestamps again stores none of them twice'
  );
}

export const backfillProblems = {
  olderThanRetention: {
    status: 400,
    code: '40051_OLDER_THAN_RETENTION',
    message: (d: { timestamp: string; keptDays: number }) =>
      `The sample is dated ${d.timestamp}, older than the retention of ${d.keptDays} days, which would remove it at once`,
  },
  backfillRejected: {
    status: 400,
    code: '40044_BACKFILL_REJECTED',
    message: ({ rejected }: BackfillOutcome) => {
      const reason = rejected[0]?.message ?? '';
      if (rejected.length === 1) return `The sample was rejected: ${reason}`;
      return `All ${rejected.length} samples were rejected; the first: ${reason}`;
    },
  },
  backfillBroken: {
    status: 400,
    code: '40045_BACKFILL_BROKEN',
    message: (d: BackfillOutcome & BrokenPlace & { reason: string }) =>
      `The body breaks at ${placeText(d)}: ${d.reason}. ${storedBefore(d)}`,
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
      `The request has more than ${d.limit}: send it in parts. ${storedBefore(d)}`,
  },
  backfillInterrupted: {
    status: 503,
    code: '50303_BACKFILL_INTERRUPTED',
    message: (d: BackfillOutcome) => `The server stopped taking samples. ${storedBefore(d)}`,
  },
  backfillStorageFull: {
    status: 507,
    code: '50701_BACKFILL_STORAGE_FULL',
    message: (d: BackfillOutcome) => `The disk is full. ${storedBefore(d)}`,
  },
} as const satisfies Record<string, ProblemRow>;
