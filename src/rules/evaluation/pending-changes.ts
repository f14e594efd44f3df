// Pending changes: what happened to the records of rules since the last refresh.
import type { ChangeFollower } from '../../model/record.ts';

export interface Changes {
  /** Every rule must be read again. */
  readonly isAll: boolean;
  readonly rules: ReadonlySet<string>;
  /** Output connectors and custom logic, which rules use. */
  readonly used: ReadonlySet<string>;
  readonly devices: ReadonlySet<string>;
  readonly tags: ReadonlySet<string>;
  /** Places that may have moved, with all that is below. */
  readonly places: ReadonlySet<string>;
}

interface PendingChanges extends ChangeFollower {
  take(): Changes;
  /** Call when the refresh with these changes failed. The next one reads every rule. */
  putBack(changes: Changes): void;
}

/** Starts with `isAll`. */
export function createPendingChanges(): PendingChanges {
  let isAll = true;
  let rules = new Set<string>();
  let used = new Set<string>();
  let devices = new Set<string>();
  let tags = new Set<string>();
  let places = new Set<string>();

  return {
    recordChanged({ kind, id, action }) {
      // A state of a rule that was changed by others is read again, with the plan of its device.
      if (kind === 'device' || kind === 'conditionState') devices.add(id);
      if (kind === 'conditionState') rules.add(id);
      // No device has a new tag. A device that gets or loses a tag changes itself.
      if (kind === 'tag' && action !== 'created') tags.add(id);
      // No device is at a new place.
      if (kind === 'place' && action !== 'created') places.add(id);
      if (kind === 'rule') rules.add(id);
      if (kind === 'outputConnector' || kind === 'customLogic') used.add(id);
    },
    changesMissed() {
      isAll = true;
    },
    take() {
      const taken = { isAll, rules, used, devices, tags, places };
      places = new Set();
      isAll = false;
      rules = new Set();
      used = new Set();
      devices = new Set();
      tags = new Set();
      return taken;
    },
    putBack(changes) {
      isAll = true;
      for (const id of changes.devices) devices.add(id);
    },
  };
}
