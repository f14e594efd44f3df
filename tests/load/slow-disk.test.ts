// A slow disk under the records: only the request that waits for it is slow.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { leastOf } from '../../src/structures/testing-processor-time.ts';
import { ask, measuredSettings, waitsDuring } from './many-devices.ts';
import { compilePreloaded } from '../servers/preloaded.ts';
import { describeWithCompiler } from '../servers/server-tests.ts';
import { startProcess } from './platform-process.ts';

const syncMs = 300;
const turnMsMax = 50;

describeWithCompiler('a slow disk under the records', () => {
  test(`review reliability 12: with ${syncMs} ms per sync no commit of the records holds the event loop`, {
    timeout: 240_000,
  }, async () => {
    const directory = mkdtempSync(join(tmpdir(), 'heliograph-slow-disk-'));
    const shim = compilePreloaded(join(import.meta.dirname, 'slow-sync-shim.c'), directory);
    const notes = join(directory, 'syncs-on-the-main-thread');
    const first = await startProcess(join(directory, 'data'));
    const workspaceId = first.idOf('Workspace')!;
    await first.end('SIGTERM');
    const platform = await startProcess(join(directory, 'data'), {
      ...measuredSettings(directory),
      LD_PRELOAD: shim,
      SLOW_SYNC_MS: String(syncMs),
      SLOW_SYNC_FILE: notes,
    });
    try {
      // The first request loads the checks of its schema.
      await ask(platform.target, 'POST', '/v3/tags', { workspaceId, name: 'first' });
      const syncs = () => (existsSync(notes) ? readFileSync(notes).length : 0);
      const before = syncs();
      // The start syncs on the main thread, which shows that the shim is there and counts.
      expect(before).toBeGreaterThan(0);
      const idle = await waitsDuring(
        platform.target,
        directory,
        // Longer than the platform waits until it frees the memory of its start, which is one turn.
        () => new Promise((done) => void setTimeout(done, 2_500)),
      );
      const part = await leastOf(1, async (attempt) => {
        const tookMs: number[] = [];
        const written = await waitsDuring(platform.target, directory, async () => {
          for (let i = 0; i < 8; i++) {
            const name = `tag ${attempt} ${i}`;
            const startedAt = performance.now();
            await ask(platform.target, 'POST', '/v3/tags', { workspaceId, name });
            tookMs.push(performance.now() - startedAt);
          }
        });
        const round = Math.round;
        console.log(
          `slow disk: a tag took ${round(Math.min(...tookMs))} to ${round(Math.max(...tookMs))} ms; longest wait of a probe ` +
            `${round(written.longestMs)} ms, p99 ${round(written.p99Ms)} ms, idle ${round(idle.longestMs)} ms; longest turn ${round(written.turnMs)} ms`,
        );
        // An answer waits for the disk, and nothing else does.
        expect(Math.min(...tookMs)).toBeGreaterThanOrEqual(syncMs);
        expect(syncs()).toBe(before);
        // The probe itself may wait for a processor on a busy machine; it never waits for a sync.
        return Math.max(written.turnMs / turnMsMax, written.p99Ms / (syncMs / 2));
      });
      expect(part).toBeLessThan(1);
    } finally {
      await platform.end('SIGKILL');
      rmSync(directory, { recursive: true, force: true });
    }
  });
});
