// Device turns: tasks of one device run one after the other.
interface TurnsByDevice {
  isBusy(deviceId: string): boolean;
  /** Runs the task after those of the device that were given before. Settles as the task does. */
  run<T>(deviceId: string, task: () => Promise<T>): Promise<T>;
}

/** Entries of a device that arrive together are stored in the order of their arrival. */
export function createTurnsByDevice(): TurnsByDevice {
  const last = new Map<string, Promise<unknown>>();
  return {
    isBusy: (deviceId) => last.has(deviceId),
    run(deviceId, task) {
      const before = last.get(deviceId);
      const result = before === undefined ? task() : before.then(task, task);
      last.set(deviceId, result);
      const ended = (): void => {
        if (last.get(deviceId) === result) last.delete(deviceId);
      };
      result.then(ended, ended);
      return result;
    },
  };
}
