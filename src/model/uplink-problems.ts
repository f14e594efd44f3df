// Problems of uplinks: rows of the table in problem.ts.
import type { ProblemRow } from './problem-row.ts';

export const uplinkProblems = {
  deviceIdMissing: {
    status: 400,
    code: '40002_DEVICE_ID_MISSING',
    message:
      'Missing device ID. Send it in the deviceId query parameter or the x-device-id header.',
  },
  timestampInvalid: {
    status: 400,
    code: '40003_TIMESTAMP_INVALID',
    message: (d: { value: string; reason: string }) => `The timestamp ${d.value} ${d.reason}`,
  },
  captureBodyInvalid: {
    status: 400,
    code: '40004_CAPTURE_BODY_INVALID',
    message: (d: { reason: string }) => d.reason,
  },
  nameTooLong: {
    status: 400,
    code: '40048_NAME_TOO_LONG',
    message: (d: { reason: string }) => d.reason,
  },
  mqttTopicInvalid: {
    status: 400,
    code: '40049_MQTT_TOPIC_INVALID',
    message: (d: { reason: string }) =>
      `Invalid device topic: ${d.reason}. Device topics have the form /up/<secret>/id/<device id>[/<topic>]`,
  },
  sampleNotAnObject: {
    status: 400,
    code: '40040_SAMPLE_NOT_AN_OBJECT',
    message: 'A sample must be a JSON object',
  },
  sampleDataMissing: {
    status: 400,
    code: '40041_SAMPLE_DATA_MISSING',
    message: 'data is required and must be a JSON object',
  },
  sampleTopicNotText: {
    status: 400,
    code: '40042_SAMPLE_TOPIC_NOT_TEXT',
    message: 'topic must be a string',
  },
  sampleMetaNotAnObject: {
    status: 400,
    code: '40043_SAMPLE_META_NOT_AN_OBJECT',
    message: 'meta must be a JSON object',
  },
  sampleDeviceMissing: {
    status: 400,
    code: '40046_SAMPLE_DEVICE_MISSING',
    message: 'deviceId is required: the service ID or device ID of a device',
  },
  sampleDeviceUnknown: {
    status: 400,
    code: '40047_SAMPLE_DEVICE_UNKNOWN',
    message: (d: { deviceId: string }) =>
      `No device ${d.deviceId}, or no permission to write to it`,
  },
  uplinkSecretMissing: {
    status: 401,
    code: '40103_UPLINK_SECRET_MISSING',
    message:
      'Missing uplink secret. Send it in the secret query parameter or the x-uplink-secret header.',
  },
  uplinkSecretUnknown: {
    status: 401,
    code: '40104_UPLINK_SECRET_UNKNOWN',
    message: 'Invalid uplink secret',
  },
  deviceNotOnConnector: {
    status: 403,
    code: '40301_DEVICE_NOT_ON_CONNECTOR',
    message: (d: { deviceId: string }) => `Device ${d.deviceId} does not use this device connector`,
  },
  intakeFull: {
    status: 503,
    code: '50300_INTAKE_FULL',
    message: 'Too many payloads in progress. Retry after the time in Retry-After.',
  },
  storageStopped: {
    status: 503,
    code: '50302_STORAGE_STOPPED',
    message: 'Writes are stopped after a disk error. Nothing was stored.',
  },
  storageFull: {
    status: 507,
    code: '50700_STORAGE_FULL',
    message: 'The disk is full. Nothing was stored.',
  },
  journalNotCopied: {
    status: 503,
    code: '50313_JOURNAL_NOT_COPIED',
    message:
      'No other node is available to replicate the journal. Retry after the time in Retry-After.',
  },
} as const satisfies Record<string, ProblemRow>;

// Problems of transports other than HTTP: rows of the table in problem.ts.

export const transportProblems = {
  invalidCbor: {
    status: 400,
    code: '40075_INVALID_CBOR',
    message: (d: { reason: string }) => `Invalid CBOR: ${d.reason}`,
  },
  coapBlocksIncomplete: {
    status: 408,
    code: '40870_BLOCKS_INCOMPLETE',
    message: 'A block is missing. Send the body again from the first block.',
  },
  coapAcceptUnsupported: {
    status: 406,
    code: '40670_ACCEPT_UNSUPPORTED',
    message: (d: { accept: number }) =>
      `Accept ${d.accept} is not supported. Responses are application/json (50).`,
  },
  coapBusy: {
    status: 503,
    code: '50370_COAP_BUSY',
    message: 'Too many payloads in progress. Retry after Max-Age.',
  },
} as const satisfies Record<string, ProblemRow>;

// Problems of network servers and downlinks: rows of the table in problem.ts.

export const loraProblems = {
  webhookInvalid: {
    status: 400,
    code: '40070_WEBHOOK_INVALID',
    message: (d: { field: string; reason: string }) =>
      `body${d.field === '' ? '' : ' '}${d.field}: ${d.reason}`,
  },
  downlinkNotSupported: {
    status: 400,
    code: '40071_DOWNLINK_NOT_SUPPORTED',
    message: (d: { deviceId: string; connectivity: string }) =>
      `Device ${d.deviceId} uses ${d.connectivity}, which does not support downlinks. Only LORA and MQTT do.`,
  },
  downlinkInvalid: {
    status: 400,
    code: '40072_DOWNLINK_INVALID',
    message: (d: { field: string; reason: string }) => `body ${d.field}: ${d.reason}`,
  },
  downlinkNotEncoded: {
    status: 400,
    code: '40073_DOWNLINK_NOT_ENCODED',
    message: (d: { reason: string }) => `The downlink encoder failed: ${d.reason}`,
  },
  registrationIncomplete: {
    status: 400,
    code: '40074_REGISTRATION_INCOMPLETE',
    message: (d: { deviceEui: string; missing: string }) =>
      `Device ${d.deviceEui} cannot be registered. Missing loraProperties: ${d.missing}.`,
  },
  secretNotOfIntegration: {
    status: 403,
    code: '40370_SECRET_NOT_OF_INTEGRATION',
    message: (d: { integrationId: string }) =>
      `The uplink secret does not belong to integration ${d.integrationId}`,
  },
  downlinkQueueFull: {
    status: 409,
    code: '40970_DOWNLINK_QUEUE_FULL',
    message: (d: { deviceId: string; waitingMax: number }) =>
      `Device ${d.deviceId} already has ${d.waitingMax} queued downlinks. Wait, or send with clearQueue.`,
  },
  networkServerRefused: {
    status: 409,
    code: '40971_NETWORK_SERVER_REFUSED',
    message: (d: { reason: string }) => `The network server rejected the request: ${d.reason}`,
  },
} as const;

// Problems of intakes that other products' senders use: rows of the table in problem.ts.

export const intakeProblems = {
  precisionUnknown: {
    status: 400,
    code: '40077_PRECISION_UNKNOWN',
    message: (d: { precision: string }) =>
      `invalid precision ${JSON.stringify(d.precision)} (use n, ns, u, us, ms, s, m or h)`,
  },
  statementUnsupported: {
    status: 400,
    code: '40078_STATEMENT_UNSUPPORTED',
    message:
      'Only CREATE DATABASE, which changes nothing, SHOW DATABASES and SHOW RETENTION POLICIES are answered here; samples are read below /v3',
  },
  senmlInvalid: {
    status: 400,
    code: '40079_SENML_INVALID',
    message: (d: { reason: string }) => `The body is not a valid SenML pack: ${d.reason}`,
  },
  lineProtocolOff: {
    status: 403,
    code: '40373_LINE_PROTOCOL_OFF',
    message:
      'Line protocol is not enabled on this device connector. Set its lineProtocol property.',
  },
  createdDevicesMax: {
    status: 403,
    code: '40371_CREATED_DEVICES_MAX',
    message: (d: { devicesMax: number }) =>
      `The data flow has ${d.devicesMax} devices, the maximum for devices created by its connector`,
  },
  createdDevicesWithoutFlow: {
    status: 403,
    code: '40372_CREATED_DEVICES_WITHOUT_FLOW',
    message: 'The device connector cannot create devices because no data flow uses it',
  },
  pointsTooMany: {
    status: 413,
    code: '41370_POINTS_TOO_MANY',
    message: (d: { pointsMax: number }) =>
      `The body contains more than ${d.pointsMax} samples. Split it into smaller requests.`,
  },
} as const satisfies Record<string, ProblemRow>;

// Problems of backfills: rows of the table in problem.ts.

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
  const inLine = line === undefined ? '' : `line ${line}, `;
  return `sample ${index} (${inLine}byte ${byte})`;
}

function storedBefore({ accepted, duplicates, rejected }: BackfillOutcome): string {
  if (accepted + duplicates + rejected.length === 0) return 'Nothing was stored';
  return (
    `Before that, ${accepted} samples were stored, ${duplicates} were duplicates, and ${rejected.length} were rejected. ` +
    'Resending is safe: identical samples are stored once'
  );
}

export const backfillProblems = {
  olderThanRetention: {
    status: 400,
    code: '40051_OLDER_THAN_RETENTION',
    message: (d: { timestamp: string; keptDays: number }) =>
      `The sample timestamp ${d.timestamp} is older than the retention of ${d.keptDays} days, which would delete the sample at once`,
  },
  backfillRejected: {
    status: 400,
    code: '40044_BACKFILL_REJECTED',
    message: ({ rejected }: BackfillOutcome) => {
      const reason = rejected[0]?.message ?? '';
      if (rejected.length === 1) return `The sample was rejected: ${reason}`;
      return `All ${rejected.length} samples were rejected. First reason: ${reason}`;
    },
  },
  backfillBroken: {
    status: 400,
    code: '40045_BACKFILL_BROKEN',
    message: (d: BackfillOutcome & BrokenPlace & { reason: string }) =>
      `The body is invalid at ${placeText(d)}: ${d.reason}. ${storedBefore(d)}`,
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
      `The request exceeds ${d.limit}. Split it into smaller requests. ${storedBefore(d)}`,
  },
  backfillInterrupted: {
    status: 503,
    code: '50303_BACKFILL_INTERRUPTED',
    message: (d: BackfillOutcome) => `The platform is shutting down. ${storedBefore(d)}`,
  },
  backfillStorageFull: {
    status: 507,
    code: '50701_BACKFILL_STORAGE_FULL',
    message: (d: BackfillOutcome) => `The disk is full. ${storedBefore(d)}`,
  },
} as const satisfies Record<string, ProblemRow>;
