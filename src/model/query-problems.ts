// Problems of sample queries and data streams: rows of the table in problem.ts.
import type { ProblemRow } from './problem-row.ts';

export const queryProblems = {
  badInterval: {
    status: 400,
    code: '40030_BAD_INTERVAL',
    message: (d: { reason: string }) => `The interval cannot be used: ${d.reason}`,
  },
  badBucketInterval: {
    status: 400,
    code: '40031_BAD_BUCKET_INTERVAL',
    message: (d: { bucketInterval: string; reason: string }) =>
      `bucketInterval ${d.bucketInterval} cannot be used: ${d.reason}`,
  },
  tooManyBuckets: {
    status: 400,
    code: '40032_TOO_MANY_BUCKETS',
    message: (d: {
      buckets: number;
      bucketsMax: number;
      bucketInterval: string;
      suggestion: string;
    }) =>
      `The interval has ${d.buckets} buckets of ${d.bucketInterval}, and at most ${d.bucketsMax} are answered: ` +
      `shorten the interval, or choose a bucketInterval of at least ${d.suggestion}`,
  },
  unknownAccumulator: {
    status: 400,
    code: '40033_UNKNOWN_ACCUMULATOR',
    message: (d: { accumulator: string; valid: readonly string[] }) =>
      `There is no accumulator ${d.accumulator}; valid are ${d.valid.join(', ')}`,
  },
  unknownTimeZone: {
    status: 400,
    code: '40034_UNKNOWN_TIME_ZONE',
    message: (d: { timeZone: string }) =>
      `There is no time zone ${d.timeZone}; send an IANA name such as Europe/Zurich`,
  },
  badBound: {
    status: 400,
    code: '40035_BAD_BOUND',
    message: (d: { bound: string; value: string }) =>
      `${d.bound} is ${d.value}, which is no ISO-8601 date-time such as 2026-01-31T08:00:00Z`,
  },
  tooManyPoints: {
    status: 400,
    code: '40036_TOO_MANY_POINTS',
    message: (d: { points: number; pointsMax: number; devices: number }) =>
      `The series of ${d.devices} devices have ${d.points} points, and at most ${d.pointsMax} are answered: ` +
      'ask for fewer devices, a shorter interval or a longer bucketInterval',
  },
  noSample: {
    status: 404,
    code: '40430_NO_SAMPLE',
    message: (d: { deviceId: string }) => `Device ${d.deviceId} has no sample`,
  },
  cursorTooOld: {
    status: 410,
    code: '41000_CURSOR_TOO_OLD',
    message: (d: { oldest: string }) =>
      `The cursor is older than what is kept; the oldest is ${d.oldest}`,
  },
} as const satisfies Record<string, ProblemRow>;
