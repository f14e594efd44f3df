// Replay search: what the address of a replay says.

export const replayLimits = [100, 500, 1_000] as const;
export const verdicts = ['DIFFERENT', 'ERROR', 'UNKNOWN', 'SAME'] as const;
export type Verdict = (typeof verdicts)[number];

/** What the address of the replay says. */
export interface ReplaySearch {
  readonly limit?: number;
  readonly show?: Verdict;
}

export function readReplaySearch(search: Record<string, unknown>): ReplaySearch {
  const limit = replayLimits.find((one) => one === search['limit']);
  const show = verdicts.find((one) => one === search['show']);
  return {
    ...(limit === undefined ? {} : { limit }),
    ...(show === undefined ? {} : { show }),
  };
}
