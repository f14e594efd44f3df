// What a script emits, as the rest of the platform sees it (interface 2.10 and 4.8, contract 16).
import type { Json } from '../model/json.ts';

export type EmitType = 'SAMPLE' | 'LOG' | 'STATE' | 'DOWNLINK' | 'ACTION' | 'TIMER' | 'ERROR';

export interface Emit {
  readonly type: EmitType;
  /** The object passed to `emit`; for ERROR a `ScriptErrorEvent`. */
  readonly event: Json;
  /**
   * Paths of numbers that were NaN or infinite and are null in `event`; only with `nonFinite:
   * 'marked'`.
   */
  readonly nonFinite?: readonly string[];
  /** Paths of BigInts that a number does not hold and are their text in `event`. */
  readonly exact?: readonly string[];
  /** A warning of a payload codec; its LOG event has a `message`. */
  readonly warning?: true;
}

/** The event of an ERROR entry. Line and column are 1-based positions in the user's own source. */
export interface ScriptErrorEvent {
  readonly message: string;
  readonly line?: number;
  readonly column?: number;
}
