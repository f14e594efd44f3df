// Device trace: the steps of one uplink from its arrival to its deliveries, and what broke (contract 39.3).

export const traceKinds = [
  'ARRIVED',
  'REFUSED',
  'DECODED',
  'STORED',
  'RULE',
  'ALARM',
  'DELIVERY',
] as const;
export type TraceKind = (typeof traceKinds)[number];

export const traceStates = ['OK', 'BROKEN', 'WAITING', 'SKIPPED', 'UNKNOWN'] as const;
export type TraceState = (typeof traceStates)[number];

export const traceCodes = [
  'OK',
  'NEVER_HEARD',
  'SILENT',
  'REFUSED',
  'SCRIPT_ERROR',
  'NO_SAMPLE',
  'KEY_MISSING',
  'KEY_INVALID',
  'EXPIRED',
  'RULE_OFF',
  'RULE_OF_OTHERS',
  'RULE_FALSE',
  'RULE_SUPPRESSED',
  'RULE_WAITING',
  'RULE_FAILED',
  'MUTED',
  'NOT_ROUTED',
  'DELIVERY_WAITING',
  'DELIVERY_FAILED',
] as const;
export type TraceCode = (typeof traceCodes)[number];
