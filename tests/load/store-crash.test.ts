// kill -9 at random moments under load, also while sealing, merging, dropping and recovering: nothing acknowledged is lost, nothing invented.
// More than the usual 20 rounds: ROUNDS=500 npx vitest run tests/load/store-crash.test.ts
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { expect, test } from 'vitest';
import { allSamples } from '../../src/store/conformance/sample-entries.ts';
import { openEmbeddedStore } from '../../src/store/embedded/embedded-store.ts';
import { verifyStore } from '../../src/store/embedded/verify.ts';
import { crashDevices, crashLimits, crashSample, isKept } from './store-crash-samples.ts';

const rounds = Number(process.env['ROUNDS'] ?? 20);
const child = join(import.meta.dirname, 'store-crash-child.ts');

/** Lets a child write for some time, kills it, and gives the ids that it had acknowledged. */
async function acknowledgedUntilKilled(folder: string, firstId: number, afterMs: number): Promise<number[]> {
  const running: ChildProcess = spawn(process.execPath, [child, folder, String(firstId)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  let isOpen: () => void = () => {};
  const opened = new Promise<void>((resolve) => {
    isOpen = resolve;
  });
  running.stdout!.on('data', (chunk: Buffer) => {
    output += chunk.toString();
    isOpen();
  });
  // The end of its output, not only of the process.
  const ended = once(running, 'close');
  // One in six is killed while it opens the folder, at any moment from the start of the process on.
  if (firstId % 6 !== 0) await Promise.race([opened, ended]);
  const killing = setTimeout(() => running.kill('SIGKILL'), afterMs);
  const [code] = await ended;
  clearTimeout(killing);
  expect(code, 'the child ended by itself').toBeNull();
  // The last line may be cut.
  return output
    .split('\n')
    .slice(0, -1)
    .filter((line) => line !== 'open')
    .map(Number);
}

test(`figures: ${rounds} kills under load, 0 lost, 0 invented`, { timeout: 60_000 + rounds * 5_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'crash-'));
  const acknowledged = new Set<number>();
  try {
    let firstId = 1;
    for (let round = 0; round < rounds; round++) {
      for (const id of await acknowledgedUntilKilled(folder, firstId, 20 + ((round * 97) % 350))) acknowledged.add(id);
      const findings = await verifyStore(folder);
      expect(findings.damage, `round ${round}`).toEqual([]);
      // Every other round reads a copy, so that the next child starts from what the crash left.
      const copy = `${folder}-copy`;
      if (round % 2 === 1) cpSync(folder, copy, { recursive: true });
      const store = await openEmbeddedStore({
        directory: round % 2 === 1 ? copy : folder,
        now: Date.now,
        limits: crashLimits,
      });
      const found: number[] = [];
      for (const device of crashDevices)
        for (const { timestamp, topic, data } of await allSamples(store, device)) {
          const id = data['id'] as number;
          const sent = crashSample(id);
          expect({ at: timestamp, topic, data }).toEqual({ at: sent.at, topic: sent.topic, data: sent.data });
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
  } finally {
    rmSync(folder, { recursive: true });
  }
});
