// Raw uplinks that tests add to a store, and the plain list that its answers are compared with.
import { expect } from 'vitest';
import { dayMs } from '../../../model/instant.ts';
import type { RawUplink } from '../../../model/uplink.ts';
import { missing } from '../../../structures/missing.ts';
import type { RawUplinkPage, RawUplinkRange, RawUplinkStore } from '../raw-uplink-store.ts';

export const devices = ['0200000000000001', '0200000000000002', '0200000000000003'] as const;

/** Moved by tests; stores read it. */
export interface Clock {
  now: number;
}

export const startOfRuns = 100 * dayMs;

function deviceAt(position: number): string {
  return devices[position % devices.length] ?? missing('device');
}

/** Bodies that do not compress to nothing, so that blocks fill. */
export function uplinkAt(
  position: number,
  receivedAt: number,
  more: Partial<RawUplink> = {},
): RawUplink {
  const deviceId = deviceAt(position);
  const payloadHex = Buffer.from(
    Array.from({ length: 20 }, (_, i) => (position * 7_919 + i * 104_729) % 251),
  ).toString('hex');
  const body = { port: 1, payloadHex, text: 'a\tb\\n\n"ä' };
  return {
    id: `id-${position}`,
    deviceId,
    position,
    receivedAt,
    payload: { topic: null, timestamp: null, body, bodyBytes: 60, ...readAs(position) },
    samples: [{ deviceId, topic: 'default', timestamp: receivedAt, data: { position } }],
    duplicates: 0,
    ...more,
  };
}

/** Most are JSON; some tell what else they were read as, with bytes that the body lacks. */
function readAs(position: number): Partial<RawUplink['payload']> {
  if (position % 4 === 1) return { encoding: 'BYTES' };
  return position % 4 === 3 ? { encoding: 'CBOR', payloadHex: 'a0' } : {};
}

/** Adds one uplink a call, as a follower of a journal without other entries. */
export async function addUplinks(
  store: RawUplinkStore,
  clock: Clock,
  {
    from,
    to,
    stepMs = 0,
  }: { readonly from: number; readonly to: number; readonly stepMs?: number },
): Promise<RawUplink[]> {
  const added: RawUplink[] = [];
  for (let position = from; position < to; position++) {
    clock.now += stepMs;
    const one = uplinkAt(position, clock.now);
    added.push(one);
    await store.add([one], position + 1);
  }
  return added;
}

export function listed(
  store: RawUplinkStore,
  deviceId: string,
  more: Partial<RawUplinkRange> = {},
): Promise<RawUplinkPage> {
  return store.list({ deviceId, skip: 0, limit: 10_000, ...more });
}

/** Newest first. */
export function uplinksOf(added: readonly RawUplink[], deviceId: string): RawUplink[] {
  return added.filter((one) => one.deviceId === deviceId).toReversed();
}

export async function expectAll(store: RawUplinkStore, added: readonly RawUplink[]): Promise<void> {
  for (const deviceId of devices) {
    const own = uplinksOf(added, deviceId);
    expect(await listed(store, deviceId)).toEqual({ uplinks: own, total: own.length });
  }
}
