// History: the weeks before the first start, sent in the order of time through the real decoders.
import { setImmediate as immediate } from 'node:timers/promises';
import type { EpochMs } from '../../src/model/instant.ts';
import { dayMs, hourMs } from './physics/local-time.ts';
import type { DemoUplink, Platform } from './platform.ts';
import type { EnrolledDevice } from './setup.ts';

/**
 * Takes raw payloads of the past through decoding and storing, each device's in the order of the
 * batch, and resolves when all are durable. A batch holds at most some hours of all devices, in the
 * order of time.
 */
export type LoadUplinks = (batch: readonly DemoUplink[]) => Promise<void>;

const windowMs = 4 * hourMs;
const lanesMax = 24;

export interface HistoryRequest {
  readonly devices: readonly EnrolledDevice[];
  readonly uplinkSecret: string;
  /**
   * Where the history of a device begins: after its newest stored sample, at most some weeks ago.
   */
  readonly from: (device: EnrolledDevice) => EpochMs;
  readonly to: EpochMs;
  readonly signal: AbortSignal;
  readonly load: LoadUplinks;
  /** Called with the share that is loaded. */
  readonly progressed?: (share: number) => void;
}

/** Loads what is missing up to `to`; returns how many payloads that were. */
export async function loadHistory({
  devices,
  uplinkSecret,
  from,
  to,
  signal,
  load,
  progressed = () => undefined,
}: HistoryRequest): Promise<number> {
  const starts = new Map(devices.map((one) => [one, from(one)]));
  let loaded = 0;
  const first = Math.min(to, ...starts.values());
  for (let start = first; start < to; start += windowMs) {
    signal.throwIfAborted();
    const end = Math.min(to, start + windowMs);
    const batch: DemoUplink[] = [];
    for (const one of devices) {
      batch.push(...uplinksOf(one, uplinkSecret, Math.max(start, starts.get(one)!), end));
      // The platform may live in the same process; it must not wait for the simulation of all
      // devices.
      await immediate();
    }
    if (batch.length > 0) await load(batch.sort((a, b) => a.at - b.at));
    loaded += batch.length;
    progressed((end - first) / (to - first));
  }
  return loaded;
}

/** What a device sends by itself in [from, to). */
function uplinksOf(
  { device }: EnrolledDevice,
  uplinkSecret: string,
  from: EpochMs,
  to: EpochMs,
): DemoUplink[] {
  if (from >= to) return [];
  const { deviceId } = device;
  return device
    .uplinkTimes(from, to)
    .map((at) => ({ deviceId, uplinkSecret, at, payload: device.payloadAt(at) }));
}

/**
 * Start of a device's history: after its newest sample on the platform, so an interrupted start
 * resumes there.
 */
export async function historyStart(
  platform: Platform,
  { id }: EnrolledDevice,
  now: EpochMs,
  historyDays: number,
): Promise<EpochMs> {
  const [newest] = await platform.post<readonly { readonly timestamp: string }[]>(
    `/v3/devices/${id}/query`,
    {
      topic: '*',
      limit: 1,
    },
  );
  const earliest = now - historyDays * dayMs;
  return newest === undefined ? earliest : Math.max(earliest, Date.parse(newest.timestamp) + 1);
}

/**
 * Loads through `POST /v3/capture`: one request in flight per device, so each device keeps its
 * order.
 */
export function loadOverHttp(platform: Platform, lanes = lanesMax): LoadUplinks {
  return async (batch) => {
    const queues = [...Map.groupBy(batch, (uplink) => uplink.deviceId).values()];
    const lane = async () => {
      for (let queue = queues.shift(); queue !== undefined; queue = queues.shift()) {
        for (const uplink of queue) {
          const { refused } = await platform.capture(uplink);
          if (refused !== undefined) throw new Error(refused);
        }
      }
    };
    await Promise.all(Array.from({ length: Math.min(lanes, queues.length) }, lane));
  };
}
