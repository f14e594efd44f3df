// What servers tell of the radio, brought to the metrics of the interface (interface 2.11, contract 4).
import type { Json } from '../model/json.ts';
import type { RadioMetrics } from '../model/uplink-metrics.ts';
import { measureAt } from './webhook-fields.ts';

/** A gateway's reception of a frame. */
export interface Reception {
  readonly rssi: number | undefined;
  readonly snr: number | undefined;
  readonly latitude?: number | undefined;
  readonly longitude?: number | undefined;
}

type Measures = { readonly [K in keyof RadioMetrics]: RadioMetrics[K] | undefined };

/** Only what is known. */
export function known(measures: Measures): RadioMetrics {
  return Object.fromEntries(Object.entries(measures).filter(([, value]) => value !== undefined));
}

/** Signal and place of the gateway that heard best, and how many heard. */
export function receivedBy(receptions: readonly Reception[]): RadioMetrics {
  const best = receptions.reduce<Reception | undefined>(
    (one, other) => (isBetter(other, one) ? other : one),
    undefined,
  );
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

function isBetter(other: Reception, one: Reception | undefined): boolean {
  if (one === undefined) return true;
  const [mine, theirs] = [one.rssi ?? -Infinity, other.rssi ?? -Infinity];
  return theirs > mine || (theirs === mine && (other.snr ?? -Infinity) > (one.snr ?? -Infinity));
}

/** Estimated signal power: what of the received power was signal and not noise. */
export function espOf(rssi: number | undefined, snr: number | undefined): number | undefined {
  if (rssi === undefined || snr === undefined) return undefined;
  const esp = rssi + snr - 10 * Math.log10(1 + 10 ** (snr / 10));
  return Number.isFinite(esp) ? Math.round(esp * 100) / 100 : undefined;
}

/** Both coordinates or none; 0, 0 is where devices without a position claim to be. */
function placeOf(latitude: number | undefined, longitude: number | undefined): RadioMetrics {
  if (latitude === undefined || longitude === undefined || (latitude === 0 && longitude === 0))
    return {};
  return Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180 ? { latitude, longitude } : {};
}

/** Latitude, longitude and radius as measured at these paths. */
export function placeAt(
  body: Json,
  latitude: string,
  longitude: string,
  radius?: string,
): RadioMetrics {
  const place = placeOf(measureAt(body, latitude), measureAt(body, longitude));
  const locationRadius = radius === undefined ? undefined : measureAt(body, radius);
  return place.latitude === undefined ? {} : { ...place, ...known({ locationRadius }) };
}

/** The spreading factor of texts such as `SF7BW125` or `SF12 BW125 4/5`. */
export function spreadingFactorOf(dataRate: unknown): number | undefined {
  const match = typeof dataRate === 'string' ? /SF(\d{1,2})/i.exec(dataRate) : null;
  return match === null ? undefined : Number(match[1]);
}

/** LoRaWAN's battery byte as percent: 0 is an external supply, 255 unknown. */
export function batteryPercentOf(byte: number | undefined): number | undefined {
  return byte === undefined || byte < 1 || byte > 254 ? undefined : Math.round((byte / 254) * 100);
}

export function payloadBytes(payloadHex: string): number {
  return payloadHex.length / 2;
}
