// Alarm changes: requests that acknowledge, clear and comment alarms, loaded with what offers them.
import type { components } from '../../generated/interface-types.ts';
import type { Alarm } from './alarms.ts';
import { ask, platform } from './platform.ts';

export type AlarmBulkBody = components['schemas']['AlarmBulkBody'];

export function acknowledgeAlarm(id: string): Promise<Alarm> {
  return ask(platform.POST('/v3/alarms/{id}/acknowledge', { params: { path: { id } } }));
}

export function clearAlarm(id: string, reason: string): Promise<Alarm> {
  const body = reason === '' ? {} : { reason };
  return ask(platform.POST('/v3/alarms/{id}/clear', { params: { path: { id } }, body }));
}

export type AlarmMuteBody = components['schemas']['AlarmMuteBody'];

export function muteAlarm(id: string, body: AlarmMuteBody): Promise<Alarm> {
  return ask(platform.POST('/v3/alarms/{id}/mute', { params: { path: { id } }, body }));
}

export function deleteMute(id: string) {
  return ask(platform.DELETE('/v3/mutes/{id}', { params: { path: { id } } }));
}

export function commentAlarm(id: string, text: string): Promise<Alarm> {
  const params = { path: { id } };
  return ask(platform.POST('/v3/alarms/{id}/comments', { params, body: { text } }));
}

export function changeAlarms(body: AlarmBulkBody) {
  return ask(platform.POST('/v3/alarms/bulk', { body }));
}
