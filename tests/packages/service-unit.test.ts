// Service unit of systemd: no unknown settings, and hardened.
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdtempSync, rmSync, writeFileSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';

const unit = join(import.meta.dirname, '../../packages/systemd/heliograph.service');
const folder = mkdtempSync(join(tmpdir(), 'heliograph-unit-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const analyze = (...args: readonly string[]) =>
  spawnSync('systemd-analyze', args, { encoding: 'utf8' });

test('systemd knows every setting', () => {
  const program = join(folder, 'heliograph');
  writeFileSync(program, '#!/bin/sh\n');
  chmodSync(program, 0o755);
  const copy = join(folder, 'heliograph.service');
  cpSync(unit, copy);
  const text = readFileSync(copy, 'utf8').replace('/usr/local/bin/heliograph\n', `${program}\n`);
  expect(text).toContain(`ExecStart=${program}\n`);
  writeFileSync(copy, text);
  // It ends with 0 also for unknown settings, which it names.
  expect(analyze('verify', '--man=no', copy)).toMatchObject({ status: 0, stdout: '', stderr: '' });
});

test('its exposure is low', () => {
  const { status, stdout } = analyze('security', '--offline=true', '--threshold=20', unit);
  expect(stdout).toMatch(/Overall exposure level for heliograph.service: 1\.\d OK/);
  expect(status).toBe(0);
});
