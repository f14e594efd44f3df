// Remote downlinks: commands reach the owner of their device, whose queue sends them.
import type { Downlink, DownlinkCommand } from '../model/downlink.ts';
import type { NodeMessages } from '../model/node-messages.ts';
import type { DeviceWorkspaces } from './device-workspaces.ts';
import type { DownlinkCause } from '../downlinks/downlink.ts';
import type { DownlinkQueue } from '../downlinks/downlink-queue.ts';

const kinds = { send: 'downlinkSend', wake: 'downlinkWake' } as const;
/** Bytes of a request to run the queue, roughly. */
const wakeBytes = 100;

type Send = (
  deviceId: string,
  command: DownlinkCommand,
  cause: DownlinkCause,
) => Promise<readonly Downlink[]>;

interface SendRequest {
  readonly deviceId: string;
  readonly command: DownlinkCommand;
  readonly cause: DownlinkCause;
}

interface WakeRequest {
  readonly deviceId: string;
  readonly isImmediate: boolean;
}

/** Runs the queue at the device's owner. When the request is lost, the next owner runs it. */
export function wakeOwner(
  messages: NodeMessages,
  deviceWorkspaces: DeviceWorkspaces,
  wakeOwn: DownlinkQueue['wake'],
  failed: (error: unknown) => void,
): DownlinkQueue['wake'] {
  const wake = async (deviceId: string, isImmediate: boolean): Promise<void> => {
    const workspace = await deviceWorkspaces.of(deviceId);
    // The downlinks of a deleted device are deleted too.
    if (workspace === undefined) return;
    const sent: WakeRequest = { deviceId, isImmediate };
    const own = async () => {
      wakeOwn(deviceId, isImmediate);
      return null;
    };
    const message = { kind: kinds.wake, request: sent, again: sent, bytes: wakeBytes, own };
    await messages.toHolder(workspace.workspaceId, message);
  };
  return (deviceId, isImmediate = false) => void wake(deviceId, isImmediate).catch(failed);
}

/** Queues the downlinks at the owner, whose encoder knows the state of the device. */
export function sendAtOwner({
  messages,
  deviceWorkspaces,
  queue,
  send,
}: {
  readonly messages: NodeMessages;
  readonly deviceWorkspaces: DeviceWorkspaces;
  /** Both work on devices of this node. */
  readonly queue: Pick<DownlinkQueue, 'wake'>;
  readonly send: Send;
}): Send {
  messages.handle(kinds.wake, async (request) => {
    const { deviceId, isImmediate } = request as WakeRequest;
    queue.wake(deviceId, isImmediate);
    return null;
  });
  messages.handle(kinds.send, async (request) => {
    const { deviceId, command, cause } = request as SendRequest;
    return await send(deviceId, command, cause);
  });
  return async (deviceId, command, cause) => {
    const workspace = await deviceWorkspaces.of(deviceId);
    // For an unknown device, it says so.
    if (workspace === undefined || messages.holds(workspace.workspaceId))
      return send(deviceId, command, cause);
    const request = { deviceId, command, cause };
    const queued = await messages.toHolder(workspace.workspaceId, {
      kind: kinds.send,
      request,
      bytes: JSON.stringify(request).length,
      // With a key, a repetition makes the same downlinks, which are queued once.
      ...(cause.idempotencyKey !== undefined && { again: request }),
      own: async () => await send(deviceId, command, cause),
    });
    return queued as readonly Downlink[];
  };
}
