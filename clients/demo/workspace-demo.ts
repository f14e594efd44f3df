// Demo of one workspace on a running platform: records in the name of a caller, then history and live payloads.
import { setTimeout as wait } from 'node:timers/promises';
import type { EpochMs } from '../../src/model/instant.ts';
import { deviceKinds } from './devices/kind-table.ts';
import { historyStart, loadHistory, loadOverHttp } from './history.ts';
import type { Send } from './keep-alive.ts';
import { setUpLeakRule } from './leak-rule.ts';
import { sendLive } from './live.ts';
import { connectPlatform } from './platform.ts';
import { setUpDemo } from './setup.ts';

const historyDays = 7;
/** The platform serves other requests at the same time. */
const lanesMax = 4;

export interface WorkspaceDemoOptions {
  /** Requests of the process that runs the platform. */
  readonly send: Send;
  /** The credential of the caller. */
  readonly headers: Readonly<Record<string, string>>;
  readonly organizationId: string;
  readonly workspaceId: string;
  readonly signal: AbortSignal;
  readonly now: () => EpochMs;
}

/** Resolves when all records but the rule exist, with the device types that are new. */
export async function openWorkspaceDemo(options: WorkspaceDemoOptions): Promise<{
  readonly deviceTypeIds: readonly string[];
  readonly run: () => Promise<never>;
}> {
  const { send, headers, organizationId, workspaceId, signal, now } = options;
  const platform = connectPlatform({ baseUrl: '', headers, send, signal });
  const workspace = await setUpDemo(platform, { organizationId, workspaceId }, deviceKinds);
  const { devices, uplinkSecret, deviceTypeIds } = workspace;
  const to = now();
  const starts = new Map<string, EpochMs>();
  for (const device of devices)
    starts.set(device.id, await historyStart(platform, device, to, historyDays));
  async function run(): Promise<never> {
    await loadHistory({
      devices,
      uplinkSecret,
      from: ({ id }) => starts.get(id) ?? to,
      to,
      signal,
      load: loadOverHttp(platform, lanesMax),
    });
    // The past raises no alarms.
    await setUpLeakRule(platform, workspace);
    const pause = (ms: number) => wait(ms, undefined, { signal });
    // A device that a user deleted sends no more, which is what the user wants.
    const print = () => undefined;
    return sendLive({ devices, uplinkSecret, from: to, signal, now, pause, platform, print });
  }
  return { deviceTypeIds, run };
}
