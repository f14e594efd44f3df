// Problems of the databases of records and samples: rows of the table in problem.ts.
import type { ProblemRow } from './problem-row.ts';

export const recordsProblems = {
  recordsFailed: {
    status: 503,
    code: '50304_RECORDS_FAILED',
    message: (d: { reason: string }) =>
      `The disk refused to read or write the records: ${d.reason}`,
  },
  recordsBusy: {
    status: 503,
    code: '50305_RECORDS_BUSY',
    message:
      'The records are locked by another program, or took too long to answer; nothing was stored',
  },
  recordsStopped: {
    status: 503,
    code: '50306_RECORDS_STOPPED',
    message: (d: { reason: string }) =>
      `Writing records has stopped after a disk error (${d.reason}); a restart is needed`,
  },
  samplesUnreachable: {
    status: 503,
    code: '50308_SAMPLES_UNREACHABLE',
    message: 'The database of the samples cannot be reached now; send the request again',
  },
  samplesBusy: {
    status: 503,
    code: '50309_SAMPLES_BUSY',
    message: 'The database of the samples took too long to answer; send the request again',
  },
  recordsUnreachable: {
    status: 503,
    code: '50307_RECORDS_UNREACHABLE',
    message: 'The database of the records cannot be reached now; send the request again',
  },
} as const satisfies Record<string, ProblemRow>;
