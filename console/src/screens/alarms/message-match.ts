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

/** A message waits behind others of its device, and the clocks of device and platform may differ. */
const withinMs = 120_000;

/** Of the deliveries for its rule, the one made closest to the change; undefined without any near. */
export function deliveryOf(
  deliveries: readonly Delivery[],
  alarm: Alarm,
  change: NotifiedChange,
): Delivery | undefined {
  const at = changeTime(alarm, change);
  if (at === undefined) return undefined;
  const far = ({ created }: Delivery) => Math.abs(Date.parse(created) - Date.parse(at));
  return deliveries
    .filter((delivery) => delivery.ruleId === alarm.rule?.id && far(delivery) < withinMs)
    .toSorted((a, b) => far(a) - far(b))[0];
}
