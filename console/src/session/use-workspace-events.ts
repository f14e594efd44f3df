// Workspace events: alarms, runs of rules and deliveries as they happen, and what is asked again after them.
import { type QueryKey, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { type Alarm, alarmsKey } from '../api/alarms.ts';
import { type Listener, type LiveEvent, useStream } from '../api/stream.ts';
import { useMay } from './permissions.ts';

const refreshMs = 1_000;

/** What following a kind needs (contract 37). */
const scopes = { ALARM: 'rule', DELIVERY: 'dataFlow', RULE_RUN: 'rule' } as const;
type FollowedKind = keyof typeof scopes;

/** Events of one kind in one workspace. Nothing is heard without permission to read them. */
function useWorkspaceEvents(
  workspaceId: string,
  kind: FollowedKind,
  { onEvent, ...listener }: Pick<Listener, 'onEvent' | 'onJoin'>,
): void {
  const mayRead = useMay(workspaceId, scopes[kind], 'read') && workspaceId !== '';
  useStream(mayRead ? { workspaceId, kinds: [kind] } : undefined, {
    ...listener,
    onEvent(event) {
      if (event.kind === kind && event['workspaceId'] === workspaceId) onEvent?.(event);
    },
  });
}

/** Returns what asks again for the answers with these keys, at most once a second. */
function useRefresh(keys: readonly QueryKey[]): () => void {
  const known = useQueryClient();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(
    () => () => {
      clearTimeout(timer.current);
      timer.current = undefined;
    },
    [],
  );
  return () => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      for (const queryKey of keys) void known.invalidateQueries({ queryKey });
    }, refreshMs);
  };
}

interface LogOptions {
  readonly workspaceId: string;
  readonly kind: FollowedKind;
  /** Whether the event is one of the log. */
  readonly isOf: (event: LiveEvent) => boolean;
  /** Of the log. */
  readonly key: QueryKey;
}

/** Asks again for a log after its events, and where some may have been missed. */
export function useLogEvents({ workspaceId, kind, isOf, key }: LogOptions): void {
  const refresh = useRefresh([key]);
  useWorkspaceEvents(workspaceId, kind, {
    onJoin: refresh,
    onEvent(event) {
      // The platform says how many it omitted, but not which.
      if ('leftOut' in event || isOf(event)) refresh();
    },
  });
}

// Alarm events of a workspace: each refreshes what is shown of its alarms, at most once a second.

interface AlarmEvent {
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
