// Store crash rounds: a child that writes to a fleet is ended; everything acknowledged must be there once.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { allSamples } from '../../src/storage/samples/conformance/sample-entries.ts';
import { hourMs } from '../../src/model/instant.ts';
import { openTestSamples, type TestSamples } from '../../src/storage/samples/testing-samples.ts';
import { verifyStore } from '../../src/storage/samples/embedded/store-loader.ts';
import {
  crashDevices,
  crashLimits,
  crashMoments,
  type CrashMoment,
  crashSample,
  isKept,
  removal,
  removalStart,
} from './store-crash-samples.ts';

const child = join(import.meta.dirname, 'store-crash-child.ts');

export interface CrashWorld {
  /** Of the store. */
  readonly folder: string;
  /** Environment of the child, besides that of this process. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Called when the child writes; may let calls of the child fail for some time. */
  readonly disturb?: (round: number) => void;
  /** Whether only a copy of the folder may be opened, because what is synced is noted for the child only. */
  readonly onlyCopies?: boolean;
  /** A line that the child must have written before it is ended, so that no round misses its fault. */
  readonly until?: (round: number) => string | undefined;
  /** Called when the child has ended: puts in the place of the folder what the end leaves. */
  readonly cut?: (round: number) => void;
}

export interface CrashReport {
  readonly acknowledged: Set<number>;
  /** Devices that were deleted. */
  readonly deleted: Set<string>;
  /** Devices with samples to remove that were stored, and those of which they were removed. */
  readonly stored: Set<string>;
  readonly removed: Set<string>;
  /** What the child was in the midst of. */
  readonly hits: Record<CrashMoment | 'writing', number>;
  /** Appends that the disk refused. */
  refused: number;
  readonly violations: string[];
}

interface Aim {
  readonly moment: CrashMoment;
  readonly afterMs: number;
}

/** Most rounds aim at one of the moments, each at another time within it. */
function aimOf(round: number): Aim | undefined {
  const moment = crashMoments[(round + 3) % (crashMoments.length + 1)];
  const afterMs = (round * 7) % (moment === 'recovery' ? 20 : 12);
  return moment === undefined ? undefined : { moment, afterMs };
}

/** Lets a child write and ends it `afterMs` later, or at its aim; returns its whole lines. */
async function linesOfKilled(
  world: CrashWorld,
  firstId: number,
  round: number,
): Promise<readonly string[]> {
  const running: ChildProcess = spawn(process.execPath, [child, world.folder, String(firstId)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...world.settings },
  });
  const aim = aimOf(round);
  const signal = aim === undefined ? '-recovery' : `+${aim.moment}`;
  const afterMs = aim?.afterMs ?? 20 + ((round * 97) % 350);
  const lines: string[] = [];
  const until = world.until?.(round);
  let cut = '';
  let isAimed = false;
  let killing: NodeJS.Timeout | undefined;
  running.stdout!.on('data', (chunk: Buffer) => {
    const whole = (cut + chunk.toString()).split('\n');
    // The last line may be cut; at the end such a line does not count.
    cut = whole.pop()!;
    lines.push(...whole);
    if (whole.includes('-recovery')) world.disturb?.(round);
    isAimed ||= whole.includes(signal);
    if (killing !== undefined || !isAimed) return;
    if (until !== undefined && !lines.includes(until)) return;
    if (afterMs < 1) running.kill('SIGKILL');
    killing = setTimeout(() => running.kill('SIGKILL'), afterMs);
  });
  // The end of its output, not only of the process.
  const [code] = await once(running, 'close');
  clearTimeout(killing);
  if (code !== null) throw new Error(`round ${round}: the child ended by itself with ${code}`);
  return lines;
}

function note(lines: readonly string[], report: CrashReport): void {
  for (const line of lines) {
    if (/^\d+$/.test(line)) report.acknowledged.add(Number(line));
    else if (line.startsWith('-deleted ')) report.deleted.add(line.slice('-deleted '.length));
    else if (line.startsWith('-stored ')) report.stored.add(line.slice('-stored '.length));
    else if (line.startsWith('-removed ')) report.removed.add(line.slice('-removed '.length));
    else if (line === 'refused') report.refused++;
  }
  const during = crashMoments.find(
    (moment) => lines.lastIndexOf(`+${moment}`) > lines.lastIndexOf(`-${moment}`),
  );
  report.hits[during ?? 'writing']++;
}

/** Compares what the folder has with what was acknowledged; returns the greatest id in it. */
async function check(folder: string, round: number, report: CrashReport): Promise<number> {
  const wrong = (what: string): void => void report.violations.push(`round ${round}: ${what}`);
  const findings = await verifyStore(folder);
  for (const { path, reason } of findings.damage) wrong(`verify: ${path}: ${reason}`);
  const store = await openTestSamples({ directory: folder, now: Date.now, limits: crashLimits });
  const found = new Set<number>();
  for (const device of crashDevices)
    for (const { timestamp, topic, data } of await allSamples(store, device)) {
      const id = data['id'] as number;
      const sent = crashSample(id);
      const isSame = JSON.stringify([sent.at, sent.topic, sent.data]);
      if (isSame !== JSON.stringify([timestamp, topic, data])) wrong(`another sample ${id}`);
      if (found.has(id)) wrong(`sample ${id} twice`);
      found.add(id);
    }
  for (const id of report.acknowledged)
    if (isKept(id) && !found.has(id)) wrong(`sample ${id} is lost`);
  for (const device of report.deleted) {
    const left = await allSamples(store, device);
    if (left.length > 0) wrong(`${left.length} samples of the deleted device ${device}`);
  }
  for (const device of report.stored) await checkRemoval(store, device, report, wrong);
  for (const { path, reason } of store.damage) wrong(`open: ${path}: ${reason}`);
  await store.close();
  let greatest = 0;
  for (const ids of [report.acknowledged, found])
    for (const id of ids) greatest = Math.max(greatest, id);
  return greatest;
}

/** The removal counts as a whole or not at all, in samples and hourly aggregates alike. */
async function checkRemoval(
  store: TestSamples,
  device: string,
  { removed }: CrashReport,
  wrong: (what: string) => void,
): Promise<void> {
  const numbers = (await allSamples(store, device)).map(({ data }) => data['n'] as number);
  const all = Array.from({ length: removal.rows }, (_, n) => removal.rows - 1 - n);
  const left = all.filter((n) => n < removal.from || n >= removal.to);
  const isLeft = String(numbers) === String(left);
  if (!isLeft && (removed.has(device) || String(numbers) !== String(all)))
    wrong(`samples ${numbers.join()} of ${device}`);
  const firstHour = Math.floor(removalStart / hourMs) * hourMs;
  const [counts = []] = await store.buckets({
    source: 'hours',
    deviceIds: [device],
    topic: 'default',
    dataKey: 'n',
    accumulator: 'COUNT',
    edges: [firstHour, firstHour + 3 * hourMs],
  });
  if (counts[0]?.count !== numbers.length)
    wrong(`${counts[0]?.count} values of ${numbers.length} in the hours of ${device}`);
}

/** Runs the rounds, until one has violations: the folder is left as that round found it. */
export async function crashRounds(world: CrashWorld, rounds: number): Promise<CrashReport> {
  const hits = { recovery: 0, sealing: 0, retention: 0, deleting: 0, removing: 0, writing: 0 };
  const report: CrashReport = {
    acknowledged: new Set(),
    deleted: new Set(),
    stored: new Set(),
    removed: new Set(),
    hits,
    refused: 0,
    violations: [],
  };
  const { folder } = world;
  let firstId = 1;
  for (let round = 0; round < rounds; round++) {
    note(await linesOfKilled(world, firstId, round), report);
    world.cut?.(round);
    // Most rounds read a copy, so that the next child starts from what the crash left.
    const isCopy = world.onlyCopies === true || round % 3 > 0;
    const copy = `${folder}-copy`;
    if (isCopy) cpSync(folder, copy, { recursive: true });
    firstId = (await check(isCopy ? copy : folder, round, report)) + 1_000;
    rmSync(copy, { recursive: true, force: true });
    if (report.violations.length > 0) break;
  }
  return report;
}
