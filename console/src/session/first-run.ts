// First run: whether a workspace waits for its first sample, until it came or the user skipped it.
import { queryOptions } from '@tanstack/react-query';
import { answers } from '../api/answers.ts';
import { ask, platform } from '../api/platform.ts';
import { account } from './session.ts';

const skippedKey = 'welcome skipped';
const deviceKey = 'welcome device';

/** Figures of a workspace, in one request. */
export const overviewOf = (workspaceId: string) =>
  queryOptions({
    queryKey: ['overview', workspaceId],
    queryFn: ({ signal }) =>
      ask(
        platform.GET('/v3/workspaces/{id}/overview', {
          signal,
          params: { path: { id: workspaceId } },
        }),
      ),
  });

/** The home page shows the workspace from now on. */
export function skipWelcome(workspaceId: string): void {
  localStorage.setItem(skippedKey, workspaceId);
}

/** The first device of a workspace, whose first sample is waited for. */
export function rememberFirstDevice(workspaceId: string, deviceId: string): void {
  localStorage.setItem(deviceKey, `${workspaceId} ${deviceId}`);
}

/**
 * Defined when the workspace has no sample, and the user may register the device that sends one;
 * `device` is that of the first run, if it was registered.
 */
export async function firstRunOf(
  workspaceId: string,
): Promise<{ readonly device?: string } | undefined> {
  if (localStorage.getItem(skippedKey) === workspaceId) return undefined;
  const { permissions } = await answers.ensureQueryData(account);
  if (permissions[workspaceId]?.['asset']?.includes('create') !== true) return undefined;
  try {
    const { samples, devices } = await answers.ensureQueryData(overviewOf(workspaceId));
    if (samples > 0) return undefined;
    if (devices.total === 0) return {};
    const [place, device] = localStorage.getItem(deviceKey)?.split(' ') ?? [];
    return place === workspaceId && device !== undefined ? { device } : undefined;
  } catch {
    // The home page shows why its figures are missing.
    return undefined;
  }
}
