// Device trace: the steps of one uplink from its arrival to its deliveries, and what broke (contract 39.3).
import type { EpochMs } from './instant.ts';
import type { JsonObject } from './json.ts';
import type { SearchKind } from './search.ts';

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

export interface TraceLink {
  readonly kind: SearchKind;
  readonly id: string;
}

export interface TraceStep {
  readonly kind: TraceKind;
  readonly state: TraceState;
  /** Null where it is not known. */
  readonly at: EpochMs | null;
  readonly code: TraceCode;
  readonly text: string;
  readonly details: JsonObject | null;
  readonly link: TraceLink | null;
}

export interface TraceFix {
  readonly text: string;
  readonly link: TraceLink | null;
}

export interface DeviceTrace {
  /** When the uplink arrived; null without one. */
  readonly at: EpochMs | null;
  readonly verdict: {
    readonly code: TraceCode;
    readonly text: string;
    readonly fix: TraceFix | null;
  };
  readonly steps: readonly TraceStep[];
}

/** What is asked; the last uplink when neither an uplink nor a moment is named. */
export interface TraceQuestion {
  readonly correlationId?: string | undefined;
  /** The newest uplink at or before it. */
  readonly at?: EpochMs | undefined;
  readonly topic?: string | undefined;
  /** Dots lead into nested objects. */
  readonly dataKey?: string | undefined;
  readonly ruleId?: string | undefined;
  readonly outputConnectorId?: string | undefined;
}
