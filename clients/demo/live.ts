// Live operation: every device sends at its own instants, more often than a real one.
import type { EpochMs } from '../../src/model/instant.ts';
import { minuteMs } from './physics/local-time.ts';
import { merged, periodic } from './physics/schedule.ts';
import { seedOf } from './physics/seeded.ts';
import type { DemoUplink, Platform } from './platform.ts';
import type { EnrolledDevice } from './setup.ts';

const tickMs = 1_000;
/**
 * After a longer gap, such as a sleeping laptop, devices only send what they would have sent by
 * themselves.
 */
const quickenedMaxMs = 2 * minuteMs;

export interface LiveRequest {
  readonly devices: readonly EnrolledDevice[];
  readonly uplinkSecret: string;
  readonly from: EpochMs;
  readonly signal: AbortSignal;
  readonly now: () => EpochMs;
  readonly pause: (ms: number) => Promise<unknown>;
  readonly platform: Pick<Platform, 'capture'>;
  readonly print: (text: string) => void;
}

/**
 * Sends until the signal is aborted, then rejects with its reason. A rejected device stops; the
 * others continue.
 */
export async function sendLive(request: LiveRequest): Promise<never> {
  const { uplinkSecret, now, pause, print } = request;
  let sending = request.devices;
  for (let start = request.from; ; ) {
    const end = Math.max(start, now());
    for (const uplink of uplinksBetween(sending, uplinkSecret, start, end)) {
      if (!sending.some(({ device }) => device.deviceId === uplink.deviceId)) continue;
      const { refused } = await sendPatiently(request, uplink);
      if (refused === undefined) continue;
      print(`Demo: device ${uplink.deviceId} stops sending. ${refused}`);
      sending = sending.filter(({ device }) => device.deviceId !== uplink.deviceId);
    }
    start = end;
    await pause(tickMs);
  }
}

/** What the devices send in [start, end), in the order of time. */
export function uplinksBetween(
  devices: readonly EnrolledDevice[],
  uplinkSecret: string,
  start: EpochMs,
  end: EpochMs,
): DemoUplink[] {
  const quickened = end - start <= quickenedMaxMs;
  const uplinks = devices.flatMap(({ device, kind }) => {
    const extra = quickened
      ? periodic(seedOf(device.deviceId), start, end, kind.liveIntervalMs)
      : [];
    const { deviceId } = device;
    return merged(device.uplinkTimes(start, end), extra).map((at) => ({
      deviceId,
      uplinkSecret,
      at,
      payload: device.payloadAt(at),
    }));
  });
  return uplinks.sort((a, b) => a.at - b.at);
}

// A payload that could not be delivered in all tries is lost, as with a real device; the next one
// may get through.
async function sendPatiently(
  { platform, signal, print }: LiveRequest,
  uplink: DemoUplink,
): Promise<{ readonly refused?: string }> {
  try {
    return await platform.capture(uplink);
  } catch (error) {
    if (signal.aborted) throw error;
    print(`Demo: a payload of ${uplink.deviceId} is lost. ${String(error)}`);
    return {};
  }
}
