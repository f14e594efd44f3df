// Stored state: what stored samples say of devices, such as those whose history was loaded, or at an earlier moment.
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { ask, platform } from './platform.ts';

export interface StoredState {
  /** Of the newest sample; loaded history is no uplink, so the device was never seen. */
  readonly lastData: string;
  readonly batteryLevel: number | undefined;
  readonly position:
    | { readonly latitude: number; readonly longitude: number; readonly at: string }
    | undefined;
}

export const stateKeys = ['batteryLevel', 'latitude', 'longitude'] as const;

/** As many devices as one request takes. */
const devicesMax = 1_000;

export interface NewestOfDevice {
  readonly samples: readonly { readonly timestamp: string }[];
  readonly values?:
    | Readonly<Record<string, { readonly value: unknown; readonly timestamp: string }>>
    | undefined;
}

/** Undefined for a device without samples. `values` has `stateKeys`, where stored. */
export function storedStateOf({ samples, values = {} }: NewestOfDevice): StoredState | undefined {
  const [first] = samples;
  if (first === undefined) return undefined;
  const lastData = samples.reduce(
    (newest, { timestamp }) => (timestamp > newest ? timestamp : newest),
    first.timestamp,
  );
  const latitude = numberWithin(values['latitude']?.value, 90);
  const longitude = numberWithin(values['longitude']?.value, 180);
  const at = values['latitude']?.timestamp;
  return {
    lastData,
    batteryLevel: numberWithin(values['batteryLevel']?.value, 100),
    position:
      latitude === undefined || longitude === undefined || at === undefined
        ? undefined
        : { latitude, longitude, at },
  };
}

function numberWithin(value: unknown, most: number): number | undefined {
  return typeof value === 'number' && Math.abs(value) <= most ? value : undefined;
}

/** By device, now or at the moment (ISO-8601); of 1,000 devices in each request. */
export const storedStates = (deviceIds: readonly string[], moment?: string) =>
  queryOptions({
    queryKey: ['stored state', deviceIds, moment],
    enabled: deviceIds.length > 0,
    staleTime: 60_000,
    // While the moment moves, devices keep their states.
    ...(moment !== undefined && { placeholderData: keepPreviousData }),
    queryFn: async ({ signal }) => {
      const states = new Map<string, StoredState>();
      for (let at = 0; at < deviceIds.length; at += devicesMax) {
        const body = {
          deviceIds: deviceIds.slice(at, at + devicesMax),
          keys: [...stateKeys],
          ...(moment !== undefined && { at: moment }),
        };
        const { content } = await ask(platform.POST('/v3/devices/query/latest', { signal, body }));
        for (const one of content) {
          const state = storedStateOf(one);
          if (state !== undefined) states.set(one.deviceId, state);
        }
      }
      return states;
    },
  });
