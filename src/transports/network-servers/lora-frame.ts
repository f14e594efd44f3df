// LoRaWAN frame, as the readers of all servers build it: the decoder's body, the metrics and the key of its repetitions.
import type { EpochMs } from '../../model/instant.ts';
import type { RadioMetrics } from '../../model/uplink-metrics.ts';
import type { ServerEvent, ServerFrame } from './network-server.ts';
import type { Json } from '../../model/json.ts';
import { measureAt, nonEmpty } from './webhook-fields.ts';

export interface LoraFrame {
  readonly deviceEui: string;
  readonly port: number | undefined;
  /** Undefined for a frame without application payload. */
  readonly payloadHex: string | undefined;
  readonly frameCountUp: number | undefined;
  /** Device address or session key. Frame counters restart with each. */
  readonly session: string | undefined;
  readonly metrics: RadioMetrics;
  readonly time: EpochMs | null;
  /** Port 0 can have an application payload. On the air it has MAC commands. */
  readonly decodesPortZero?: true;
}

/**
 * Port 0, and a frame without a port, is MAC traffic (contract 42): noted, and not decoded. A frame
 * with a port and without payload has an empty one.
 */
export function frameEvent(frame: LoraFrame): ServerEvent {
  const { port, payloadHex = '' } = frame;
  const isForDecoder = port !== 0 || (frame.decodesPortZero === true && payloadHex !== '');
  if (port === undefined || !isForDecoder) return frameWithoutData(frame, macNote(frame));
  return {
    kind: 'uplink',
    deviceEui: frame.deviceEui,
    body: { port, payloadHex },
    metrics: radioOf(frame),
    time: frame.time,
    ...duplicateOf(frame),
  };
}

function macNote({ port, payloadHex = '' }: LoraFrame): Pick<ServerFrame, 'level' | 'message'> {
  if (payloadHex === '')
    return { level: 'INFO', message: 'Received a frame without an application payload' };
  const place = port === undefined ? 'without a port' : 'on port 0';
  return { level: 'INFO', message: `A frame ${place} was received: MAC traffic, not decoded` };
}

/** The frame as a sign of life, with a note. */
export function frameWithoutData(
  frame: LoraFrame,
  note: Pick<ServerFrame, 'level' | 'message'>,
): ServerFrame {
  const { deviceEui, port, payloadHex, frameCountUp } = frame;
  const details = {
    ...(frameCountUp !== undefined && { frameCountUp }),
    ...(port !== undefined && { port }),
    ...(payloadHex && { payloadHex }),
  };
  return {
    kind: 'frame',
    deviceEui,
    metrics: radioOf(frame),
    ...duplicateOf(frame),
    ...note,
    details,
  };
}

function radioOf({ metrics, port, payloadHex = '', frameCountUp }: LoraFrame): RadioMetrics {
  return { ...metrics, ...known({ uplinkSize: payloadBytes(payloadHex), port, frameCountUp }) };
}

// Without a session, the payload distinguishes frames of different sessions with the same counter,
// well enough.
function duplicateOf({ session, payloadHex = '', frameCountUp }: LoraFrame) {
  return frameCountUp === undefined
    ? {}
    : { duplicateKey: `${session ?? payloadHex}:${frameCountUp}` };
}

/** The note of a join. */
export function joinEvent(deviceEui: string, deviceAddress: string | undefined): ServerEvent {
  const details = { ...(deviceAddress !== undefined && { deviceAddress }) };
  return {
    kind: 'note',
    deviceEui,
    level: 'INFO',
    message: 'The device joined the network',
    details,
  };
}

/** The frame, and the acknowledgement of a downlink if the frame carries one. */
export function withAcknowledgement(
  frame: ServerEvent,
  isAcknowledging: boolean,
): readonly ServerEvent[] {
  if (!isAcknowledging) return [frame];
  return [frame, { kind: 'downlink', deviceEui: frame.deviceEui, state: 'ACKNOWLEDGED' }];
}

// Radio metrics: what network servers report of a reception, as metrics of the interface (interface 2.11, contract 4).

/** A gateway's reception of a frame. */
export interface Reception {
  readonly rssi: number | undefined;
  readonly snr: number | undefined;
  readonly latitude?: number | undefined;
  readonly longitude?: number | undefined;
}

type Measures = { readonly [K in keyof RadioMetrics]: RadioMetrics[K] | undefined };

/** Without the undefined values. */
export function known(measures: Measures): RadioMetrics {
  return Object.fromEntries(Object.entries(measures).filter(([, value]) => value !== undefined));
}

/** Signal and position of the gateway with the best reception, and the number of gateways. */
export function receivedBy(receptions: readonly Reception[]): RadioMetrics {
  const [best] = receptions.toSorted(bestFirst);
  if (best === undefined) return {};
  const { rssi, snr, latitude, longitude } = best;
  return known({
    rssi,
    snr,
    esp: espOf(rssi, snr),
    numberOfGateways: receptions.length,
    ...placeOf(latitude, longitude),
  });
}

/** Unknown values are last. */
function bestFirst(a: Reception, b: Reception): number {
  const worst = -1e9;
  return (b.rssi ?? worst) - (a.rssi ?? worst) || (b.snr ?? worst) - (a.snr ?? worst);
}

/** Estimated signal power: the received power without the noise. */
export function espOf(rssi: number | undefined, snr: number | undefined): number | undefined {
  if (rssi === undefined || snr === undefined) return undefined;
  const esp = rssi + snr - 10 * Math.log10(1 + 10 ** (snr / 10));
  if (!Number.isFinite(esp)) return undefined;
  return Math.round(esp * 100) / 100;
}

/** Both coordinates or none. Devices without a position report 0, 0. */
function placeOf(latitude: number | undefined, longitude: number | undefined): RadioMetrics {
  if (latitude === undefined || longitude === undefined || (latitude === 0 && longitude === 0))
    return {};
  if (Math.abs(latitude) > 90 || Math.abs(longitude) > 180) return {};
  return { latitude, longitude };
}

/** Latitude, longitude and radius as measured at these paths. */
export function placeAt(
  body: Json,
  latitude: string,
  longitude: string,
  radius?: string,
): RadioMetrics {
  const place = placeOf(measureAt(body, latitude), measureAt(body, longitude));
  if (place.latitude === undefined || radius === undefined) return place;
  return { ...place, ...known({ locationRadius: measureAt(body, radius) }) };
}

/** The spreading factor of strings such as `SF7BW125` or `SF12 BW125 4/5`. */
export function spreadingFactorOf(dataRate: unknown): number | undefined {
  const [, digits] = /SF(\d{1,2})/i.exec(nonEmpty(dataRate) ?? '') ?? [];
  return digits === undefined ? undefined : Number(digits);
}

/** LoRaWAN's battery byte in percent. Undefined for 0 (external supply) and 255 (unknown). */
export function batteryPercentOf(byte: number | undefined): number | undefined {
  if (byte === undefined || byte < 1 || byte > 254) return undefined;
  return Math.round((byte / 254) * 100);
}

export function payloadBytes(payloadHex: string): number {
  return payloadHex.length / 2;
}
