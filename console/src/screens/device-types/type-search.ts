// Addresses of device types: the list, and the replay of one.

export const typeSources = ['manual', 'library'] as const;
type TypeSource = (typeof typeSources)[number];

/** What the address of the list says. */
export interface TypeSearch {
  readonly q?: string;
  readonly source?: TypeSource;
}

export function readTypeSearch(search: Record<string, unknown>): TypeSearch {
  const source = typeSources.find((one) => one === search['source']);
  return {
    ...(typeof search['q'] === 'string' && search['q'] !== '' ? { q: search['q'] } : {}),
    ...(source === undefined ? {} : { source }),
  };
}

// What the address of calculated keys says.

interface CalculatedSearch {
  /** Id of a recalculation whose progress is shown. */
  readonly operation?: string;
}

export function readCalculatedSearch(search: Record<string, unknown>): CalculatedSearch {
  const { operation } = search;
  return typeof operation === 'string' && /^[0-9a-f]{16}$/.test(operation) ? { operation } : {};
}

// Decoder search: an uplink that the decoder made nothing of.

export interface FailedUplink {
  /** Id of its device. */
  readonly device: string;
  readonly uplink: string;
  /** When it arrived. */
  readonly at: string;
  /** Where the decoder failed, counted from 1. */
  readonly line?: number;
}

/** What the address of the decoder says. */
export function readDecoderSearch(search: Record<string, unknown>): Partial<FailedUplink> {
  const { device, uplink, at, line } = search;
  if (typeof device !== 'string' || typeof uplink !== 'string' || typeof at !== 'string') return {};
  if (Number.isNaN(Date.parse(at))) return {};
  const isLine = typeof line === 'number' && Number.isInteger(line) && line > 0;
  return { device, uplink, at, ...(isLine && { line }) };
}

// Replay search: what the address of a replay says.

export const replayLimits = [100, 500, 1_000] as const;
const verdicts = ['DIFFERENT', 'ERROR', 'UNKNOWN', 'SAME'] as const;
export type Verdict = (typeof verdicts)[number];

/** What the address of the replay says. */
interface ReplaySearch {
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
