// Full disk: a platform in its own small file system, which ends with the test.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const mount = 'mount -t tmpfs -o size=50m tmpfs "$1"';
const folder = mkdtempSync(join(tmpdir(), 'heliograph-full-'));
const canMount = spawnSync('unshare', ['-rm', 'sh', '-c', mount, 'sh', folder]).status === 0;
if (!canMount)
  console.log('not run: a file system of its own needs the right to make a namespace of mounts');

test.runIf(canMount)(
  'review reliability 7: on a full disk reads, sign-in and deletion work, also after a restart',
  () => {
    const command = `${mount} && exec "$2" "$3" "$1"`;
    const script = join(import.meta.dirname, 'full-disk-child.ts');
    const run = spawnSync(
      'unshare',
      ['-rm', 'sh', '-c', command, 'sh', folder, process.execPath, script],
      {
        encoding: 'utf8',
      },
    );
    rmSync(folder, { recursive: true });
    expect(run.stderr).toBe('');
    const works = { signIn: 200, tag: 201, capture: 507, ready: 200, nothingLost: true };
    expect(JSON.parse(run.stdout)).toEqual({
      refusedWith: 507,
      full: works,
      stopped: { code: 0, reserveKept: true },
      linesOfDiskFull: 1,
      stacks: 1,
      startedFull: works,
      afterBallastWent: 201,
      deletedWhileFull: 204,
      stoppedAgain: 0,
    });
  },
  240_000,
);
