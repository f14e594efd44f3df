// LoRa fields: the parts of a device's LoRa properties that lists can filter by, by dotted name (contract 4).

/** The parts of LoRa properties that a filter may look at: none of them is secret. */
export const loraFields = [
  'carrier',
  'activationMode',
  'loraVersion',
  'deviceClass',
  'deviceEui',
  'deviceAddress',
  'actilityProperties.connectivityPlanId',
  'actilityProperties.deviceProfileId',
  'actilityProperties.routingProfileId',
  'actilityProperties.motionIndicator',
] as const;
export type LoraField = (typeof loraFields)[number];
