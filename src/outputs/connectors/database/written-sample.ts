// Written sample: what an output connector stores in the platform itself.
import type { JsonObject } from '../../../model/json.ts';
import type { SendOutcome } from '../target.ts';

/** Passes the same checks as the sample of a device. */
export interface WrittenSample {
  readonly deviceId: string;
  readonly topic: string;
  readonly timestamp: number;
  readonly data: JsonObject;
  readonly meta?: JsonObject;
  readonly correlationId: string;
  readonly ruleHops: number;
  /** Whether rules evaluate the sample. */
  readonly invokeRules: boolean;
  /** The device of the trigger; only devices of its organization can be written to. */
  readonly from: string;
}

export type WriteSample = (sample: WrittenSample) => Promise<SendOutcome>;
