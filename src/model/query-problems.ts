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
  tooManyValues: {
    status: 400,
    code: '40084_TOO_MANY_VALUES',
    message: (d: { values: number; valuesMax: number; accumulator: string }) =>
      `The interval contains ${d.values} values; ${d.accumulator} reads at most ${d.valuesMax} in one request. ` +
      'Query fewer devices or a shorter interval.',
  },
  invalidExpression: {
    status: 400,
    code: '40038_INVALID_EXPRESSION',
    message: (d: { where: string; reason: string; position: number }) =>
      `Invalid ${d.where} at character ${d.position + 1}: ${d.reason}`,
  },
  noSample: {
    status: 404,
    code: '40430_NO_SAMPLE',
    message: (d: { deviceId: string }) => `Device ${d.deviceId} has no samples`,
  },
  tooManyRemovals: {
    status: 409,
    code: '40994_TOO_MANY_REMOVALS',
    message: 'Earlier deletions and corrections are still being written. Retry in a minute.',
  },
  tooManySamples: {
    status: 409,
    code: '40995_MORE_SAMPLES',
    message: (d: { samples: number; samplesMax: number }) =>
      `The request selects ${d.samples} samples, more than samplesMax ${d.samplesMax}. Run it with dryRun and confirm the new count.`,
  },
  instantTooLarge: {
    status: 409,
    code: '40996_INSTANT_TOO_LARGE',
    message: (d: { timestamp: string; max: number }) =>
      `The device has more than ${d.max} samples at ${d.timestamp}, too many to write them again. Delete some of them first.`,
  },
  documentsBusy: {
    status: 429,
    code: '42920_DOCUMENTS_BUSY',
    message: (d: { max: number; retryAfterSeconds: number }) =>
      `This organization has ${d.max} documents in progress, the maximum. Try again in ${d.retryAfterSeconds} s.`,
  },
  documentTimedOut: {
    status: 503,
    code: '50330_DOCUMENT_TIMED_OUT',
    message: (d: { seconds: number }) =>
      `The document was not finished in ${d.seconds} s. Request a shorter range, or a single tile.`,
  },
  mapFileUnreadable: {
    status: 503,
    code: '50331_MAP_FILE_UNREADABLE',
    message: (d: { name: string; reason: string }) =>
      `Map file ${d.name} cannot be read: ${d.reason}. Ask the operator to replace it.`,
  },
  cursorTooOld: {
    status: 410,
    code: '41000_CURSOR_TOO_OLD',
    message: (d: { oldest: string }) =>
      `The cursor has expired. The oldest available cursor is ${d.oldest}.`,
  },
} as const satisfies Record<string, ProblemRow>;

// Problems of sample exports: rows of the table in problem.ts.

export const exportProblems = {
  exportsOff: {
    status: 403,
    code: '40390_EXPORTS_OFF',
    message: 'Sample exports are turned off (EXPORT_BYTES is 0)',
  },
  exportNotReady: {
    status: 409,
    code: '40990_EXPORT_NOT_READY',
    message: (d: { id: string; state: string }) =>
      `Export ${d.id} has no file yet (state ${d.state})`,
  },
  tooManyExports: {
    status: 409,
    code: '40991_TOO_MANY_EXPORTS',
    message: (d: { max: number }) =>
      `This organization has ${d.max} exports, the maximum. Delete one, or wait until one expires.`,
  },
  exportTooLarge: {
    status: 507,
    code: '50720_EXPORT_TOO_LARGE',
    message: (d: { bytesMax: number }) =>
      `The export would exceed EXPORT_BYTES (${d.bytesMax} bytes for all exports). Export fewer devices or a shorter interval, or delete other exports.`,
  },
  exportDiskFull: {
    status: 507,
    code: '50721_EXPORT_DISK_FULL',
    message:
      'The disk ran out of space and the export was deleted. Free up space, then start it again.',
  },
  exportElsewhere: {
    status: 503,
    code: '50320_EXPORT_ELSEWHERE',
    message: (d: { id: string; node: string }) =>
      `Export ${d.id} is stored on node ${d.node}. Send the request to that node.`,
  },
} as const satisfies Record<string, ProblemRow>;
