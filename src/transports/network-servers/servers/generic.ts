// A network server of any other make: a plain form of webhook that a relay can be made to send, and a plain downlink request.
import type { JsonObject } from '../../../model/json.ts';
import { espOf, frameEvent, joinEvent, known, placeAt } from '../lora-frame.ts';
import type { DownlinkApi, NetworkServer, ServerEvent } from '../network-server.ts';
import {
  base64At,
  countAt,
  epochAt,
  euiAt,
  hexAt,
  measureAt,
  nonEmpty,
  refuse,
  textAt,
  timeAt,
} from '../webhook-fields.ts';

const states = ['SENT', 'ACKNOWLEDGED', 'FAILED'] as const;

/**
 * `{deviceEui, port, payloadHex | payloadBase64, frameCountUp?, deviceAddress?, time?, rssi?, snr?,
 * sf?, ...}` for uplinks, `{event: "join", deviceEui, deviceAddress?}`, and `{event: "downlink",
 * deviceEui, downlinkId, state, reason?}`.
 */
function read(body: JsonObject): readonly ServerEvent[] {
  const deviceEui = euiAt(body, 'deviceEui', 'devEui', 'dev_eui', 'devEUI', 'EUI');
  const event = textAt(body, 'event') ?? 'uplink';
  const session = textAt(body, 'deviceAddress');
  if (event === 'join') return [joinEvent(deviceEui, session)];
  if (event === 'downlink') return [report(body, deviceEui)];
  if (event !== 'uplink') return refuse('event', 'must be uplink, join or downlink');
  const port = countAt(body, 'port', 255) ?? countAt(body, 'fPort', 255);
  const payloadHex = hexAt(body, 'payloadHex') ?? base64At(body, 'payloadBase64');
  if (payloadHex && port === undefined) refuse('port', 'is required: decoders depend on it');
  const rssi = measureAt(body, 'rssi');
  const snr = measureAt(body, 'snr');
  return [
    frameEvent({
      deviceEui,
      port,
      payloadHex,
      // Whoever relays a payload has taken MAC commands out.
      decodesPortZero: true,
      frameCountUp: countAt(body, 'frameCountUp') ?? countAt(body, 'fCnt'),
      session,
      metrics: {
        ...placeAt(body, 'latitude', 'longitude', 'locationRadius'),
        ...known({
          rssi,
          snr,
          esp: measureAt(body, 'esp') ?? espOf(rssi, snr),
          sf: measureAt(body, 'sf'),
          txPower: measureAt(body, 'txPower'),
          frameCountDown: measureAt(body, 'frameCountDown'),
          numberOfGateways: measureAt(body, 'numberOfGateways'),
        }),
      },
      time: timeAt(body, 'time') ?? epochAt(body, 'time'),
    }),
  ];
}

function report(body: JsonObject, deviceEui: string): ServerEvent {
  const state =
    states.find((known) => known === textAt(body, 'state')) ??
    refuse('state', `must be one of ${states.join(', ')}`);
  const downlinkId = textAt(body, 'downlinkId');
  const reason = textAt(body, 'reason');
  return {
    kind: 'downlink',
    deviceEui,
    state,
    ...(downlinkId !== undefined && { downlinkId }),
    ...(reason !== undefined && { reason }),
  };
}

const downlinks: DownlinkApi = {
  needs: ['baseUrl'],
  calls({ id, port, confirmed, payloadHex, replaces }, { deviceEui }, { baseUrl = '', apiKey }) {
    const headers = { ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }) };
    const body = { id, deviceEui, port, confirmed, payloadHex, replace: replaces };
    return [{ method: 'POST', url: baseUrl, headers, body }];
  },
  referenceOf: ({ id }) => nonEmpty(id),
};

export const generic: NetworkServer = { read, downlinks };
