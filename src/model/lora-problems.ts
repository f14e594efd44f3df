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
