// Trials: runs of the edited code on the payload of the box, and of the examples after it.
import { useState } from 'react';
import { type Example, examplesIn, examplesMax } from './examples.ts';
import type { JsonObject, ScriptPart } from './payload.ts';
import { type ScriptRun, runScript } from './script-run.ts';
import { useAction } from '../../ui/use-action.ts';

export interface Trials {
  readonly run: ScriptRun | undefined;
  /** The run before, which the results are compared with. */
  readonly before: ScriptRun | undefined;
  /** Runs of the examples by name. */
  readonly tested: ReadonlyMap<string, ScriptRun>;
  readonly isRunning: boolean;
  readonly error: Error | null;
  readonly start: (code: string, event: JsonObject | undefined) => void;
}

interface Started {
  readonly code: string;
  readonly event: JsonObject | undefined;
}

/** Examples are run one after the other: the platform runs few scripts of one user at a time. */
export function useTrials(sampleData: unknown, part: ScriptPart): Trials {
  const [runs, setRuns] = useState<readonly ScriptRun[]>([]);
  const [tested, setTested] = useState<ReadonlyMap<string, ScriptRun>>(new Map());
  const examples: readonly Example[] = examplesIn(sampleData, part).slice(0, examplesMax);
  const mutation = useAction({
    mutationFn: async ({ code, event }: Started) => {
      if (event !== undefined) {
        const run = await runScript(code, event);
        setRuns((before) => [run, ...before].slice(0, 2));
      }
      const results = new Map<string, ScriptRun>();
      for (const example of examples)
        results.set(example.name, await runScript(code, example.event));
      setTested(results);
    },
  });
  const [run, before] = runs;
  return {
    run,
    before,
    tested,
    isRunning: mutation.isPending,
    error: mutation.error,
    start: (code, event) => mutation.mutate({ code, event }),
  };
}
