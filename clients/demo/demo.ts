// Demo: creates the workspace, loads the history, prints commands to try, then sends until stopped.
import { setTimeout as wait } from 'node:timers/promises';
import type { EpochMs } from '../../src/model/instant.ts';
import { setUpAlarmRules } from './alarm-rules.ts';
import { setUpDashboard } from './dashboard.ts';
import { deviceKinds } from './devices/kind-table.ts';
import { historyStart, type LoadUplinks, loadHistory, loadOverHttp } from './history.ts';
import { sendLive } from './live.ts';
import { connectPlatform } from './platform.ts';
import { setUpDemo } from './setup.ts';
import { simulateOnce } from './simulated.ts';
import { startText } from './ready-message.ts';

export interface DemoOptions {
  /** Where this process reaches the platform, such as `http://127.0.0.1:8080`. */
  readonly baseUrl: string;
  /** Where users reach it; the same when absent. */
  readonly publicUrl?: string;
  /** A key with every permission on the organization; the printed commands contain it. */
  readonly apiKey: string;
  readonly organizationId: string;
  /** Ends the demo at any point. */
  readonly signal: AbortSignal;
  readonly now: () => EpochMs;
  readonly print: (text: string) => void;
  /**
   * A shorter way for payloads of the past than one HTTP request each; it must run the same
   * decoders.
   */
  readonly loadUplinks?: LoadUplinks;
  /** Days of history on first start. */
  readonly historyDays?: number;
}

const historyDaysDefault = 21;

/**
 * Runs the demo until the signal is aborted, then resolves. Rejects when the workspace cannot be
 * set up or its history not be loaded; the platform itself is not touched by that.
 */
export async function runDemo(options: DemoOptions): Promise<void> {
  try {
    await run(options);
  } catch (error) {
    if (!options.signal.aborted) throw error;
  }
}

async function run(options: DemoOptions): Promise<never> {
  const { baseUrl, publicUrl = baseUrl, apiKey, organizationId, signal, now, print } = options;
  const platform = connectPlatform({ baseUrl, headers: { 'x-api-key': apiKey }, signal });
  const workspace = await setUpDemo(platform, { organizationId }, deviceKinds);
  await setUpDashboard(platform, workspace);
  const { devices, uplinkSecret } = workspace;

  const to = now();
  const starts = new Map<string, EpochMs>();
  for (const device of devices) {
    starts.set(
      device.id,
      await historyStart(platform, device, to, options.historyDays ?? historyDaysDefault),
    );
  }
  const load = options.loadUplinks ?? loadOverHttp(platform);
  const from = (device: { id: string }) => starts.get(device.id)!;
  const progressed = progressPrinter(devices.length, print);
  const pause = (ms: number) => wait(ms, undefined, { signal });
  return simulateOnce(workspace.id, signal, async () => {
    const history = { devices, uplinkSecret, from, to, signal, load, progressed };
    const loaded = await loadHistory(history);
    print(`Demo: ${loaded} payloads decoded and stored in ${((now() - to) / 1_000).toFixed(1)} s.`);
    await setUpAlarmRules(platform, workspace);
    const shownUrl = publicUrl.replace(/\/+$/, '');
    print(startText({ publicUrl: shownUrl, apiKey, workspace, now: now() }));
    return sendLive({ devices, uplinkSecret, from: to, signal, now, pause, platform, print });
  });
}

/** Prints each quarter of the history that is loaded. */
function progressPrinter(devices: number, print: DemoOptions['print']): (share: number) => void {
  let quarters = 0;
  print(`Demo: loading what ${devices} devices sent before now. Commands to try follow.`);
  return (share) => {
    const reached = Math.floor(share * 4);
    if (reached > quarters && reached < 4)
      print(`Demo: ${reached * 25} % of the history is loaded.`);
    quarters = reached;
  };
}
