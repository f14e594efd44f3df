// Problems of sample queries and data streams: rows of the table in problem.ts.
import type { ProblemRow } from './problem-row.ts';

export const queryProblems = {
  badInterval: {
    status: 400,
    code: '40030_BAD_INTERVAL',
    message: (d: { reason: string }) => `Invalid interval: ${d.reason}`,
  },
  badBucketInterval: {
    status: 400,
    code: '40031_BAD_BUCKET_INTERVAL',
    message: (d: { bucketInterval: string; reason: string }) =>
      `Invalid bucketInterval ${d.bucketInterval}: ${d.reason}`,
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
      `The interval contains ${d.buckets} buckets of ${d.bucketInterval}; the maximum is ${d.bucketsMax}. ` +
      `Shorten the interval, or use a bucketInterval of at least ${d.suggestion}.`,
  },
  unknownAccumulator: {
    status: 400,
    code: '40033_UNKNOWN_ACCUMULATOR',
    message: (d: { accumulator: string; valid: readonly string[] }) =>
      `Unknown accumulator ${d.accumulator}. Valid values: ${d.valid.join(', ')}.`,
  },
  unknownTimeZone: {
    status: 400,
    code: '40034_UNKNOWN_TIME_ZONE',
    message: (d: { timeZone: string }) =>
      `Unknown time zone ${d.timeZone}. Use an IANA name such as Europe/Zurich.`,
  },
  badBound: {
    status: 400,
    code: '40035_BAD_BOUND',
    message: (d: { bound: string; value: string }) =>
      `Invalid ${d.bound} ${d.value}. Use an ISO-8601 date-time such as 2026-01-31T08:00:00Z.`,
  },
  tooManyPoints: {
    status: 400,
    code: '40036_TOO_MANY_POINTS',
    message: (d: { points: number; pointsMax: number; devices: number }) =>
      `The series of ${d.devices} devices contain ${d.points} points; the maximum is ${d.pointsMax}. ` +
      'Query fewer devices, a shorter interval, or a longer bucketInterval.',
  },
  noSample: {
    status: 404,
    code: '40430_NO_SAMPLE',
    message: (d: { deviceId: string }) => `Device ${d.deviceId} has no samples`,
  },
  cursorTooOld: {
    status: 410,
    code: '41000_CURSOR_TOO_OLD',
    message: (d: { oldest: string }) =>
      `The cursor has expired. The oldest available cursor is ${d.oldest}.`,
  },
} as const satisfies Record<string, ProblemRow>;
