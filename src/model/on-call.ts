// On-call orders: who gets the messages of alarms at a moment, and who takes over (contract 39.4).
import { emailAddressOf } from './user.ts';
import { dayMs, type EpochMs } from './instant.ts';
import type { AuditFields } from './record.ts';
import { momentOfLocal, offsetAt, type TimeZone } from './time-zone.ts';

export const turnLengths = ['P1D', 'P1W'] as const;
export type TurnLength = (typeof turnLengths)[number];

export const onCallLimits = {
  perWorkspaceMax: 100,
  orderMax: 50,
  overridesMax: 200,
  overrideMsMax: 366 * dayMs,
} as const;

/** Somebody takes the place of whoever has the turn, from `from` until before `to`. */
export interface OnCallOverride {
  readonly from: EpochMs;
  readonly to: EpochMs;
  readonly email: string;
}

export interface OnCall extends AuditFields {
  readonly id: string;
  readonly organizationId: string;
  readonly workspaceId: string;
  readonly name: string;
  readonly description: string | null;
  readonly timeZone: string;
  /** Addresses that take turns, in this order, from the beginning after the last one. */
  readonly order: readonly string[];
  readonly turn: TurnLength;
  /** Start of the first turn. Later ones start at the same local time. */
  readonly startsAt: EpochMs;
  /** Without overlap, in order of time. */
  readonly overrides: readonly OnCallOverride[];
  /** Addresses that belonged to members of the organization when they were entered. */
  readonly memberEmails: readonly string[];
}

type Rotation = Pick<OnCall, 'order' | 'turn' | 'startsAt' | 'overrides'>;

/**
 * Who is on call at the moment. The first of the order is so before the first turn too. Turns and
 * overrides of an address in `left` go to the next of the order, or to whoever has the turn.
 */
export function onCallAt(
  rotation: Rotation,
  zone: TimeZone,
  at: EpochMs,
  left: ReadonlySet<string> = new Set(),
): {
  /** Null when everybody has left. */
  readonly email: string | null;
  /** When somebody else takes over; null for never. */
  readonly until: EpochMs | null;
  /** Who takes over then. */
  readonly next: string | null;
} {
  const turns = new Turns(rotation, zone);
  const overrides = rotation.overrides.filter(({ email }) => !left.has(emailAddressOf(email)));
  const present = rotation.order.filter((email) => !left.has(emailAddressOf(email)));
  const isShared = new Set(present.map(emailAddressOf)).size > 1;
  const personAt = (moment: EpochMs): string | null => {
    const override = overrides.find(({ from, to }) => from <= moment && moment < to);
    if (override !== undefined) return override.email;
    const { order } = rotation;
    const turn = turns.at(moment);
    for (let i = 0; i < order.length; i++) {
      const email = order[(turn + i) % order.length];
      if (email !== undefined && !left.has(emailAddressOf(email))) return email;
    }
    return null;
  };
  const changeAfter = (moment: EpochMs): EpochMs => {
    const edges = overrides.flatMap(({ from, to }) => [from, to]).filter((edge) => edge > moment);
    const isOverridden = overrides.some(({ from, to }) => from <= moment && moment < to);
    // The turns below an override change nothing.
    const turnEnd = isShared && !isOverridden ? turns.start(turns.at(moment) + 1) : Infinity;
    return Math.min(turnEnd, ...edges);
  };
  const email = personAt(at);
  for (let until = changeAfter(at); until !== Infinity; until = changeAfter(until)) {
    const next = personAt(until);
    if (emailAddressOf(next ?? '') !== emailAddressOf(email ?? '')) return { email, until, next };
  }
  return { email, until: null, next: null };
}

/** The turns of a rotation by their number from 0. The first one has no start. */
class Turns {
  readonly #zone: TimeZone;
  readonly #firstLocal: number;
  readonly #length: number;

  constructor({ turn, startsAt }: Rotation, zone: TimeZone) {
    this.#zone = zone;
    this.#firstLocal = startsAt + offsetAt(zone, startsAt);
    this.#length = turn === 'P1D' ? dayMs : 7 * dayMs;
  }

  /**
   * A local time that is skipped in spring is the moment of the jump; one that comes twice in autumn
   * is its first coming.
   */
  start(turn: number): EpochMs {
    const local = this.#firstLocal + turn * this.#length;
    const pieces = this.#zone.pieces(local - 2 * dayMs, local + 2 * dayMs);
    return momentOfLocal(pieces, local) ?? local;
  }

  at(moment: EpochMs): number {
    const local = moment + offsetAt(this.#zone, moment);
    let turn = Math.max(0, Math.floor((local - this.#firstLocal) / this.#length));
    while (this.start(turn + 1) <= moment) turn += 1;
    while (turn > 0 && this.start(turn) > moment) turn -= 1;
    return turn;
  }
}
