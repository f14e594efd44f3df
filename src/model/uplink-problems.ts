// Problems of uplinks: rows of the table in problem.ts.
import type { ProblemRow } from './problem-row.ts';

export const uplinkProblems = {
  deviceIdMissing: {
    status: 400,
    code: '40002_DEVICE_ID_MISSING',
    message: 'No device id: send it as query parameter deviceId or header x-device-id',
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
      `The topic is none of a device: ${d.reason}. Topics are /up/<secret>/id/<device id>[/<topic>]`,
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
  sampleDeviceMissing: {
    status: 400,
    code: '40046_SAMPLE_DEVICE_MISSING',
    message: 'A sample needs deviceId, the id or the physical id of a device',
  },
  sampleDeviceUnknown: {
    status: 400,
    code: '40047_SAMPLE_DEVICE_UNKNOWN',
    message: (d: { deviceId: string }) =>
      `No device that the caller can write to has the id ${d.deviceId}`,
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
  deviceNotOnConnector: {
    status: 403,
    code: '40301_DEVICE_NOT_ON_CONNECTOR',
    message: (d: { deviceId: string }) =>
      `The device ${d.deviceId} belongs to the data flow of another device connector`,
  },
  intakeFull: {
    status: 503,
    code: '50300_INTAKE_FULL',
    message: 'Too many payloads at once; send again after the time in Retry-After',
  },
  storageStopped: {
    status: 503,
    code: '50302_STORAGE_STOPPED',
    message: 'Writing has stopped after a disk error; nothing was stored',
  },
  storageFull: {
    status: 507,
    code: '50700_STORAGE_FULL',
    message: 'The disk is full; nothing was stored',
  },
  journalNotCopied: {
    status: 503,
    code: '50313_JOURNAL_NOT_COPIED',
    message:
      'No other node takes the copy of the journal; send again after the time in Retry-After',
  },
} as const satisfies Record<string, ProblemRow>;
