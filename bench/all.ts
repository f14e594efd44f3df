// All goals: runs the benches that have one, one after the other, and prints one table of ratios within this run.
// node bench/all.ts [--only capture,webhook-cost] [--short] [--write]
import { fork } from 'node:child_process';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { type Goal, isReached, type Told } from './load/goals.ts';
import { figure, markdownTable, publish, verdict } from './load/measure.ts';

const { values: flags } = parseArgs({
  options: {
    only: { type: 'string' },
    /** Whether everything works, in a quarter of the time; the figures say little. */
    short: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
});

interface Run {
  readonly bench: string;
  readonly args: readonly string[];
  /** Instead of `args` with `--short`. */
  readonly short: readonly string[];
}

const runs: readonly Run[] = [
  { bench: 'capture', args: ['--warm', '15'], short: ['--warm', '3', '--seconds', '3'] },
  {
    bench: 'capture',
    args: ['--warm', '15', '--pass-through'],
    short: ['--warm', '3', '--seconds', '3', '--pass-through'],
  },
  {
    bench: 'edges',
    args: ['--edges', '0,2'],
    short: ['--edges', '0,2', '--rounds', '1', '--warm', '3'],
  },
  {
    bench: 'webhook-cost',
    args: [],
    short: ['--rounds', '1', '--seconds', '3', '--warm', '4'],
  },
  {
    bench: 'bulk',
    args: ['--samples', '2000000', '--installed'],
    short: ['--samples', '200000', '--devices', '100', '--installed'],
  },
  {
    bench: 'fleet-peers',
    args: ['--installed'],
    short: ['--installed', '--devices', '1000', '--one-devices', '30', '--one-days', '8'],
  },
  {
    bench: 'start',
    args: ['--runs', '5', '--devices', '700', '--days', '1'],
    short: ['--runs', '1', '--devices', '100', '--days', '1'],
  },
  { bench: 'device-import', args: ['--plain'], short: ['--plain', '--devices', '5000'] },
  { bench: 'export', args: [], short: ['--samples', '100000', '--rounds', '1'] },
  { bench: 'script-fairness', args: [], short: ['--seconds', '3'] },
  { bench: 'intake-fairness', args: ['--seconds', '5'], short: ['--seconds', '2'] },
];

interface Measured {
  readonly bench: string;
  readonly goals: readonly Goal[];
  readonly skipped: readonly string[];
  /** Load average of the machine when the bench ended. */
  readonly load: number;
}

const only = flags.only?.split(',');
const chosen = runs.filter(({ bench }) => only?.includes(bench) ?? true);
for (const name of only ?? [])
  if (!runs.some(({ bench }) => bench === name))
    throw new Error(`no bench with a goal is called ${name}`);
const measured: Measured[] = [];
for (const run of chosen) measured.push(await measure(run));
publish('Goals', [
  `Every figure is a ratio to something measured in the same run, in turns where the bench says so; the benches ran one after the other on one machine${flags.short ? ', much shorter than they should' : ''}. The load is the machine's average over a minute when the bench ended.`,
  markdownTable(
    ['what', 'figure', 'in relation to', 'goal', '', 'bench', 'load'],
    measured.flatMap(rowsOf),
  ),
  ...measured.flatMap(({ bench, skipped }) => skipped.map((words) => `${bench}: ${words}`)),
]);

/** A bench in a process of its own: its report goes to stderr, and its goals to this process. */
function measure({ bench, args, short }: Run): Promise<Measured> {
  const words = [bench, ...(flags.short ? short : args)];
  console.error(`\n${words.join(' ')}`);
  return new Promise((resolve) => {
    const goals: Goal[] = [];
    const skipped: string[] = [];
    const child = fork(join(import.meta.dirname, 'run.ts'), words, {
      stdio: ['ignore', process.stderr, process.stderr, 'ipc'],
    });
    child.on('message', (told: Told) => {
      goals.push(...told.goals);
      skipped.push(...told.skipped);
    });
    child.on('close', (code, signal) => {
      // A long run must not lose the figures of the other benches.
      if (code !== 0) {
        skipped.push(`FAILED with ${signal ?? `exit code ${code}`}; see what it printed`);
        process.exitCode = 1;
      }
      resolve({ bench, goals, skipped, load: loadavg()[0] ?? Number.NaN });
    });
  });
}

function rowsOf({ bench, goals, load }: Measured): string[][] {
  return goals.map((goal) => [
    goal.what,
    figure(goal.figure),
    goal.of,
    `${goal.best === 'high' ? 'at least' : 'at most'} ${goal.goal}`,
    verdict(isReached(goal)),
    bench,
    figure(load),
  ]);
}
