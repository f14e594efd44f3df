// Problems of the databases of records and samples: rows of the table in problem.ts.
import type { ProblemRow } from './problem-row.ts';

export const recordsProblems = {
  recordsFailed: {
    status: 503,
    code: '50304_RECORDS_FAILED',
    message: (d: { reason: string }) =>
      `The disk failed while reading or writing records: ${d.reason}`,
  },
  recordsBusy: {
    status: 503,
    code: '50305_RECORDS_BUSY',
    message: 'The database is locked or did not respond in time. Nothing was stored.',
  },
  recordsStopped: {
    status: 503,
    code: '50306_RECORDS_STOPPED',
    message: (d: { reason: string }) =>
      `Writes are stopped after a disk error (${d.reason}). The platform must be restarted.`,
  },
  samplesUnreachable: {
    status: 503,
    code: '50308_SAMPLES_UNREACHABLE',
    message: 'The sample database is unreachable. Try again later.',
  },
  samplesBusy: {
    status: 503,
    code: '50309_SAMPLES_BUSY',
    message: 'The sample database did not respond in time. Try again later.',
  },
  recordsUnreachable: {
    status: 503,
    code: '50307_RECORDS_UNREACHABLE',
    message: 'The record database is unreachable. Try again later.',
  },
} as const satisfies Record<string, ProblemRow>;
