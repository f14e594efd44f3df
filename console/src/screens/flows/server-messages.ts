// Messages of network servers: the shortest uplink of each in its own form, to try a webhook with.
import type { ServerKind } from './server-names.ts';

interface Frame {
  readonly deviceId: string;
  /** ISO-8601. */
  readonly time: string;
  /** Differs between tries, so that none is taken for a repetition. */
  readonly counter: number;
}

const payloadHex = '0167010e';
const payloadBase64 = 'AWcBDg==';
const port = 1;
const spacedSeconds = 1_000;

type Message = (frame: Frame) => object;

const thingPark: Message = ({ deviceId, time, counter }) => ({
  DevEUI_uplink: {
    DevEUI: deviceId.toUpperCase(),
    FPort: port,
    FCntUp: counter,
    payload_hex: payloadHex,
    Time: time,
  },
});

const messages: Readonly<Record<ServerKind, Message>> = {
  TTN: ({ deviceId, time, counter }) => ({
    end_device_ids: { dev_eui: deviceId },
    uplink_message: { f_port: port, f_cnt: counter, frm_payload: payloadBase64, received_at: time },
  }),
  CHIRP_STACK: ({ deviceId, time, counter }) => ({
    deviceInfo: { devEui: deviceId },
    fPort: port,
    fCnt: counter,
    data: payloadBase64,
    time,
  }),
  LORIOT: ({ deviceId, time, counter }) => ({
    cmd: 'rx',
    EUI: deviceId.toUpperCase(),
    port,
    fcnt: counter,
    data: payloadHex,
    ts: Date.parse(time),
  }),
  GENERIC_ACTILITY: thingPark,
  SWISSCOM_ACTILITY: thingPark,
  SWISSCOM_CMP: thingPark,
  EVERYNET: ({ deviceId, time, counter }) => ({
    type: 'uplink',
    meta: { device: deviceId },
    params: {
      port,
      counter_up: counter,
      payload: payloadBase64,
      rx_time: Date.parse(time) / spacedSeconds,
    },
  }),
  HELIUM: ({ deviceId, time, counter }) => ({
    dev_eui: deviceId,
    port,
    fcnt: counter,
    payload: payloadBase64,
    reported_at: Date.parse(time),
  }),
  SIGFOX: ({ deviceId, time, counter }) => ({
    device: deviceId,
    seqNumber: counter,
    data: payloadHex,
    time: Math.floor(Date.parse(time) / spacedSeconds),
  }),
  DISRUPTIVE_TECHNOLOGIES: ({ deviceId, time, counter }) => ({
    event: {
      eventId: `console-${counter}`,
      targetName: `projects/test/devices/${deviceId}`,
      eventType: 'temperature',
      data: { temperature: { value: 21.5 } },
      timestamp: time,
    },
  }),
  GENERIC: ({ deviceId, time, counter }) => ({
    deviceEui: deviceId,
    port,
    frameCountUp: counter,
    payloadHex,
    time,
  }),
};

/** An uplink as the server would send it for the device with the physical id. */
export function serverMessage(kind: ServerKind, deviceId: string, nowMs: number): object {
  const time = new Date(nowMs).toISOString();
  return messages[kind]({ deviceId, time, counter: Math.floor(nowMs / spacedSeconds) % 0xffff });
}
