// The catalogue of refusals: one stable code, one status, one sentence each. Product code names the row; the edge makes the body.
import { deliveryProblems } from './delivery-problems.ts';
import { inventoryProblems } from './inventory-problems.ts';
import { accessProblems } from './access-problems.ts';
import { loraProblems } from './lora-problems.ts';
import { quotaProblems } from './quota-problems.ts';
import { damageProblems } from './damage-problems.ts';
import type { ProblemRow } from './problem-row.ts';
import { recordsProblems } from './records-problems.ts';
import { transportProblems } from './transport-problems.ts';
import { ruleProblems } from './rule-problems.ts';

type Details = Readonly<Record<string, string | number | boolean | null | readonly unknown[]>>;

/** What became of a backfill's samples so far; error bodies carry it too. */
type BackfillOutcome = {
  readonly accepted: number;
  readonly duplicates: number;
  readonly rejected: readonly {
    readonly index: number;
    readonly errorCode: string;
    readonly message: string;
  }[];
};

function storedBefore({ accepted, duplicates, rejected }: BackfillOutcome): string {
  if (accepted + duplicates + rejected.length === 0) return 'Nothing was stored';
  return (
    `Of the samples before, ${accepted} were stored, ${duplicates} were stored already and ${rejected.length} rejected; ` +
    'sending samples with the same timestamps again stores none of them twice'
  );
}

export const problems = {
  ...inventoryProblems,
  ...accessProblems,
  ...loraProblems,
  ...transportProblems,
  ...ruleProblems,
  ...deliveryProblems,
  ...recordsProblems,
  ...damageProblems,
  ...quotaProblems,
  invalidJson: {
    status: 400,
    code: '40000_INVALID_JSON',
    message: (d: { reason: string }) => `The body is not valid JSON: ${d.reason}`,
  },
  invalidRequest: {
    status: 400,
    code: '40001_INVALID_REQUEST',
    message: (d: { reason: string }) => d.reason,
  },
  deviceIdMissing: {
    status: 400,
    code: '40002_DEVICE_ID_MISSING',
    message: 'No device id: send it as query parameter deviceId or header x-device-id',
  },
  timestampInvalid: {
    status: 400,
    code: '40003_TIMESTAMP_INVALID',
    message: (d: { value: string }) => `The timestamp ${d.value} is not an ISO-8601 date-time`,
  },
  captureBodyInvalid: {
    status: 400,
    code: '40004_CAPTURE_BODY_INVALID',
    message: 'The body must be a JSON object or array',
  },
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
  tooManyPoints: {
    status: 400,
    code: '40036_TOO_MANY_POINTS',
    message: (d: { points: number; pointsMax: number; devices: number }) =>
      `The series of ${d.devices} devices have ${d.points} points, and at most ${d.pointsMax} are answered: ` +
      'ask for fewer devices, a shorter interval or a longer bucketInterval',
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
  unknownSortField: {
    status: 400,
    code: '40037_UNKNOWN_SORT_FIELD',
    message: (d: { fields: readonly string[]; known: readonly string[] }) =>
      `query sort: this list cannot be sorted by ${d.fields.join(', ')}; it can by ${d.known.join(', ')}`,
  },
  sampleNotAnObject: {
    status: 400,
    code: '40040_SAMPLE_NOT_AN_OBJECT',
    message: 'A sample must be a JSON object',
  },
  sampleDataMissing: {
    status: 400,
    code: '40041_SAMPLE_DATA_MISSING',
    message: 'A sample needs data, a JSON object',
  },
  sampleTopicNotText: {
    status: 400,
    code: '40042_SAMPLE_TOPIC_NOT_TEXT',
    message: 'The topic must be a text',
  },
  sampleMetaNotAnObject: {
    status: 400,
    code: '40043_SAMPLE_META_NOT_AN_OBJECT',
    message: 'The meta must be a JSON object',
  },
  backfillRejected: {
    status: 400,
    code: '40044_BACKFILL_REJECTED',
    message: (d: BackfillOutcome) =>
      d.rejected.length === 1
        ? `The sample was rejected: ${d.rejected[0]!.message}`
        : `All ${d.rejected.length} samples were rejected; the first: ${d.rejected[0]!.message}`,
  },
  backfillBroken: {
    status: 400,
    code: '40045_BACKFILL_BROKEN',
    message: (d: BackfillOutcome & { reason: string; index: number; byte: number }) =>
      `The body breaks at byte ${d.byte}, in sample ${d.index}: ${d.reason}. ${storedBefore(d)}`,
  },
  uplinkSecretMissing: {
    status: 401,
    code: '40103_UPLINK_SECRET_MISSING',
    message: 'No uplink secret: send it as query parameter secret or header x-uplink-secret',
  },
  uplinkSecretUnknown: {
    status: 401,
    code: '40104_UPLINK_SECRET_UNKNOWN',
    message: 'No device connector has this uplink secret',
  },
  unknownReference: {
    status: 400,
    code: '40010_UNKNOWN_REFERENCE',
    message: (d: { field: string; what: string; id: string; place: string }) =>
      `${d.field}: there is no ${d.what} with id ${d.id} in this ${d.place}`,
  },
  outputNotAvailable: {
    status: 400,
    code: '40011_OUTPUT_NOT_AVAILABLE',
    message: (d: { type: string; available: readonly string[] }) =>
      `Output connectors of type ${d.type} cannot be made: this installation does not deliver to them; it delivers to ${d.available.length === 0 ? 'the global database connector alone' : d.available.join(', ')}`,
  },
  filterNotAvailable: {
    status: 400,
    code: '40012_FILTER_NOT_AVAILABLE',
    message: (d: { filter: string }) => `Assets cannot be filtered by ${d.filter}`,
  },
  deviceNotOnConnector: {
    status: 403,
    code: '40301_DEVICE_NOT_ON_CONNECTOR',
    message: (d: { deviceId: string }) =>
      `The device ${d.deviceId} belongs to the data flow of another device connector`,
  },
  notFound: {
    status: 404,
    code: '40400_NOT_FOUND',
    message: (d: { what: string; id: string }) => `No ${d.what} with id ${d.id}`,
  },
  noSample: {
    status: 404,
    code: '40430_NO_SAMPLE',
    message: (d: { deviceId: string }) => `Device ${d.deviceId} has no sample`,
  },
  noSuchRoute: {
    status: 404,
    code: '40401_NO_SUCH_ROUTE',
    message: (d: { method: string; path: string }) => `There is no ${d.method} ${d.path}`,
  },
  methodNotAllowed: {
    status: 405,
    code: '40500_METHOD_NOT_ALLOWED',
    message: (d: { method: string; path: string; allow: string }) =>
      `${d.path} does not take ${d.method}; allowed: ${d.allow}`,
  },
  requestTimeout: {
    status: 408,
    code: '40800_REQUEST_TIMEOUT',
    message: 'The request did not arrive in time',
  },
  deviceIdNotUnique: {
    status: 409,
    code: '40900_DEVICE_ID_NOT_UNIQUE',
    message: (d: { deviceId: string }) => `The device id ${d.deviceId} is used by another device`,
  },
  staleVersion: {
    status: 409,
    code: '40901_STALE_VERSION',
    message: (d: { sent: number; current: number }) =>
      `Version ${d.sent} was sent, but the record is at version ${d.current}`,
  },
  inUse: {
    status: 409,
    code: '40902_IN_USE',
    message: (d: { what: string; users: readonly string[] }) =>
      `The ${d.what} is used by ${d.users.join(', ')}`,
  },
  payloadTooLarge: {
    status: 413,
    code: '41300_PAYLOAD_TOO_LARGE',
    message: (d: { bytesMax: number }) => `The body is larger than ${d.bytesMax} bytes`,
  },
  backfillTooLarge: {
    status: 413,
    code: '41301_BACKFILL_TOO_LARGE',
    message: (d: BackfillOutcome & { limit: string }) =>
      `The request has more than ${d.limit}: send it in parts. ${storedBefore(d)}`,
  },
  unsupportedMediaType: {
    status: 415,
    code: '41500_UNSUPPORTED_MEDIA_TYPE',
    message: (d: { contentType: string }) =>
      `Content type ${d.contentType} is not supported; send application/json`,
  },
  idempotencyKeyReused: {
    status: 422,
    code: '42200_IDEMPOTENCY_KEY_REUSED',
    message: 'The Idempotency-Key was used with another body',
  },
  headersTooLarge: {
    status: 431,
    code: '43100_HEADERS_TOO_LARGE',
    message: 'The request line and headers are larger than 16 KiB',
  },
  internal: { status: 500, code: '50000_INTERNAL', message: 'Internal error' },
  intakeFull: {
    status: 503,
    code: '50300_INTAKE_FULL',
    message: 'Too many payloads at once; send again after the time in Retry-After',
  },
  stopping: { status: 503, code: '50301_STOPPING', message: 'The server is stopping' },
  backfillStorageFull: {
    status: 507,
    code: '50701_BACKFILL_STORAGE_FULL',
    message: (d: BackfillOutcome) => `The disk is full. ${storedBefore(d)}`,
  },
  backfillInterrupted: {
    status: 503,
    code: '50303_BACKFILL_INTERRUPTED',
    message: (d: BackfillOutcome) => `The server stopped taking samples. ${storedBefore(d)}`,
  },
  storageFull: {
    status: 507,
    code: '50700_STORAGE_FULL',
    message: 'The disk is full; nothing was stored',
  },
  storageStopped: {
    status: 503,
    code: '50302_STORAGE_STOPPED',
    message: 'Writing has stopped after a disk error; nothing was stored',
  },
  cursorTooOld: {
    status: 410,
    code: '41000_CURSOR_TOO_OLD',
    message: (d: { oldest: string }) =>
      `The cursor is older than what is kept; the oldest is ${d.oldest}`,
  },
} as const satisfies Record<string, ProblemRow>;

export type ProblemName = keyof typeof problems;
type DetailsOf<N extends ProblemName> = (typeof problems)[N]['message'] extends (
  details: infer D,
) => string
  ? [D]
  : [];

/** A refusal from the catalogue: bad input or a missing right, never our own mistake. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly problem: ProblemName;
  readonly details: Details;

  constructor(problem: ProblemName, details: Details, message: string) {
    super(message);
    this.problem = problem;
    this.details = details;
  }

  get status(): number {
    return problems[this.problem].status;
  }

  get code(): string {
    return problems[this.problem].code;
  }
}

/** Makes the Problem of a catalogue row: `throw problem('notFound', { what: 'device', id })`. */
export function problem<N extends ProblemName>(name: N, ...args: DetailsOf<N>): Problem {
  const { message } = problems[name];
  const details = (args[0] ?? {}) as Details;
  const text =
    typeof message === 'string' ? message : (message as (details: Details) => string)(details);
  return new Problem(name, details, text);
}
