// Run levels: which runs are merged next, so that each row is written a few times only.

export interface LeveledRun {
  readonly level: number;
  readonly bytes: number;
  /** Some of it cannot be read: it stays as it is, so that nothing more is lost. */
  readonly damaged: boolean;
}

/**
 * The runs to merge, from the first on and before the second place; undefined when there are not enough. `runs` are those of one shape
 * and topic, the oldest first: neighbors are merged, so that runs keep to a stretch of time.
 */
export function runsToMerge(
  runs: readonly LeveledRun[],
  limits: {
    /** This many neighboring runs of one level become one of the next. */
    readonly runsToMerge: number;
    /** Runs are not merged to more than about this size. */
    readonly mergedRunBytesMax: number;
  },
): readonly [first: number, end: number] | undefined {
  for (let first = 0; first < runs.length; first++) {
    const { level } = runs[first]!;
    let bytes = 0;
    let end = first;
    for (; end < runs.length && end - first < limits.runsToMerge; end++) {
      const next = runs[end]!;
      const isLarge = bytes + next.bytes > limits.mergedRunBytesMax;
      if (next.level !== level || next.damaged || isLarge) break;
      bytes += next.bytes;
    }
    if (end - first === limits.runsToMerge) return [first, end];
  }
  return undefined;
}
