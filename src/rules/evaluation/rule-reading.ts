// Reading: the samples of the data sources of a rule at the moment it is triggered, and the verdict on them.
import { dataValue } from '../../model/sample.ts';
import type { EpochMs } from '../../model/instant.ts';
import type { Json, JsonObject } from '../../model/json.ts';
import type { BlockWaits } from '../../model/rule.ts';

/** A sample as rules keep it. */
export interface RuleSample {
  readonly deviceId: string;
  readonly topic: string;
  readonly timestamp: EpochMs;
  readonly data: JsonObject;
  readonly meta?: JsonObject | undefined;
  readonly correlationId?: string | undefined;
}

/** Data sources with their keys. */
type Keyed = readonly { readonly source: { readonly dataKey: string } }[];

/** The value of the data source's own key; the whole data when it has none. */
export function ownValue(reading: Reading, sources: Keyed, place: number): Json | undefined {
  return reading.value(place, sources[place]?.source.dataKey ?? '');
}

/** Whether a key represents the entire sample. */
export function isWholeSample(key: string): boolean {
  return key === '' || key === '*';
}

export class Reading {
  /** The sample of each data source, in their order; undefined where none is known. */
  readonly samples: readonly (RuleSample | undefined)[];
  // Consecutive rules share the reading and often read the same key: the last value is cached.
  #lastSource = -1;
  #lastKey = '';
  #last: Json | undefined;

  constructor(samples: readonly (RuleSample | undefined)[]) {
    this.samples = samples;
  }

  /** Returns the value of a key in the sample of the data source with that index. */
  value(source: number, key: string): Json | undefined {
    if (source === this.#lastSource && key === this.#lastKey) return this.#last;
    const data = this.samples[source]?.data;
    this.#lastSource = source;
    this.#lastKey = key;
    this.#last = data;
    if (data !== undefined && !isWholeSample(key)) this.#last = dataValue(data, key);
    return this.#last;
  }
}

// RuleEvaluation: the result of evaluating a rule, with the conditions that are true and the actions that fire.

/** An action that must be performed. */
export interface Firing {
  readonly actionId: string;
  /** The reason of the firing. Rule, trigger and cause identify the firing permanently. */
  readonly cause: string;
}

export interface RuleEvaluation {
  /** One character per condition: logic blocks, or the inside of a fence. Kept per device. */
  readonly holds: string;
  readonly firings: readonly Firing[];
  /** A condition was already true, and an action does not fire again. */
  readonly suppressed: boolean;
  /** The conditions without a value. */
  readonly missing: readonly string[];
  /** Logic blocks that change later than their conditions; absent for a rule without them. */
  readonly waits?: BlockWaits;
}
