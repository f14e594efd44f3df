// Connects users' scripts: one machine for all, started with the first run.
import type { Parts } from './platform-parts.ts';
import { hasDeviceTypes } from '../records/rows/device-types.ts';
import { createScriptMachine, type ScriptMachine } from '../scripting/script-machine.ts';
import { createScriptMachineOnDemand } from '../scripting/script-machine-on-demand.ts';

export interface Scripts extends Pick<ScriptMachine, 'run' | 'close'> {
  /** Runs scripts that users try out. They wait for all other runs. */
  readonly trials: Pick<ScriptMachine, 'run'>;
}

/** Starts the script workers now only if a device type exists, because idle workers use memory. */
export async function composeScripts(parts: Parts): Promise<Scripts> {
  const { config, telemetry, quotaUse, records } = parts;
  const { runScriptsRunning, runScriptsWaiting } = config.quotas;
  const machine = createScriptMachineOnDemand(() =>
    createScriptMachine({
      workers: config.scriptWorkers,
      limits: { trialsRunningMax: runScriptsRunning, trialsWaitingMax: runScriptsWaiting },
      ran: telemetry.scriptRan,
      troubled: telemetry.scriptThreadLost,
    }),
  );
  const { run, close, started } = machine;
  telemetry.gauge('script_runs_waiting', 'Queued script runs.', () => started()?.waiting ?? 0);
  telemetry.gauge('script_threads', 'Threads that run scripts.', () => started()?.threads ?? 0);
  quotaUse.readBy('runScriptsRunning', (id) => started()?.trials(id).underWay ?? 0);
  quotaUse.readBy('runScriptsWaiting', (id) => started()?.trials(id).waiting ?? 0);
  if (await hasDeviceTypes(records.db)) machine.warmUp();
  return { run, close, trials: { run: (trial) => run({ ...trial, kind: 'trial' }) } };
}
