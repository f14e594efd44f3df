// Felt captures: one capture of a device after the other, while something else loads the platform.
import { setTimeout as delay } from 'node:timers/promises';
import { type Summary, summarize } from './measure.ts';
import { httpRequest, mustSucceed, openConnection } from './http.ts';
import type { Platform } from './platform.ts';

/** A device, with the uplink secret of its connector. */
export interface FeltDevice {
  readonly deviceId: string;
  readonly secret: string;
}

/** Of each device, in turns, with a pause after each turn. */
export async function feltCaptures(
  { target }: Platform,
  devices: readonly FeltDevice[],
  { seconds, pauseMs }: { readonly seconds: number; readonly pauseMs: number },
): Promise<Summary[]> {
  const connection = await openConnection(target);
  const durations = devices.map((): number[] => []);
  const until = performance.now() + seconds * 1_000;
  for (let n = 0; performance.now() < until; n++) {
    for (const [which, { deviceId, secret }] of devices.entries()) {
      const path = `/v3/capture?secret=${secret}&deviceId=${deviceId}`;
      const headers = { 'content-type': 'application/json' };
      const request = httpRequest('POST', path, headers, JSON.stringify({ value: n }));
      const startedAt = performance.now();
      mustSucceed(await connection.send(request));
      durations[which]?.push(performance.now() - startedAt);
    }
    await delay(pauseMs);
  }
  connection.close();
  return durations.map(summarize);
}
