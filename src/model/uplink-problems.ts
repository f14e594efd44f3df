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
    message: 'The body must be a JSON object or array',
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
