// Demo of one workspace on a running platform: records in the name of a caller, then history and live payloads.
import { setTimeout as wait } from 'node:timers/promises';
import type { EpochMs } from '../../src/model/instant.ts';
import { alarmRuleNames, setUpAlarmRules } from './alarm-rules.ts';
import { setUpDashboard } from './dashboard.ts';
import { deviceKinds } from './devices/kind-table.ts';
import { historyStart, loadHistory, loadOverHttp } from './history.ts';
import type { Send } from './keep-alive.ts';
import { sendLive } from './live.ts';
import { dayMs } from './physics/local-time.ts';
import { connectPlatform } from './platform.ts';
import { type EnrolledDevice, setUpDemo } from './setup.ts';
import { simulateOnce } from './simulated.ts';

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
  /** Activates the rules that were not changed since; called when the history is loaded. */
  readonly activateRules: (names: readonly string[]) => Promise<void>;
}

/** Resolves when all records exist, with the device types that are new. The rules are not active. */
export async function openWorkspaceDemo(options: WorkspaceDemoOptions): Promise<{
  readonly deviceTypeIds: readonly string[];
  readonly run: () => Promise<never>;
}> {
  const { send, headers, organizationId, workspaceId, signal, now, activateRules } = options;
  const platform = connectPlatform({ baseUrl: '', headers, send, signal });
  const workspace = await setUpDemo(platform, { organizationId, workspaceId }, deviceKinds);
  await setUpDashboard(platform, workspace);
  await setUpAlarmRules(platform, workspace, false);
  const { devices, uplinkSecret, deviceTypeIds } = workspace;
  const to = now();
  const starts = new Map<string, EpochMs>();
  for (const device of devices)
    starts.set(device.id, await historyStart(platform, device, to, historyDays));
  const run = () => simulateOnce(workspaceId, signal, simulate);
  async function simulate(): Promise<never> {
    await loadHistory({
      devices,
      uplinkSecret,
      from: ({ id }) => starts.get(id) ?? to,
      to,
      signal,
      load: loadOverHttp(platform, lanesMax),
    });
    await activateRules(alarmRuleNames);
    const pause = (ms: number) => wait(ms, undefined, { signal });
    // A device that a user deleted sends no more, which is what the user wants.
    const print = () => undefined;
    return sendLive({ devices, uplinkSecret, from: to, signal, now, pause, platform, print });
  }
  return { deviceTypeIds, run };
}

export interface ResumedDemoOptions
  extends Omit<WorkspaceDemoOptions, 'headers' | 'organizationId'> {
  readonly uplinkSecret: string;
  /** The devices of the workspace, with the time of their newest sample. */
  readonly devices: readonly {
    readonly id: string;
    readonly deviceId: string;
    readonly newest: EpochMs | undefined;
  }[];
}

/** Sends again after a restart, first what was missed; needs no credential but the uplink secret. */
export async function resumeWorkspaceDemo(options: ResumedDemoOptions): Promise<never> {
  const { send, workspaceId, uplinkSecret, signal, now, activateRules } = options;
  const platform = connectPlatform({ baseUrl: '', headers: {}, send, signal });
  const known = new Map(options.devices.map((device) => [device.deviceId, device]));
  const devices = deviceKinds.flatMap((kind) =>
    kind.devices.flatMap((device): EnrolledDevice[] => {
      const record = known.get(device.deviceId);
      return record === undefined ? [] : [{ id: record.id, kind, device }];
    }),
  );
  const to = now();
  const earliest = to - historyDays * dayMs;
  const from = ({ device }: EnrolledDevice) => {
    const newest = known.get(device.deviceId)?.newest;
    return newest === undefined ? earliest : Math.max(earliest, newest + 1);
  };
  return simulateOnce(workspaceId, signal, async () => {
    const load = loadOverHttp(platform, lanesMax);
    await loadHistory({ devices, uplinkSecret, from, to, signal, load });
    await activateRules(alarmRuleNames);
    const pause = (ms: number) => wait(ms, undefined, { signal });
    const print = () => undefined;
    return sendLive({ devices, uplinkSecret, from: to, signal, now, pause, platform, print });
  });
}
