// Message match: which delivery of an output carried which change of an alarm.
import type { components } from '../../../generated/interface-types.ts';
import type { Alarm } from '../../api/alarms.ts';

type Delivery = components['schemas']['Delivery'];

const alarmChanges = ['OPENED', 'ACKNOWLEDGED', 'CLEARED', 'ESCALATED'] as const;
export type NotifiedChange = (typeof alarmChanges)[number];

/** When the change happened; undefined while it has not. */
export function changeTime(alarm: Alarm, change: NotifiedChange): string | undefined {
  const { firstTriggered, acknowledged, cleared, escalated } = alarm;
  switch (change) {
    case 'ACKNOWLEDGED':
      return acknowledged?.at;
    case 'CLEARED':
      return cleared?.at;
    case 'ESCALATED':
      return escalated ?? undefined;
    default:
      return firstTriggered;
  }
}

/** The newest delivery that notifies of the change; undefined without one. */
export function deliveryOf(
  deliveries: readonly Delivery[],
  alarm: Alarm,
  change: NotifiedChange,
): Delivery | undefined {
  return deliveries
    .filter(({ alarmId, alarmChange }) => alarmId === alarm.id && alarmChange === change)
    .toSorted((a, b) => Date.parse(b.created) - Date.parse(a.created))[0];
}
