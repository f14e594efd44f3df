// Condition states: the result of the last evaluation by rule and device, in cells that plans keep.

/** The conditions of one rule that are true for one device. */
export interface ConditionState {
  readonly ruleId: string;
  /** Empty for timed runs. */
  readonly deviceId: string;
  /** One character per condition; empty when unknown. Change it only through `change`. */
  holds: string;
  /** Identifies the states it belongs to, and their version; see `isCurrent`. */
  readonly epoch: object;
}

export interface ConditionStates {
  get(ruleId: string, deviceId: string): string;
  set(ruleId: string, deviceId: string, holds: string): void;
  /** Returns the cell, which the caller may keep as long as it is current. */
  cell(ruleId: string, deviceId: string): ConditionState;
  /**
   * False after states were deleted or loaded, and for cells of other states. Call `cell` again
   * then.
   */
  isCurrent(cell: ConditionState): boolean;
  /** Stores the result of an evaluation. */
  change(cell: ConditionState, holds: string): void;
  load(ruleId: string, deviceId: string, holds: string): void;
  /** Returns the changes since the last call, and marks them as saved. */
  takeChanged(): readonly {
    readonly ruleId: string;
    readonly deviceId: string;
    readonly holds: string;
  }[];
  forget(ruleId: string): void;
  clear(): void;
}

export function createConditionStates(): ConditionStates {
  // Cells in which no condition was ever true are not kept here, because one exists per rule and
  // device.
  const rules = new Map<string, Map<string, ConditionState>>();
  const changed = new Set<ConditionState>();
  let epoch = {};

  function cellOf(ruleId: string, deviceId: string): ConditionState {
    const cell = rules.get(ruleId)?.get(deviceId);
    if (cell?.epoch === epoch) return cell;
    const current = { ruleId, deviceId, holds: cell?.holds ?? '', epoch };
    if (cell !== undefined) {
      keepCell(rules, current);
      if (changed.delete(cell)) changed.add(current);
    }
    return current;
  }

  function change(cell: ConditionState, holds: string): void {
    // Unknown is the same as no true condition.
    if (cell.holds === holds || (cell.holds === '' && !holds.includes('1'))) return;
    if (cell.holds === '') keepCell(rules, cell);
    cell.holds = holds;
    changed.add(cell);
  }

  return {
    get: (ruleId, deviceId) => rules.get(ruleId)?.get(deviceId)?.holds ?? '',
    set(ruleId, deviceId, holds) {
      // A plan may keep an empty cell of the same rule and device.
      if (rules.get(ruleId)?.has(deviceId) !== true) epoch = {};
      change(cellOf(ruleId, deviceId), holds);
    },
    cell: cellOf,
    isCurrent: (cell) => cell.epoch === epoch,
    change,
    load(ruleId, deviceId, holds) {
      const cell = rules.get(ruleId)?.get(deviceId);
      if (cell !== undefined) cell.holds = holds;
      else {
        epoch = {};
        keepCell(rules, { ruleId, deviceId, holds, epoch });
      }
    },
    takeChanged() {
      const taken = [...changed].map(savedState);
      changed.clear();
      return taken;
    },
    forget(ruleId) {
      if (rules.delete(ruleId)) epoch = {};
    },
    clear() {
      rules.clear();
      changed.clear();
      epoch = {};
    },
  };
}

function keepCell(rules: Map<string, Map<string, ConditionState>>, cell: ConditionState): void {
  const cells = rules.get(cell.ruleId);
  if (cells === undefined) rules.set(cell.ruleId, new Map([[cell.deviceId, cell]]));
  else cells.set(cell.deviceId, cell);
}

function savedState({ ruleId, deviceId, holds }: ConditionState) {
  return { ruleId, deviceId, holds };
}
