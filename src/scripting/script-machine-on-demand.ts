// Script machine on demand: its threads start with the first run, because idle threads use memory.
import type { ScriptMachine } from './script-machine.ts';

interface ScriptMachineOnDemand extends Pick<ScriptMachine, 'run' | 'close'> {
  /** Starts the machine before the first run. */
  warmUp(): void;
  /** Undefined until the machine was started. */
  started(): ScriptMachine | undefined;
}

export function createScriptMachineOnDemand(start: () => ScriptMachine): ScriptMachineOnDemand {
  let machine: ScriptMachine | undefined;
  const startOnce = (): ScriptMachine => (machine ??= start());
  return {
    warmUp: () => void startOnce(),
    started: () => machine,
    run: (run) => startOnce().run(run),
    close: async () => machine?.close(),
  };
}
