// Live kinds: what can be followed in a workspace (contract 37).

export const liveKinds = [
  'SAMPLE',
  'DEVICE_STATE',
  'ALARM',
  'DELIVERY',
  'RULE_RUN',
  'OPERATION',
  'RECORD_CHANGED',
  'SAMPLES_CHANGED',
] as const;
export type LiveKind = (typeof liveKinds)[number];
