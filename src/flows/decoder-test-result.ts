// Decoder test result: whether a replayed uplink gave the same samples as when it was received.
import type { Json } from '../model/json.ts';
import type { Sample } from '../model/sample.ts';

/** `UNKNOWN` when the old samples were too large to be kept beside their uplink. */
export const verdicts = ['SAME', 'DIFFERENT', 'ERROR', 'UNKNOWN'] as const;
export type Verdict = (typeof verdicts)[number];

export interface Outcomes {
  readonly old: readonly Sample[] | null;
  /** Old samples that are not among `old`, because identical ones were stored before. */
  readonly duplicates: number;
  readonly new: readonly Sample[];
  /** Whether the new run ended with an error. */
  readonly failed: boolean;
}

/** The order of samples does not count. */
export function verdictOf({ old, duplicates, new: now, failed }: Outcomes): Verdict {
  if (failed) return 'ERROR';
  if (old === null) return 'UNKNOWN';
  const rest = [...now];
  for (const sample of old) {
    const at = rest.findIndex((other) => isSame(sample, other));
    if (at === -1) return 'DIFFERENT';
    rest.splice(at, 1);
  }
  if (rest.length !== duplicates) return 'DIFFERENT';
  return 'SAME';
}

function isSame(one: Sample, other: Sample): boolean {
  return (
    one.topic === other.topic &&
    one.timestamp === other.timestamp &&
    sameJson(one.data, other.data) &&
    sameJson(one.meta ?? {}, other.meta ?? {})
  );
}

/** Equal as JSON: the order of keys does not count, and -0 is 0. */
function sameJson(one: Json, other: Json): boolean {
  if (one === other) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null)
    return false;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const [keys, otherKeys] = [Object.keys(one), Object.keys(other)];
  return (
    keys.length === otherKeys.length &&
    keys.every(
      (key) => Object.hasOwn(other, key) && sameJson(one[key as never], other[key as never]),
    )
  );
}
