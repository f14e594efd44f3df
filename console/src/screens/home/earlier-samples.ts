// Earlier samples: the newest ones of the devices that were heard last, from before the page was opened.
import { ask, platform } from '../../api/platform.ts';
import type { LiveSample } from '../../api/stream.ts';

/** The newest first, at most `count`; a device counts with its newest sample per topic. */
export async function earlierSamples(
  workspaceId: string,
  count: number,
  signal: AbortSignal,
): Promise<readonly LiveSample[]> {
  const query = { size: count, sort: 'uplinkMetrics.timestamp,desc', fields: 'id' };
  const list = { signal, params: { query }, body: { workspaceIds: [workspaceId] } };
  const heard = await ask(platform.POST('/v3/assets/list', list));
  const deviceIds = heard.content.map(({ id }) => id);
  return newestSamples({ deviceIds }, count, signal);
}

interface OfDevices {
  readonly deviceIds: string[];
  /** ISO-8601; now without it. */
  readonly at?: string;
}

/** The newest first, at most `count`, of at most 1,000 devices. */
export async function newestSamples(
  body: OfDevices,
  count: number,
  signal: AbortSignal,
): Promise<readonly LiveSample[]> {
  if (body.deviceIds.length === 0) return [];
  const latest = await ask(platform.POST('/v3/devices/query/latest', { signal, body }));
  return latest.content
    .flatMap(({ deviceId, samples }) =>
      samples.map((sample) => ({ ...(sample as Omit<LiveSample, 'deviceId'>), deviceId })),
    )
    .sort((one, other) => Date.parse(other.timestamp) - Date.parse(one.timestamp))
    .slice(0, count);
}
