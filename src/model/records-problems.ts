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

// Problems of stored samples that are damaged: rows of the table in problem.ts.

export const damageProblems = {
  samplesDamaged: {
    status: 500,
    code: '50010_SAMPLES_DAMAGED',
    message: (d: { deviceId: string; topic: string; from: string; to: string; place: string }) =>
      `Samples of device ${d.deviceId}, topic ${d.topic}, from ${d.from} to ${d.to} are corrupted on disk (${d.place}). ` +
      'Query another interval, or ask the operator to restore them from a backup.',
  },
};

// Problems of a cluster of nodes: rows of the table in problem.ts.

export const nodeProblems = {
  deviceWithoutOwner: {
    status: 503,
    code: '50310_DEVICE_WITHOUT_OWNER',
    message: 'No node currently serves this device. Retry after the time in Retry-After.',
  },
  deviceMoved: {
    status: 503,
    code: '50311_DEVICE_MOVED',
    message:
      'The device moved to another node before the request was processed. Retry after the time in Retry-After.',
  },
  deviceMovedMeanwhile: {
    status: 503,
    code: '50314_DEVICE_MOVED_MEANWHILE',
    message:
      'The device moved to another node during the request, which may be partly stored. Retry after the time in Retry-After; identical samples are stored once.',
  },
  nodeUnreachable: {
    status: 503,
    code: '50312_NODE_UNREACHABLE',
    message:
      'The node that serves this device did not respond. Retry after the time in Retry-After.',
  },
  requestUnderWay: {
    status: 409,
    code: '40920_REQUEST_UNDER_WAY',
    message: 'A request with this Idempotency-Key is still in progress. Retry in a few seconds.',
  },
} as const satisfies Record<string, ProblemRow>;
