// Alarm notifications: the output connectors that the properties name, also those of a document that was not parsed.
import type { AlarmNotification, AlarmProperties } from '../../model/alarm.ts';
import { isJsonObject, type Json } from '../../model/json.ts';

type Notifying = Pick<AlarmProperties, 'notify'>;

export function namedOutputs({ notify }: Notifying) {
  return sentNotifications(notify).flatMap((one, place) => {
    if (!isNotification(one)) return [];
    return [{ member: `notify.${place}.outputConnectorId`, id: one.outputConnectorId }];
  });
}

export function renamedOutputs<P extends Notifying>(
  properties: P,
  rename: (id: string) => string,
): P {
  const { notify } = properties;
  if (!Array.isArray(notify)) return properties;
  const renamed = sentNotifications(notify).map((one) => {
    if (!isNotification(one)) return one;
    return { ...one, outputConnectorId: rename(one.outputConnectorId) };
  });
  return { ...properties, notify: renamed };
}

function sentNotifications(notify: unknown): readonly Json[] {
  if (!Array.isArray(notify)) return [];
  return notify as readonly Json[];
}

function isNotification(sent: Json): sent is AlarmNotification {
  return isJsonObject(sent) && typeof sent['outputConnectorId'] === 'string';
}
