// Problems of a cluster of nodes: rows of the table in problem.ts.
import type { ProblemRow } from './problem-row.ts';

export const nodeProblems = {
  deviceWithoutOwner: {
    status: 503,
    code: '50310_DEVICE_WITHOUT_OWNER',
    message: 'No node serves the device at present; send again after the time in Retry-After',
  },
  deviceMoved: {
    status: 503,
    code: '50311_DEVICE_MOVED',
    message:
      'The device moved to another node before the request was done; send again after the time in Retry-After',
  },
  deviceMovedMeanwhile: {
    status: 503,
    code: '50314_DEVICE_MOVED_MEANWHILE',
    message:
      'The device moved to another node while the request was in progress, and part of it may be stored; send again after the time in Retry-After',
  },
  nodeUnreachable: {
    status: 503,
    code: '50312_NODE_UNREACHABLE',
    message:
      'The node that serves the device did not answer; send again after the time in Retry-After',
  },
  requestUnderWay: {
    status: 409,
    code: '40920_REQUEST_UNDER_WAY',
    message:
      'Another request with this Idempotency-Key has no answer yet; send again after some seconds',
  },
} as const satisfies Record<string, ProblemRow>;
