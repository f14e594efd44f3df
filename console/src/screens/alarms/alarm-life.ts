// Life of an alarm: its events in their order, as the record keeps them.
import type { Alarm } from '../../api/alarms.ts';

export interface LifeEvent {
  readonly kind: 'ACKNOWLEDGED' | 'CLEARED' | 'COMMENTED' | 'COUNTED' | 'ESCALATED' | 'OPENED';
  readonly at: string;
  /** Null for what the platform did. */
  readonly by: string | null;
  /** A comment, or the reason for clearing. */
  readonly content: string | null;
}

/** The oldest first; of further triggers the record keeps the number and the last one. */
export function lifeOf(alarm: Alarm): readonly LifeEvent[] {
  const { count, firstTriggered, lastTriggered, acknowledged, cleared, escalated } = alarm;
  const event = (kind: LifeEvent['kind'], at: string, by: string | null = null): LifeEvent => {
    return { kind, at, by, content: null };
  };
  const events: LifeEvent[] = [
    ...alarm.comments.map(({ at, by, text }) => {
      return { kind: 'COMMENTED' as const, at, by: by.name, content: text };
    }),
    ...(count > 1 ? [event('COUNTED', lastTriggered)] : []),
    ...(escalated === null ? [] : [event('ESCALATED', escalated)]),
    ...(acknowledged === null
      ? []
      : [event('ACKNOWLEDGED', acknowledged.at, acknowledged.by.name)]),
    ...(cleared === null
      ? []
      : [{ ...event('CLEARED', cleared.at, cleared.by?.name ?? null), content: cleared.reason }]),
  ];
  return [
    event('OPENED', firstTriggered),
    ...events.toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at)),
  ];
}
