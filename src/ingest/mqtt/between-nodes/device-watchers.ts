// Device watchers: the other nodes with subscribers for devices of this node.
import type { NodeAddress } from '../../../model/node-address.ts';

/** A node watches a device since a call; later calls have higher numbers. */
export interface Watcher {
  readonly node: NodeAddress;
  readonly since: number;
}

export interface DeviceWatchers {
  add(deviceId: string, node: NodeAddress): void;
  remove(deviceId: string, nodeId: string): void;
  /** Removes a watcher that answered that it has no subscriber, unless it has watched again. */
  removeOutdated(deviceId: string, watcher: Watcher): void;
  of(deviceId: string): Iterable<Watcher>;
  dropNode(nodeId: string): void;
  dropDevices(isDropped: (deviceId: string) => boolean): void;
  readonly size: number;
}

export function createDeviceWatchers(): DeviceWatchers {
  const devices = new Map<string, Map<string, Watcher>>();
  let calls = 0;

  function remove(deviceId: string, nodeId: string): void {
    const watchers = devices.get(deviceId);
    watchers?.delete(nodeId);
    if (watchers?.size === 0) devices.delete(deviceId);
  }

  return {
    add(deviceId, node) {
      const watchers = devices.get(deviceId) ?? new Map<string, Watcher>();
      devices.set(deviceId, watchers);
      watchers.set(node.id, { node, since: ++calls });
    },
    remove,
    removeOutdated(deviceId, { node, since }) {
      if (devices.get(deviceId)?.get(node.id)?.since === since) remove(deviceId, node.id);
    },
    of: (deviceId) => devices.get(deviceId)?.values() ?? [],
    dropNode(nodeId) {
      for (const deviceId of devices.keys()) remove(deviceId, nodeId);
    },
    dropDevices(isDropped) {
      for (const deviceId of devices.keys()) if (isDropped(deviceId)) devices.delete(deviceId);
    },
    get size() {
      return devices.size;
    },
  };
}
