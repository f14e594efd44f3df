// Radio metrics: what network servers report of a reception, as metrics of the interface (interface 2.11, contract 4).
import type { Json } from '../../model/json.ts';
import type { RadioMetrics } from '../../model/uplink-metrics.ts';
import { measureAt, nonEmpty } from './webhook-fields.ts';

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
