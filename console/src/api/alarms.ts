// Alarms of a workspace: their requests, and what people do to them.
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { components } from '../../generated/interface-types.ts';
import { ask, platform } from './platform.ts';

export type Alarm = components['schemas']['Alarm'];
export type AlarmSeverity = Alarm['severity'];
export type AlarmState = Alarm['state'];

/** The worst first. */
export const alarmSeverities: readonly AlarmSeverity[] = [
  'CRITICAL',
  'MAJOR',
  'MINOR',
  'WARNING',
  'INFO',
];

/** Every query of the alarms of a workspace begins with it, so that an event refreshes all. */
export const alarmsKey = (workspaceId: string) => ['alarms', workspaceId] as const;

const newestMax = 6;
const deviceAlarmsMax = 50;
/** An event that was missed, such as during a break of the stream, shows after this time. */
const refreshMs = 60_000;

/** The newest open alarms; `totalElements` is the number of all open ones. */
export const newestOpen = (workspaceId: string) =>
  queryOptions({
    queryKey: [...alarmsKey(workspaceId), 'newest'],
    refetchInterval: refreshMs,
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => {
      const query = { workspaceId, state: 'OPEN', size: newestMax };
      return ask(platform.GET('/v3/alarms', { signal, params: { query } }));
    },
  });

/** The newest alarms of a device, in any state. */
export const alarmsOfDevice = (workspaceId: string, deviceId: string) =>
  queryOptions({
    queryKey: [...alarmsKey(workspaceId), 'device', deviceId],
    refetchInterval: refreshMs,
    queryFn: ({ signal }) => {
      const query = { workspaceId, deviceId, size: deviceAlarmsMax };
      return ask(platform.GET('/v3/alarms', { signal, params: { query } }));
    },
  });

export const alarmOf = (workspaceId: string, id: string) =>
  queryOptions({
    queryKey: [...alarmsKey(workspaceId), 'one', id],
    queryFn: ({ signal }) =>
      ask(platform.GET('/v3/alarms/{id}', { signal, params: { path: { id } } })),
  });
