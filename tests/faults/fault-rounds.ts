// Fault rounds: a fault each while devices send, sessions follow, rules run; then everything is checked.
import { setTimeout as wait } from 'node:timers/promises';
import { clockStepMs, type FaultKind, faultKinds, type Random } from './faults.ts';
import { type CheckParts, deviceViolations, untilNoViolation } from './fault-checks.ts';
import type { FaultRig } from './fault-rig.ts';
import { type Senders, startSenders } from './fault-senders.ts';
import { startSubscriber, type Subscriber } from './fault-subscriber.ts';
import { createFaultWorld, type FaultWorld } from './fault-world.ts';

export interface FaultRound {
  readonly kind: FaultKind;
  readonly target: string;
  readonly acknowledged: number;
  /** Uplinks without 201, by answer. */
  readonly refused: Readonly<Record<string, number>>;
  /** The longest time in which a device was not acknowledged, from the fault on. */
  readonly gapMs: number;
  readonly takesOver: boolean;
  /** From the end of the senders until everything was where it should be. */
  readonly settledMs: number;
  readonly violations: readonly string[];
}

export interface FaultRoundsParts {
  readonly rig: FaultRig;
  readonly devices: number;
  readonly random: Random;
  /** The kinds of the rounds, in their order. */
  readonly kinds: readonly FaultKind[];
  readonly ended: (round: FaultRound, number: number) => void;
}

/** From the end of a fault until all devices are acknowledged again. */
const recoveredMsMax = 60_000;
const settledMsMax = 90_000;
/** A client waits shorter for a node that may be gone than for one that gives its devices away. */
const answerMsMax = { unplanned: 4_000, planned: 20_000 } as const;
const lookEveryMs = 50;
/** Before the fault, so that every device has an owner and sends. */
const steadyMsMax = 60_000;

/** Stops after the first round with a violation, so that the data are as it left them. */
export async function runFaultRounds(parts: FaultRoundsParts): Promise<readonly FaultRound[]> {
  const { rig, kinds } = parts;
  const urls = rig.nodes.map(({ url }) => url);
  const world = await createFaultWorld(rig, parts.devices);
  const { devices } = world;
  const subscribers = urls.map((_, first) => startSubscriber({ devices, urls, first }));
  const rounds: FaultRound[] = [];
  let n = 0;
  const run: Run = { ...parts, urls, world, subscribers, next: () => (n += 1) };
  try {
    for (const kind of kinds) {
      const round = await runRound(run, kind);
      rounds.push(round);
      parts.ended(round, rounds.length);
      if (round.violations.length > 0) break;
    }
    return rounds;
  } finally {
    for (const subscriber of subscribers) await subscriber.close();
    await world.sink.close();
  }
}

interface Run extends FaultRoundsParts {
  readonly urls: readonly string[];
  readonly world: FaultWorld;
  readonly subscribers: readonly Subscriber[];
  readonly next: () => number;
}

async function runRound(run: Run, kind: FaultKind): Promise<FaultRound> {
  const { rig, random, world, next } = run;
  const fault = faultKinds[kind](rig, random);
  const stepsClock = fault.stepsClock === true;
  // A device may be stored a moment before this clock is read again.
  const from = new Date(Date.now() - (stepsClock ? clockStepMs : 0) - 1_000).toISOString();
  const senders = startSenders({
    devices: world.devices,
    nodes: rig.nodes,
    next,
    answerMsMax: fault.isPlanned === true ? answerMsMax.planned : answerMsMax.unplanned,
  });
  const failures: string[] = [];
  const startedAt = performance.now();
  if (!(await until(() => senders.areAllAcknowledgedSince(startedAt), steadyMsMax)))
    failures.push('before the fault, devices are not acknowledged');
  const faultAt = performance.now();
  await fault.begin();
  await wait(fault.lastsMs);
  await fault.end();
  const endedAt = performance.now();
  if (!(await until(() => senders.areAllAcknowledgedSince(endedAt), recoveredMsMax)))
    failures.push(`not all devices are acknowledged ${recoveredMsMax} ms after the fault`);
  const gapMs = senders.longestGapSince(faultAt);
  if (fault.isPlanned === true && senders.failuresInARow > 1)
    failures.push(`${senders.failuresInARow} uplinks of a device in a row are not acknowledged`);
  await senders.stop();
  const stoppedAt = performance.now();
  const mayBeLate = fault.isPlanned !== true;
  const look = () => violationsOf(run, senders, { from, mayBeLate, stepsClock });
  const found = await untilNoViolation(look, settledMsMax);
  return {
    kind,
    target: fault.target,
    gapMs,
    takesOver: fault.takesOver,
    acknowledged: acknowledgedBy(run, senders),
    refused: Object.fromEntries(senders.refusals),
    settledMs: performance.now() - stoppedAt,
    violations: [...failures, ...(fault.violations?.() ?? []), ...found],
  };
}

async function violationsOf(
  { world, subscribers, urls }: Run,
  senders: Senders,
  asked: Pick<CheckParts, 'from' | 'mayBeLate' | 'stepsClock'>,
): Promise<readonly string[]> {
  const { devices, sink } = world;
  const found = await Promise.all(
    devices.map((device) => {
      const sent = senders.sent(device.deviceId);
      return deviceViolations({ device, sent, subscribers, sink, urls, ...asked });
    }),
  );
  return [...found.flat(), ...subscribers.flatMap(({ errors }) => errors)];
}

function acknowledgedBy({ world }: Run, senders: Senders): number {
  const all = world.devices.flatMap(({ deviceId }) => senders.sent(deviceId));
  return all.filter(({ acknowledgedAt }) => acknowledgedAt !== undefined).length;
}

/** Whether it was so within the time. */
async function until(isSo: () => boolean, msMax: number): Promise<boolean> {
  const giveUpAt = performance.now() + msMax;
  while (!isSo()) {
    if (performance.now() > giveUpAt) return false;
    await wait(lookEveryMs);
  }
  return true;
}
