// `npm run cluster-faults`: a cluster on this machine, faults at random under load, and what they cost.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type FaultKind, faultKinds } from '../tests/faults/faults.ts';
import { startFaultRig } from '../tests/faults/fault-rig.ts';
import { type FaultRound, runFaultRounds } from '../tests/faults/fault-rounds.ts';
import { randomFrom } from '../tests/oracle/filtered-inventory.ts';

const usage = `usage: npm run cluster-faults -- [--rounds 20] [--seed 1] [--only "node killed and away"] [--nodes 3] [--shards 2] [--replicas 2] [--lease-seconds 10] [--devices 12] [--copies 1] [--keep]

Kinds of faults: ${Object.keys(faultKinds).join(', ')}
--keep leaves the data in its folder`;

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '20' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string' },
    nodes: { type: 'string', default: '3' },
    shards: { type: 'string', default: '2' },
    replicas: { type: 'string', default: '2' },
    'lease-seconds': { type: 'string', default: '10' },
    devices: { type: 'string', default: '12' },
    copies: { type: 'string', default: '1' },
    keep: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  console.log(usage);
  process.exit(0);
}

const folder = mkdtempSync(join(tmpdir(), 'heliograph-faults-'));
console.log(`seed ${values.seed}, data in ${folder}`);
const rig = await startFaultRig({
  folder,
  nodes: Number(values.nodes),
  shards: Number(values.shards),
  replicas: Number(values.replicas),
  leaseMs: Number(values['lease-seconds']) * 1_000,
  journalCopies: Number(values.copies),
});
let ending: Promise<void> | undefined;
/** Ends all processes of the rig, also when a round is cut short. */
function end(): Promise<void> {
  ending ??= rig.stop().then(() => {
    if (!values.keep) rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  });
  return ending;
}
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    console.log(`${signal}: the processes of the cluster are ended`);
    void end().then(() => process.exit(130));
  });
let isSound = false;
try {
  const rounds = await runFaultRounds({
    rig,
    devices: Number(values.devices),
    random: randomFrom(Number(values.seed)),
    kinds: kindsOf(Number(values.rounds)),
    ended: (round, number) => console.log(lineOf(round, number)),
  });
  console.log(summaryOf(rounds));
  isSound = rounds.every(({ violations }) => violations.length === 0);
} finally {
  await end();
}
if (!isSound)
  console.log(`again: npm run cluster-faults -- --seed ${values.seed} --rounds ${values.rounds}`);
process.exit(isSound ? 0 : 1);

/** Each kind in turn, so that a short run has all of them. */
function kindsOf(rounds: number): readonly FaultKind[] {
  const kinds = Object.keys(faultKinds) as FaultKind[];
  const chosen = kinds.filter((kind) => values.only === undefined || kind === values.only);
  if (chosen.length === 0)
    throw new Error(`--only ${values.only} is not a kind of fault\n${usage}`);
  return Array.from({ length: rounds }, (_, round) => chosen[round % chosen.length] ?? kinds[0]!);
}

function lineOf(round: FaultRound, number: number): string {
  const { kind, target, acknowledged, refused, gapMs, settledMs, violations } = round;
  const answers = Object.entries(refused).map(([answer, count]) => `${count} x ${answer}`);
  const lines = [
    `${number} ${kind} (${target}): ${acknowledged} acknowledged, ${answers.join(', ') || 'none refused'}`,
    `longest gap ${Math.round(gapMs)} ms, settled after ${Math.round(settledMs)} ms`,
  ];
  return [lines.join(', '), ...violations.map((one) => `  WRONG: ${one}`)].join('\n');
}

function summaryOf(rounds: readonly FaultRound[]): string {
  const rows = [...Map.groupBy(rounds, ({ kind }) => kind)].map(([kind, ofKind]) => {
    const gaps = ofKind.map(({ gapMs }) => Math.round(gapMs)).toSorted((a, b) => a - b);
    const refused = ofKind.flatMap((one) => Object.values(one.refused));
    const middle = gaps[Math.floor(gaps.length / 2)];
    const acknowledged = ofKind.reduce((sum, one) => sum + one.acknowledged, 0);
    return `| ${kind} | ${ofKind.length} | ${acknowledged} | ${refused.reduce((a, b) => a + b, 0)} | ${middle} | ${gaps.at(-1)} |`;
  });
  return [
    '| fault | rounds | acknowledged | not acknowledged | gap, median ms | gap, longest ms |',
    '|---|---|---|---|---|---|',
    ...rows,
  ].join('\n');
}
