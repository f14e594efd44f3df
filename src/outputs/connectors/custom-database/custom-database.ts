// Custom database: stores a sample created from the trigger for another topic and device (contract 9, 35).
import { connectorType } from '../connector-type.ts';
import { createSampleTarget } from '../database/database.ts';
import { optionalFlag, optionalText, text } from '../properties.ts';

export const customDatabase = connectorType({
  vendorName: 'CUSTOM_AKENZA_DATABASE',
  propertiesKey: 'customDatabaseProperties',
  propertiesAlias: 'customAkenzaDbProperties',
  properties: {
    topic: text('Topic of the written samples.'),
    targetDeviceId: optionalText('Required when `useCurrentDevice` is false.'),
    useCurrentDevice: optionalFlag(
      'Whether to write to the device of the sample. Defaults to true without `targetDeviceId`.',
    ),
  },
  secrets: [],
  alsoNeeded: ({ useCurrentDevice }) => (useCurrentDevice === false ? ['targetDeviceId'] : []),
  defaultScope: 'RULE_ACTION',
  parse(sent) {
    const topic = sent.needed('topic');
    const targetDeviceId = sent.text('targetDeviceId');
    const useCurrentDevice = sent.flag('useCurrentDevice', targetDeviceId === null);
    if (!useCurrentDevice && targetDeviceId === null)
      sent.refuse('targetDeviceId', 'is required when useCurrentDevice is false');
    return { topic, targetDeviceId, useCurrentDevice };
  },
  deviceIds: ['targetDeviceId'],
  usesDevices: ({ useCurrentDevice }) => !useCurrentDevice,
  check: () => {},
  open: (properties, { writeSample }, options) =>
    createSampleTarget({ ...properties, ...options }, writeSample),
});
