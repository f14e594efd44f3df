// Condition states: the result of the last evaluation by device and rule, in cells that plans keep.

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

/** The states of devices that have a plan, and of timed runs. The records have all of them. */
export interface ConditionStates {
  /** Devices with a state in memory. */
  readonly size: number;
  /** Returns the cell, which the caller may keep as long as it is current. */
  cell(ruleId: string, deviceId: string): ConditionState;
  /** False after `clear`, and for cells of other states. Call `cell` again then. */
  isCurrent(cell: ConditionState): boolean;
  /** Stores the result of an evaluation. */
  change(cell: ConditionState, holds: string): void;
  /** Call before the first `cell` of the rule and device. */
  load(ruleId: string, deviceId: string, holds: string): void;
  /** Returns the changes since the last call, and marks them as saved. */
  takeChanged(): readonly {
    readonly ruleId: string;
    readonly deviceId: string;
    readonly holds: string;
  }[];
  /** Call for a device whose plan is discarded, when its changes were taken. */
  forgetDevice(deviceId: string): void;
  /** Discards the state of timed runs of the rule. */
  forgetTimed(ruleId: string): void;
  clear(): void;
}

export function createConditionStates(): ConditionStates {
  // Cells in which no condition was ever true are not kept here, because one exists per rule and
  // device.
  const devices = new Map<string, Map<string, ConditionState>>();
  const changed = new Set<ConditionState>();
  let epoch = {};

  function keep(cell: ConditionState): void {
    const cells = devices.get(cell.deviceId);
    if (cells === undefined) devices.set(cell.deviceId, new Map([[cell.ruleId, cell]]));
    else cells.set(cell.ruleId, cell);
  }

  return {
    get size() {
      return devices.size;
    },
    cell: (ruleId, deviceId) =>
      devices.get(deviceId)?.get(ruleId) ?? { ruleId, deviceId, holds: '', epoch },
    isCurrent: (cell) => cell.epoch === epoch,
    change(cell, holds) {
      // Unknown is the same as no true condition.
      if (cell.holds === holds || (cell.holds === '' && !holds.includes('1'))) return;
      if (cell.holds === '') keep(cell);
      cell.holds = holds;
      changed.add(cell);
    },
    load: (ruleId, deviceId, holds) => keep({ ruleId, deviceId, holds, epoch }),
    takeChanged() {
      const taken = [...changed].map(savedState);
      changed.clear();
      return taken;
    },
    forgetDevice: (deviceId) => void devices.delete(deviceId),
    forgetTimed: (ruleId) => void devices.get('')?.delete(ruleId),
    clear() {
      devices.clear();
      changed.clear();
      epoch = {};
    },
  };
}

function savedState({ ruleId, deviceId, holds }: ConditionState) {
  return { ruleId, deviceId, holds };
}
