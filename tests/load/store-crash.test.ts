// kill -9 at random moments under load, also while sealing, merging, dropping and recovering: nothing acknowledged is lost, nothing invented.
// More than the usual 20 rounds: ROUNDS=500 npx vitest run tests/load/store-crash.test.ts
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { expect, test } from 'vitest';
import { allSamples } from '../../src/samples/conformance/sample-entries.ts';
import { openTestSamples } from '../../src/samples/testing-samples.ts';
import { verifyStore } from '../../src/samples/embedded/verify-chunks.ts';
import {
  crashDevices,
  crashLimits,
  crashMoments,
  type CrashMoment,
  crashSample,
  isKept,
} from './store-crash-samples.ts';

const rounds = Number(process.env['ROUNDS'] ?? 20);
const child = join(import.meta.dirname, 'store-crash-child.ts');

interface Killed {
  readonly acknowledged: number[];
  /** What the child was in the midst of. */
  readonly during: CrashMoment | 'writing';
}

/**
 * Lets a child write, kills it, and gives the ids that it had acknowledged. With a moment, the kill
 * comes some time after the child came to it; else some time after it began to write.
 */
async function killed(
  folder: string,
  firstId: number,
  afterMs: number,
  aim?: Aim,
): Promise<Killed> {
  const running: ChildProcess = spawn(process.execPath, [child, folder, String(firstId)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines: string[] = [];
  let cut = '';
  let killing: NodeJS.Timeout | undefined;
  const signal = aim === undefined ? '-recovery' : `+${aim.moment}`;
  running.stdout!.on('data', (chunk: Buffer) => {
    const whole = (cut + chunk.toString()).split('\n');
    // The last line may be cut; at the end such a line does not count.
    cut = whole.pop()!;
    lines.push(...whole);
    if (killing !== undefined || !whole.includes(signal)) return;
    if (aim !== undefined && aim.afterMs < 1) running.kill('SIGKILL');
    killing = setTimeout(() => running.kill('SIGKILL'), aim?.afterMs ?? afterMs);
  });
  // The end of its output, not only of the process.
  const [code] = await once(running, 'close');
  clearTimeout(killing);
  expect(code, 'the child ended by itself').toBeNull();
  const during = crashMoments.find(
    (moment) => lines.lastIndexOf(`+${moment}`) > lines.lastIndexOf(`-${moment}`),
  );
  return {
    acknowledged: lines.filter((line) => /^\d+$/.test(line)).map(Number),
    during: during ?? 'writing',
  };
}

interface Aim {
  readonly moment: CrashMoment;
  readonly afterMs: number;
}

/** Three rounds in four aim at one of the moments, each at another time within it. */
function aimOf(round: number): Aim | undefined {
  const moment = crashMoments[(round + 3) % 4];
  const afterMs = (round * 7) % (moment === 'recovery' ? 20 : 12);
  return moment === undefined ? undefined : { moment, afterMs };
}

test(`figures: ${rounds} kills under load, 0 lost, 0 invented`, {
  timeout: 60_000 + rounds * 5_000,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'crash-'));
  const acknowledged = new Set<number>();
  const hits: Record<Killed['during'], number> = {
    recovery: 0,
    sealing: 0,
    retention: 0,
    writing: 0,
  };
  try {
    let firstId = 1;
    for (let round = 0; round < rounds; round++) {
      const end = await killed(folder, firstId, 20 + ((round * 97) % 350), aimOf(round));
      for (const id of end.acknowledged) acknowledged.add(id);
      hits[end.during]++;
      const findings = await verifyStore(folder);
      expect(findings.damage, `round ${round}`).toEqual([]);
      // Every other round reads a copy, so that the next child starts from what the crash left.
      const copy = `${folder}-copy`;
      if (round % 2 === 1) cpSync(folder, copy, { recursive: true });
      const store = await openTestSamples({
        directory: round % 2 === 1 ? copy : folder,
        now: Date.now,
        limits: crashLimits,
      });
      const found: number[] = [];
      for (const device of crashDevices)
        for (const { timestamp, topic, data } of await allSamples(store, device)) {
          const id = data['id'] as number;
          const sent = crashSample(id);
          expect({ at: timestamp, topic, data }).toEqual({
            at: sent.at,
            topic: sent.topic,
            data: sent.data,
          });
          found.push(id);
        }
      expect(new Set(found).size, 'a sample twice').toBe(found.length);
      const present = new Set(found);
      const lost = [...acknowledged].filter((id) => isKept(id) && !present.has(id));
      expect(lost, `round ${round}: lost`).toEqual([]);
      expect(store.damage).toEqual([]);
      await store.close();
      rmSync(copy, { recursive: true, force: true });
      for (const id of [...acknowledged, ...found]) firstId = Math.max(firstId, id);
      firstId += 1_000;
    }
    expect(acknowledged.size).toBeGreaterThan(rounds * 20);
    console.info(
      `killed during: ${JSON.stringify(hits)}; ${acknowledged.size} samples acknowledged`,
    );
    // A few rounds may miss a short moment.
    if (rounds >= 100)
      for (const moment of crashMoments) expect(hits[moment], moment).toBeGreaterThan(rounds / 50);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
