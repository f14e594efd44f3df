// Group calculation: values of many devices by period, combined and written as samples of a target device (contract 38.2).
import { type EpochMs, dayMs, minuteMs } from './instant.ts';
import { fixedDurationMs } from './iso-duration.ts';
import type { JsonObject } from './json.ts';
import type { AuditFields } from './record.ts';

export const calculationLimits = {
  perWorkspace: 100,
  /** Of one calculation, when it is computed. */
  devices: 10_000,
  /** Named one by one. */
  deviceIds: 1_000,
  outputs: 20,
  /** Between `from` and now, when it is created or changed. */
  periods: 100_000,
} as const;

export const acrossNames = ['SUM', 'AVG', 'MIN', 'MAX', 'MEDIAN', 'COUNT'] as const;
export type AcrossName = (typeof acrossNames)[number];

/** TOTAL: devices; REPORTING: with a sample in the period; ONLINE: by the newest sample at its end. */
export const countNames = ['TOTAL', 'REPORTING', 'ONLINE'] as const;
export type CountName = (typeof countNames)[number];

/** What is computed for each device: a KPI over the period. Of key and expression, one is set. */
export interface EachDevice {
  readonly accumulator: string;
  readonly dataKey: string | null;
  readonly expression: string | null;
  /** ISO-8601 durations; null for the defaults of the accumulator. */
  readonly maxGap: string | null;
  readonly per: string | null;
  readonly state: string | number | boolean | null;
  readonly resets: 'GUARDED' | 'ALL' | null;
}

export type CalculationOutput =
  | { readonly key: string; readonly each: EachDevice; readonly across: AcrossName }
  | { readonly key: string; readonly count: CountName }
  /** Over the keys of the other outputs. */
  | { readonly key: string; readonly expression: string };

export interface Calculation extends AuditFields {
  readonly id: string;
  readonly organizationId: string;
  readonly workspaceId: string;
  readonly name: string;
  readonly description: string | null;
  readonly active: boolean;
  /** The devices that carry the tag, or those that are named: one is set. */
  readonly tagId: string | null;
  readonly deviceIds: readonly string[] | null;
  readonly topic: string;
  /** ISO-8601 duration that divides a day. */
  readonly period: string;
  /** IANA name; null for that of the workspace. */
  readonly timeZone: string | null;
  /** The first period is the one that contains it. */
  readonly from: EpochMs;
  readonly target: { readonly deviceId: string; readonly topic: string };
  readonly outputs: readonly CalculationOutput[];
  /** Grows when what is computed changes: then every period is computed again. */
  readonly activation: number;
}

/** How far a calculation is. */
export interface CalculationProgress {
  readonly calculationId: string;
  readonly activation: number;
  /** Periods that end until here are computed. */
  readonly computedTo: EpochMs;
  /** Null before the first period. */
  readonly computedAt: EpochMs | null;
  readonly error: string | null;
  readonly errorAt: EpochMs | null;
}

/** Late samples of a calculation: periods that touch the range are computed again. */
export interface CalculationMark {
  readonly calculationId: string;
  /** The hour in which the range begins; later ranges of the hour widen it. */
  readonly slot: number;
  readonly from: EpochMs;
  /** Exclusive. */
  readonly to: EpochMs;
}

/** The milliseconds of a period, or why it cannot be one. */
export function periodMs(text: string): number | string {
  const ms = fixedDurationMs(text, { min: 'PT1M', max: 'P1D' });
  if (typeof ms === 'string') return ms;
  if (ms % minuteMs !== 0 || dayMs % ms !== 0) return 'must be whole minutes that divide a day';
  return ms;
}

// Results on their way to the target device.

export interface GroupResults {
  /** The target. */
  readonly deviceId: string;
  readonly topic: string;
  readonly calculationId: string;
  /** In the order of time. */
  readonly results: readonly {
    readonly timestamp: EpochMs;
    /** Null removes the sample. */
    readonly data: JsonObject | null;
  }[];
}

/** How many samples were stored, replaced or removed. */
export interface PutOutcome {
  readonly stored: number;
  readonly replaced: number;
}

export type PutResults = (results: GroupResults) => Promise<PutOutcome>;
