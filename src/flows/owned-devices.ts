// Owned devices: entries are accepted for devices that this node owns, before the script and after the sync.
import { problem } from '../model/problem.ts';
import type { Uplink } from '../model/uplink.ts';

/** A right that can end while work is done. */
export interface Held {
  isValid(): boolean;
}

/** The right to a device; undefined when this node does not have it. */
export type HeldFor = (deviceId: string) => Held | undefined;

export interface DeviceOwnership {
  readonly heldFor: HeldFor;
  /**
   * Resolves with `stored` when the owner has the uplink, or with `own` when that is this node.
   * Throws Problems.
   */
  readonly send: (uplink: Uplink) => Promise<'stored' | 'own'>;
}

/** Does the work while the device is owned. Throws `deviceMoved`, also when the work was done. */
export async function whileOwned<T>(
  heldFor: HeldFor,
  deviceId: string,
  work: () => Promise<T>,
): Promise<T> {
  const held = heldFor(deviceId);
  if (held === undefined) throw problem('deviceMoved');
  const done = await work();
  // What another node may know nothing of must not be acknowledged.
  if (!held.isValid()) throw problem('deviceMoved');
  return done;
}
