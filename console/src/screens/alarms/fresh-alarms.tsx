// Fresh alarms: those that changed a moment ago, so that their rows can glow once.
import { useAlarmEvents } from '../../session/use-alarm-events.ts';
import { createWatchedValue, useWatchedPart } from '../../api/watched-value.ts';

/** The glow begins when the list has the row, up to a second after the event. */
const freshMs = 3_200;

const fresh = createWatchedValue(new Set<string>());

/** Takes note of what opens or is triggered again while the list is shown. */
export function useFreshAlarms(workspaceId: string): void {
  useAlarmEvents(workspaceId, ({ change, alarm: { id } }) => {
    if (change !== 'OPENED' && change !== 'UPDATED' && change !== 'ESCALATED') return;
    const ids = fresh.get();
    ids.add(id);
    fresh.set(ids);
    setTimeout(() => {
      ids.delete(id);
      fresh.set(ids);
    }, freshMs);
  });
}

/** An invisible mark in a row; the table glows where one is set. */
export function FreshMark({ id }: { readonly id: string }) {
  const isFresh = useWatchedPart(fresh, (ids) => ids.has(id));
  return isFresh ? <span data-fresh hidden /> : null;
}
