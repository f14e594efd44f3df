// `heliograph reset-second-factor`: an only owner without phone and recovery codes gets back in, on both engines.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CodeSecret } from '../../src/access/second-factor.ts';
import { recordsSettings } from '../../src/storage/records/testing-engine.ts';
import { startWorld, type World } from '../world/world.ts';
import { type Acting, actingBy, password, signIn } from './access-world.ts';

const project = join(import.meta.dirname, '..', '..');
const directory = mkdtempSync(join(tmpdir(), 'heliograph-reset-'));
const email = 'admin@localhost';
let world: World;
let owner: Acting;

beforeAll(async () => {
  world = await startWorld({ directory });
  owner = await signIn(world.base, email);
  const { secret } = await owner.must('POST', '/v3/auth/second-factor/app', { password });
  const code = CodeSecret.parse(secret).codeOf(Math.floor(Date.now() / 30_000));
  await owner.must('POST', '/v3/auth/second-factor/app/confirm', { code });
}, 240_000);
afterAll(async () => {
  await world.close();
  rmSync(directory, { recursive: true });
});

async function run(words: readonly string[], folder = directory) {
  const env = {
    PATH: process.env['PATH'] ?? '',
    LOG_LEVEL: 'silent',
    DATA_DIR: folder,
    ...(folder === directory && (await recordsSettings(directory))),
  };
  const program = ['bin/preflight.js', 'src/main.ts', 'reset-second-factor', ...words];
  const child = spawn(process.execPath, program, { cwd: project, env });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (part) => (stdout += String(part)));
  child.stderr.on('data', (part) => (stderr += String(part)));
  const code = await new Promise((resolve) => child.once('close', resolve));
  return { code, stdout, stderr };
}

const login = () => actingBy(world.base, {}).call('POST', '/v3/auth/login', { email, password });

test('a platform that runs is refused, and the second factor stays', async () => {
  const { code, stderr } = await run([email]);
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('is in use by') });
  expect((await login()).status).toBe(202);
});

test('wrong words, unknown addresses and folders without records change nothing', async () => {
  await world.close();
  const empty = mkdtempSync(join(tmpdir(), 'heliograph-reset-'));
  const missing = join(empty, 'missing');
  expect(await run([])).toMatchObject({ code: 2, stderr: expect.stringContaining('Usage: ') });
  expect(await run([email, 'more'])).toMatchObject({ code: 2 });
  expect(await run(['who@example.org'])).toMatchObject({
    code: 2,
    stderr: `heliograph: No account with the email who@example.org. Nothing was changed.
`,
  });
  for (const folder of [empty, missing])
    expect(await run([email], folder)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('No Heliograph records found'),
    });
  expect([existsSync(missing), readdirSync(empty)]).toEqual([false, []]);
  rmSync(empty, { recursive: true });
  world = await startWorld({ directory });
  expect((await login()).status).toBe(202);
});

test('the owner signs in with the password, old sessions have ended, and the audit log has it', async () => {
  await world.close();
  expect(await run([email.toUpperCase()])).toEqual({
    code: 0,
    stdout: `MFA removed; sessions ended: 1. The next sign-in needs the password only.
`,
    stderr: '',
  });
  expect((await run([email])).stdout).toBe(
    `The account has no MFA set up; sessions ended: 0. The next sign-in needs the password only.
`,
  );
  world = await startWorld({ directory });
  const before = actingBy(world.base, owner.headers);
  expect((await before.call('GET', '/v3/auth/me')).status).toBe(401);
  const again = await signIn(world.base, email);
  expect(await again.must('GET', '/v3/auth/second-factor')).toMatchObject({
    authenticatorApp: null,
    recoveryCodes: 0,
  });
  const query = `organizationId=${world.organizationId}&resourceType=USER&action=UPDATE`;
  const { content } = await again.must('GET', `/v3/audit-logs?${query}`);
  expect(content).toContainEqual(
    expect.objectContaining({
      actor: expect.objectContaining({
        id: 'operator',
        name: 'operator (heliograph reset-second-factor)',
      }),
      changes: [{ field: 'secondFactors', secret: true }],
    }),
  );
});
