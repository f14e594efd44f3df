// Alarm events of a workspace: each refreshes what is shown of its alarms, at most once a second.
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { type Alarm, alarmsKey } from '../api/alarms.ts';
import { useMay } from '../session/permissions.ts';
import { useStream } from './use-stream.ts';

const refreshMs = 1_000;

export interface AlarmEvent {
  readonly change: string;
  readonly alarm: Alarm;
}

/** Calls `happened` for each event. Nothing is heard without permission to read alarms. */
export function useAlarmEvents(workspaceId: string, happened: (event: AlarmEvent) => void): void {
  const mayRead = useMay(workspaceId, 'rule', 'read') && workspaceId !== '';
  useStream(mayRead ? { workspaceId, kinds: ['ALARM'] } : undefined, {
    onEvent: (event) => {
      const { kind, alarm } = event as { readonly kind: string; readonly alarm?: Alarm };
      if (kind !== 'ALARM' || alarm?.workspaceId !== workspaceId) return;
      happened({ change: String(event['change']), alarm });
    },
  });
}

/** Asks again for the alarms and the figures of the workspace after events; once for the page. */
export function useAlarmRefresh(workspaceId: string): void {
  const known = useQueryClient();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(
    () => () => {
      clearTimeout(timer.current);
      timer.current = undefined;
    },
    [],
  );
  useAlarmEvents(workspaceId, () => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      void known.invalidateQueries({ queryKey: alarmsKey(workspaceId) });
      void known.invalidateQueries({ queryKey: ['overview', workspaceId] });
    }, refreshMs);
  });
}
