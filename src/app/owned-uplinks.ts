// Connects uplinks with the owners of their devices: those of this node are taken here, others are sent.
import type { Parts } from './platform-parts.ts';
import { withDeviceLease } from '../cluster/owned-devices.ts';
import type { DuplicateFilter } from '../transports/duplicate-filter.ts';
import type { KeptSamples } from '../model/kept-samples.ts';
import type { Uplink } from '../model/uplink.ts';

type TakeUplink = (uplink: Uplink) => Promise<KeptSamples | undefined>;

/** Without other nodes, the work itself. */
export function createDeviceLeaseGuard({ ownership }: Parts) {
  return <T>(deviceId: string, work: () => Promise<T>): Promise<T> => {
    if (ownership === undefined) return work();
    return withDeviceLease(ownership.heldFor, deviceId, work);
  };
}

/** Takes uplinks of own devices here, and sends others to the owner in the order of their device. */
export async function uplinksOfAll({ messages }: Parts, takeOwn: TakeUplink): Promise<TakeUplink> {
  if (messages === undefined) return takeOwn;
  const { sendUplink } = await import('../cluster/remote-uplinks.ts');
  return async (uplink) => {
    if (messages.beginsHere(uplink.device.id)) return takeOwn(uplink);
    return sendUplink(uplink, messages, takeOwn);
  };
}

/** Takes uplinks of own devices that arrived at other nodes. */
export async function answerUplinks(
  { messages, directory }: Parts,
  { takeOwnUplink }: { readonly takeOwnUplink: TakeUplink },
  duplicates: DuplicateFilter,
): Promise<void> {
  if (messages === undefined) return;
  const { uplinkMessage, uplinkReceiver } = await import('../cluster/remote-uplinks.ts');
  const findRoute = (deviceId: string) => directory.byDevice(deviceId);
  messages.handle(uplinkMessage, uplinkReceiver({ findRoute, takeOwnUplink, duplicates }));
}
