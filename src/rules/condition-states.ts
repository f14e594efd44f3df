// What held at the last verdict, by rule and device: in cells that plans keep at hand, so that a verdict looks nothing up.

/** What holds for one rule and device. */
export interface ConditionState {
  readonly ruleId: string;
  /** Empty for timed runs. */
  readonly deviceId: string;
  /** One character for each thing that can hold; empty when nothing is known. To be changed through `change` alone. */
  holds: string;
  /** Where and since when it counts; see `isCurrent`. */
  readonly epoch: object;
}

export interface ConditionStates {
  get(ruleId: string, deviceId: string): string;
  set(ruleId: string, deviceId: string, holds: string): void;
  /** May be kept as long as it is current. */
  cell(ruleId: string, deviceId: string): ConditionState;
  /** False after anything was forgotten or loaded, and for cells of other memories; the cell is asked for again then. */
  isCurrent(cell: ConditionState): boolean;
  /** Keeps what holds now. */
  change(cell: ConditionState, holds: string): void;
  load(ruleId: string, deviceId: string, holds: string): void;
  /** What changed since the last call, and is then taken as saved. */
  takeChanged(): readonly {
    readonly ruleId: string;
    readonly deviceId: string;
    readonly holds: string;
  }[];
  forget(ruleId: string): void;
  clear(): void;
}

export function createConditionStates(): ConditionStates {
  // Cells in which nothing ever held are not kept here: there is one for each rule and device.
  const rules = new Map<string, Map<string, ConditionState>>();
  const changed = new Set<ConditionState>();
  let epoch = {};

  const known = (ruleId: string, deviceId: string): ConditionState | undefined =>
    rules.get(ruleId)?.get(deviceId);
  const keep = (cell: ConditionState): void => {
    const cells = rules.get(cell.ruleId);
    if (cells === undefined) rules.set(cell.ruleId, new Map([[cell.deviceId, cell]]));
    else cells.set(cell.deviceId, cell);
  };
  const cellOf = (ruleId: string, deviceId: string): ConditionState => {
    const cell = known(ruleId, deviceId);
    if (cell?.epoch === epoch) return cell;
    const current = { ruleId, deviceId, holds: cell?.holds ?? '', epoch };
    if (cell !== undefined) {
      keep(current);
      if (changed.delete(cell)) changed.add(current);
    }
    return current;
  };
  const change = (cell: ConditionState, holds: string): void => {
    // Nothing known and nothing holding are the same.
    if (cell.holds === holds || (cell.holds === '' && !holds.includes('1'))) return;
    if (cell.holds === '') keep(cell);
    cell.holds = holds;
    changed.add(cell);
  };
  return {
    get: (ruleId, deviceId) => known(ruleId, deviceId)?.holds ?? '',
    set(ruleId, deviceId, holds) {
      // Somebody may have an empty cell of the same rule and device at hand.
      if (known(ruleId, deviceId) === undefined) epoch = {};
      change(cellOf(ruleId, deviceId), holds);
    },
    cell: cellOf,
    isCurrent: (cell) => cell.epoch === epoch,
    change,
    load(ruleId, deviceId, holds) {
      const cell = known(ruleId, deviceId);
      if (cell !== undefined) cell.holds = holds;
      else {
        epoch = {};
        keep({ ruleId, deviceId, holds, epoch });
      }
    },
    takeChanged() {
      const taken = [...changed].map(({ ruleId, deviceId, holds }) => ({
        ruleId,
        deviceId,
        holds,
      }));
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
