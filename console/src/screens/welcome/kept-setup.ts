// Kept setup: what this tab made for a device and which payload it sends, over a reload.
import type { Made } from './setup-requests.ts';

export interface KeptSetup {
  readonly made: readonly Made[];
  /** The body of an uplink. */
  readonly payload: object;
}

export const firstPayload = { temperature: 21.5 };

const placeOf = (deviceId: string) => `first setup ${deviceId}`;

export function keepSetup(deviceId: string, setup: KeptSetup): void {
  sessionStorage.setItem(placeOf(deviceId), JSON.stringify(setup));
}

export function keptSetup(deviceId: string): KeptSetup {
  const stored = sessionStorage.getItem(placeOf(deviceId));
  return stored === null ? { made: [], payload: firstPayload } : (JSON.parse(stored) as KeptSetup);
}
