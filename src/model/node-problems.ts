// Problems of a cluster of nodes: rows of the table in problem.ts.
import type { ProblemRow } from './problem-row.ts';

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
