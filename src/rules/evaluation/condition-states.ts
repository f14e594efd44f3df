// Condition states: the result of the last evaluation by device and rule, in cells that plans keep.
import type { BlockWait, BlockWaits } from '../../model/rule.ts';
import type { EpochMs } from '../../model/instant.ts';
import type { BlockTest } from './comparison.ts';

/** The conditions of one rule that are true for one device. */
export interface ConditionState {
  readonly ruleId: string;
  /** Empty for timed runs. */
  readonly deviceId: string;
  /** One character per condition; empty when unknown. Change it only through `change`. */
  holds: string;
  /** Logic blocks that are about to change; null for most. Change it only through `change`. */
  waits: BlockWaits | null;
  /** Identifies the states it belongs to, and their version; see `isCurrent`. */
  readonly epoch: object;
}

/** The states of devices that have a plan, and of timed runs. The records have all of them. */
export class ConditionStates {
  // Cells in which no condition was ever true are not kept here, because one exists per rule and
  // device.
  readonly #devices = new Map<string, Map<string, ConditionState>>();
  readonly #changed = new Set<ConditionState>();
  #epoch = {};

  /** Devices with a state in memory. */
  get size(): number {
    return this.#devices.size;
  }

  /** Returns the cell, which the caller may keep as long as it is current. */
  cell(ruleId: string, deviceId: string): ConditionState {
    return (
      this.#devices.get(deviceId)?.get(ruleId) ?? {
        ruleId,
        deviceId,
        holds: '',
        waits: null,
        epoch: this.#epoch,
      }
    );
  }

  /** False after `clear`, and for cells of other states. Call `cell` again then. */
  isCurrent(cell: ConditionState): boolean {
    return cell.epoch === this.#epoch;
  }

  /** Stores the result of an evaluation. */
  change(cell: ConditionState, holds: string, sent?: BlockWaits): void {
    const waits = sent?.some((wait) => wait !== null) === true ? sent : null;
    const isEqual = equalWaits(cell.waits, waits);
    // Unknown is the same as no true condition.
    if (isEqual && (cell.holds === holds || (cell.holds === '' && !holds.includes('1')))) return;
    if (cell.holds === '') this.#keep(cell);
    cell.holds = holds;
    cell.waits = waits;
    this.#changed.add(cell);
  }

  /** Call before the first `cell` of the rule and device. */
  load({ ruleId, deviceId, holds, waits }: Omit<ConditionState, 'epoch'>): void {
    this.#keep({ ruleId, deviceId, holds, waits, epoch: this.#epoch });
  }

  /** Returns the changes since the last call, and marks them as saved. */
  takeChanged(): readonly Omit<ConditionState, 'epoch'>[] {
    const taken = [...this.#changed].map(savedState);
    this.#changed.clear();
    return taken;
  }

  /** Call for a device whose plan is discarded, when its changes were taken. */
  forgetDevice(deviceId: string): void {
    this.#devices.delete(deviceId);
  }

  /** Discards the state of timed runs of the rule. */
  forgetTimed(ruleId: string): void {
    this.#devices.get('')?.delete(ruleId);
  }

  clear(): void {
    this.#devices.clear();
    this.#changed.clear();
    this.#epoch = {};
  }

  #keep(cell: ConditionState): void {
    const cells = this.#devices.get(cell.deviceId);
    if (cells === undefined) this.#devices.set(cell.deviceId, new Map([[cell.ruleId, cell]]));
    else cells.set(cell.ruleId, cell);
  }
}

function savedState({ ruleId, deviceId, holds, waits }: ConditionState) {
  return { ruleId, deviceId, holds, waits };
}

// Block waits: a logic block becomes true, or false, only when its conditions say so for long enough (contract 38).

/** When a block changes later than its conditions. */
export interface BlockHold {
  /** Time for which the conditions have to be true; 0 without any. */
  readonly holdsForMs: number;
  /** Conditions that end the block, instead of its conditions being false. */
  readonly clearTest: BlockTest | undefined;
  /** Time for which the block has to be over; 0 without any. */
  readonly clearsForMs: number;
}

/** Time of the sample that is evaluated, and when it was received. */
export interface Moment {
  readonly time: EpochMs;
  readonly now: EpochMs;
}

/**
 * A block after an evaluation. `isTrue` says what its conditions make of it; `before` and `wait`
 * are its state. It changes with a sample that is late enough after the first one that
 * contradicted, or when that one was received long enough ago.
 */
export function heldBlock(
  hold: BlockHold,
  before: boolean,
  wait: BlockWait | null,
  isTrue: boolean,
  { time, now }: Moment,
): { readonly isTrue: boolean; readonly wait: BlockWait | null } {
  if (isTrue === before) return { isTrue, wait: null };
  const ms = before ? hold.clearsForMs : hold.holdsForMs;
  const { since, due } = wait ?? { since: time, due: now + ms };
  if (time - since >= ms || now >= due) return { isTrue, wait: null };
  return { isTrue: before, wait: wait ?? { since, due } };
}

function equalWaits(a: BlockWaits | null, b: BlockWaits | null): boolean {
  if (a === null || b === null) return a === b;
  return a.every((wait, i) => wait?.since === b[i]?.since && wait?.due === b[i]?.due);
}
