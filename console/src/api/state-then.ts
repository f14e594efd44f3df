// State then: whether devices were online at an earlier moment, told by their newest sample at or before it, and whether alarms were acknowledged.
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { components } from '../../generated/interface-types.ts';
import type { Alarm, AlarmState } from './alarms.ts';
import { ask, platform } from './platform.ts';

type Device = components['schemas']['Device'];
export type StateThen = Extract<Device['onlineState'], 'ONLINE' | 'OFFLINE' | 'UNKNOWN'>;

/** Time of the newest sample at or before the moment, by device; samples of the 7 days before it count. */
export type LastSamples = ReadonlyMap<string, string>;

/**
 * By the time of the newest sample; `UNKNOWN` without one in the 7 days before the moment. Times are
 * ISO-8601, the timeout is in seconds.
 */
export function stateThen(
  { onlineTimeout }: Pick<Device, 'onlineTimeout'>,
  last: string | undefined,
  at: string,
): StateThen {
  if (last === undefined) return 'UNKNOWN';
  return Date.parse(at) - Date.parse(last) < onlineTimeout * 1_000 ? 'ONLINE' : 'OFFLINE';
}

/** Of an alarm that was not cleared at the moment (ISO-8601). */
export function alarmStateThen({ acknowledged }: Alarm, at: string): AlarmState {
  if (acknowledged === null || Date.parse(acknowledged.at) > Date.parse(at)) return 'OPEN';
  return 'ACKNOWLEDGED';
}

/** Devices of one request. */
const pageSize = 1_000;

interface OfDevices {
  /** Devices of the workspace, or at the place and below it. */
  readonly of: { readonly workspaceId: string } | { readonly placeId: string };
  /** ISO-8601. */
  readonly at: string | undefined;
  /** Devices that are asked for at most. */
  readonly most: number;
}

/** Asked for only at an earlier moment; what was the newest then stays so, but for corrections. */
export const lastSamplesOf = ({ of, at, most }: OfDevices) =>
  queryOptions({
    queryKey: ['last samples', of, at],
    enabled: at !== undefined,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }): Promise<LastSamples> => {
      const lasts = new Map<string, string>();
      for (let page = 0; page * pageSize < most; page++) {
        const body = { ...of, ...(at !== undefined && { at }), page, size: pageSize };
        const answer = await ask(platform.POST('/v3/devices/query/latest', { signal, body }));
        for (const { deviceId, samples } of answer.content)
          for (const { timestamp } of samples)
            if (timestamp > (lasts.get(deviceId) ?? '')) lasts.set(deviceId, timestamp);
        if ((page + 1) * pageSize >= answer.totalElements) break;
      }
      return lasts;
    },
  });
