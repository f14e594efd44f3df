// Alarm events of a workspace: each refreshes what is shown of its alarms, at most once a second.
import { type Alarm, alarmsKey } from '../api/alarms.ts';
import { useRefresh, useWorkspaceEvents } from './use-workspace-events.ts';

export interface AlarmEvent {
  readonly change: string;
  readonly alarm: Alarm;
}

/** Calls `happened` for each event. Nothing is heard without permission to read alarms. */
export function useAlarmEvents(workspaceId: string, happened: (event: AlarmEvent) => void): void {
  useWorkspaceEvents(workspaceId, 'ALARM', {
    onEvent({ change, alarm }) {
      if (alarm !== undefined) happened({ change: String(change), alarm: alarm as Alarm });
    },
  });
}

/** Asks again for the alarms and the figures of the workspace after events; once for the page. */
export function useAlarmRefresh(workspaceId: string): void {
  useAlarmEvents(workspaceId, useRefresh([alarmsKey(workspaceId), ['overview', workspaceId]]));
}
