// Passwords are hashed where no sync of the journal waits behind them.
import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, open as openFile, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { hashPassword, isPassword } from './password.ts';

const open = promisify(openFile);

test('security 3: a password is checked while every thread of the pool is busy', async () => {
  const password = 'a long enough password';
  const hash = await hashPassword(password);
  const folder = mkdtempSync(join(tmpdir(), 'heliograph-pool-'));
  const pipe = join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  // Opening a pipe that nobody writes to blocks a thread of the pool.
  const readers = Array.from({ length: 8 }, () => open(pipe, 'r'));
  try {
    expect(await isPassword(password, hash)).toBe(true);
    expect(await isPassword('another password', hash)).toBe(false);
    await expect(isPassword(password, hash.replace('m=19456', 'm=1'))).rejects.toThrow('memory');
    expect(await isPassword(password, hash)).toBe(true);
  } finally {
    const writer = openSync(pipe, constants.O_RDWR);
    for (const reader of await Promise.all(readers)) closeSync(reader);
    closeSync(writer);
    rmSync(folder, { recursive: true });
  }
});
