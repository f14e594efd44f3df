// Fresh alarms: those that changed a moment ago, so that their rows can glow once.
import { useSyncExternalStore } from 'react';
import { useAlarmEvents } from '../../live/use-alarm-events.ts';

/** The glow begins when the list has the row, up to a second after the event. */
const freshMs = 3_200;

const fresh = new Set<string>();
const watchers = new Set<() => void>();

/** Takes note of what opens or is triggered again while the list is shown. */
export function useFreshAlarms(workspaceId: string): void {
  useAlarmEvents(workspaceId, ({ change, alarm: { id } }) => {
    if (change !== 'OPENED' && change !== 'UPDATED' && change !== 'ESCALATED') return;
    fresh.add(id);
    announce();
    setTimeout(() => {
      fresh.delete(id);
      announce();
    }, freshMs);
  });
}

/** An invisible mark in a row; the table glows where one is set. */
export function FreshMark({ id }: { readonly id: string }) {
  const isFresh = useSyncExternalStore(watch, () => fresh.has(id));
  return isFresh ? <span data-fresh hidden /> : null;
}

function announce(): void {
  for (const watcher of watchers) watcher();
}

function watch(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}
