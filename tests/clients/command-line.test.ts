// Command line: `heliograph` as a program against a running platform, its exit codes, and its completion in bash.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startWorld, type TestDevice, type World } from '../world/world.ts';

const program = join(import.meta.dirname, '..', '..', 'clients', 'command-line', 'command.ts');
let world: World;
let folder: string;
let pump: TestDevice;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'heliograph-command-line-'));
  world = await startWorld();
  pump = await world.device({ name: 'Pump' });
  await world.capture(pump, { temperature: 21.5 });
});
afterAll(async () => {
  await world.close();
  rmSync(folder, { recursive: true, force: true });
});

function environment(more: Record<string, string> = {}): NodeJS.ProcessEnv {
  const { HELIOGRAPH_URL: _, HELIOGRAPH_API_KEY: __, ...others } = process.env;
  return { ...others, XDG_CONFIG_HOME: folder, ...more };
}

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function run(
  args: readonly string[],
  input = '',
  more: Record<string, string> = {},
): Promise<Outcome> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [program, ...args],
      { env: environment(more) },
      (error, stdout, stderr) => resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
    );
    // A command that ends without reading its input closes the pipe.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input);
  });
}

const signedIn = () => ({ HELIOGRAPH_URL: world.base, HELIOGRAPH_API_KEY: world.apiKey });
const ask = (...args: string[]) => run(args, '', signedIn());

test('sign-in tries the key, saves it for its user, and sign-out removes it', async () => {
  expect(await run(['devices'])).toMatchObject({
    code: 3,
    stderr: expect.stringMatching(/not signed in/),
  });
  const url = ['--url', world.base];
  const wrong = await run(['sign-in', ...url], 'wrong\n');
  expect(wrong).toMatchObject({ code: 3, stderr: expect.stringMatching(/401/) });
  expect(await run(['sign-in', ...url], `${world.apiKey}\n`)).toMatchObject({ code: 0 });
  const path = join(folder, 'heliograph', 'credential.json');
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(await run(['devices'])).toMatchObject({ code: 0, stdout: expect.stringMatching(/Pump/) });
  expect(await run(['sign-out'])).toMatchObject({ code: 0 });
  expect(await run(['devices'])).toMatchObject({ code: 3 });
});

test('devices as a table and as JSON, one a line', async () => {
  const { stdout } = await ask('devices', '--search', 'Pump');
  const [titles, row] = stdout.split('\n');
  expect(titles).toMatch(/^DEVICE ID +NAME +STATE +ID$/);
  expect(row).toMatch(new RegExp(`^${pump.deviceId} +Pump +ONLINE +${pump.id}$`));
  const lines = (await ask('devices', '--json', '--limit', '1')).stdout.trim().split('\n');
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ id: pump.id }]);
});

test('export samples writes a file, and leaves no export on the platform', async () => {
  const file = join(folder, 'samples.parquet');
  const place = ['--workspace', world.workspaceId, '--file', file];
  const done = await ask('export', 'samples', ...place, '--devices', pump.deviceId, '--json');
  expect(done).toMatchObject({ code: 0 });
  expect(JSON.parse(done.stdout)).toMatchObject({ samples: 1, incomplete: false });
  expect(String(readFileSync(file).subarray(0, 4))).toBe('PAR1');
  expect(statSync(file).size).toBe(JSON.parse(done.stdout).bytes);
  const left = await world.must('GET', `/v3/exports?workspaceId=${world.workspaceId}`);
  expect(left.totalElements).toBe(0);
  expect(await ask('export', 'samples')).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/--workspace ID and --file FILE/),
  });
});

test('why says where an uplink broke, and what to do', async () => {
  const good = await ask('why', pump.deviceId);
  expect(good.stdout).toMatch(/ARRIVED +OK[^]*\nOK: No step is broken\.\n$/);
  const broken = await ask('why', pump.deviceId, '--data-key', 'missing', '--json');
  expect(JSON.parse(broken.stdout)).toMatchObject({ verdict: { code: 'KEY_MISSING' } });
});

test('summarize shows one value, or one per bucket with what is covered', async () => {
  const words = ['summarize', pump.deviceId, 'temperature'];
  const from = ['--from', '2020-01-01T00:00:00Z'];
  expect((await ask(...words, 'LAST', ...from)).stdout).toBe('21.5\n');
  const held = await ask(...words, 'TIME_IN_STATE', '--state', 'x', '--json', ...from);
  expect(JSON.parse(held.stdout)).toMatchObject({ kpi: expect.any(Number) });
  const buckets = await ask(...words, 'INTEGRAL', '--bucket', 'P1Y', ...from);
  expect(buckets.stdout).toMatch(/TIME +VALUE +COVERED\n2020-01-01T00:00:00.000Z +- +0 %/);
  expect((await ask(...words, 'LAST')).code).toBe(2);
  const formula = ['summarize', pump.deviceId, 'temperature * 2 + 1', 'LAST', '--expression'];
  expect((await ask(...formula, ...from)).stdout).toBe('44\n');
  const wrong = ['summarize', pump.deviceId, 'temperature *', 'LAST', '--expression'];
  expect(await ask(...wrong, ...from)).toMatchObject({ code: 1 });
});

test('contract 38: expected and forecast show what is usual and when a target is reached', async () => {
  const battery = await world.device({ name: 'Battery' });
  const hourMs = 3_600_000;
  const now = Math.floor(Date.now() / hourMs) * hourMs;
  const hours = 21 * 24;
  const samples = Array.from({ length: hours }, (_, n) => ({
    deviceId: battery.id,
    timestamp: new Date(now - (hours - n) * hourMs).toISOString(),
    data: { level: 100 - (n / 24) * 2, room: 20 + (n % 24) / 10 },
  }));
  await world.must('POST', '/v3/samples/bulk', samples);
  const usual = await ask('expected', battery.deviceId, 'room');
  expect(usual).toMatchObject({ code: 0, stderr: '' });
  expect(usual.stdout).toMatch(/^HOUR +EXPECTED +LOWER +UPPER\n(\S+Z( +[\d.]+){3}\n){24,25}$/);
  const unknown = await ask('expected', battery.deviceId, 'nothing', '--sensitivity', 'HIGH');
  expect(unknown.stderr).toContain('too little is known');
  expect(await ask('expected', battery.deviceId, 'room', '--sensitivity', 'MOST')).toMatchObject({
    code: 2,
  });
  const devices = `${battery.deviceId},${pump.deviceId}`;
  const empty = await ask('forecast', devices, 'level', '0');
  expect(empty.stdout).toMatch(/DEVICE ID +VALUE +PER DAY +REACHES TARGET/);
  expect(empty.stdout).toMatch(new RegExp(`${battery.deviceId} +58.* -2 +\\S+Z`));
  expect(empty.stdout).toMatch(new RegExp(`${pump.deviceId} .*TOO_FEW`));
  const lines = (await ask('forecast', devices, 'level', '0', '--json')).stdout.trim().split('\n');
  expect(lines.map((line) => JSON.parse(line).reason)).toEqual([null, 'TOO_FEW']);
  expect(await ask('forecast', devices, 'level', 'low')).toMatchObject({ code: 2 });
});

test('contract 38: samples delete counts with --dry-run, and deletes', async () => {
  const probe = await world.device({ name: 'Probe' });
  for (const n of [1, 2, 3]) await world.capture(probe, { n });
  const erase = (...more: string[]) => ask('samples', 'delete', probe.deviceId, ...more);
  expect(await erase('--dry-run')).toMatchObject({ code: 1 });
  const counted = await erase('--topics', 'default', '--dry-run');
  expect(counted).toMatchObject({ code: 0 });
  expect(counted.stdout).toMatch(/^default +3 /m);
  expect(counted.stdout).toContain('3 samples of 1 devices\n');
  const done = await erase('--all', '--reason', 'a trial');
  expect(done).toMatchObject({ code: 0, stdout: '3 samples of 1 devices deleted\n' });
  expect(await world.must('POST', `/v3/devices/${probe.id}/query`, {})).toEqual([]);
  expect(await ask('samples', 'keep', probe.deviceId)).toMatchObject({ code: 2 });
});

test('contract 38: types recalculate shows changes with --dry-run, and makes them', async () => {
  const probe = await world.device({ name: 'Recalculated', schemas: {} });
  for (const n of [1, 2, 3]) await world.capture(probe, { n });
  const path = `/v3/device-types/${probe.deviceTypeId}`;
  const calculatedKeys = [{ key: 'double', expression: 'n * 2' }];
  await world.must('PUT', path, { name: 'Recalculated type', calculatedKeys });
  const again = (...more: string[]) => ask('types', 'recalculate', 'Recalculated type', ...more);
  const shown = await again('--dry-run');
  expect(shown).toMatchObject({ code: 0 });
  expect(shown.stdout).toContain('  - {"n":1}\n  + {"n":1,"double":2}\n');
  expect(shown.stdout).toContain('3 of 3 samples would change\n');
  const done = { code: 0, stdout: '3 samples of 1 devices changed\n' };
  expect(await again('--devices', probe.deviceId)).toMatchObject(done);
  const nothing = await again('--json');
  expect(JSON.parse(nothing.stdout)).toEqual({ samples: 0, devices: 1 });
  const refused = await again('--source', 'UPLINKS');
  expect(refused).toMatchObject({ code: 1 });
  expect(refused.stderr).toContain('has no decoder');
  expect(await again('--source', 'OTHER')).toMatchObject({ code: 2 });
  expect(await ask('types', 'keep', 'x')).toMatchObject({ code: 2 });
});

test('query shows samples by either id', async () => {
  expect((await ask('query', pump.deviceId)).stdout).toMatch(/default +\{"temperature":21.5\}/);
  const { stdout } = await ask('query', pump.id, '--json', '--from', '2020-01-01T00:00:00Z');
  expect(JSON.parse(stdout)).toMatchObject({ data: { temperature: 21.5 } });
  expect((await ask('query', pump.id, '--json', '--to', '2020-01-01T00:00:00Z')).stdout).toBe('');
});

/** Resolves when the program has written this to standard error. */
function said(child: ChildProcess, text: string): Promise<void> {
  return new Promise((resolve) =>
    child.stderr?.on('data', (chunk) => String(chunk).includes(text) && resolve()),
  );
}

test.each(['device', 'workspace'])('tail follows a %s and ends after its limit', async (what) => {
  const target = what === 'device' ? [pump.deviceId] : ['--workspace', world.workspaceId];
  const args = [program, 'tail', ...target, '--json', '--limit', '2'];
  const child = spawn(process.execPath, args, { env: environment(signedIn()) });
  let stdout = '';
  child.stdout.on('data', (chunk) => (stdout += String(chunk)));
  const ended = new Promise((resolve) => child.once('close', resolve));
  await said(child, 'following');
  await world.capture(pump, { n: 1 });
  await world.capture(pump, { n: 2 });
  expect(await ended).toBe(0);
  const data = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).sample.data);
  expect(data).toEqual([{ n: 1 }, { n: 2 }]);
});

test('an interrupt ends tail with 130', async () => {
  const child = spawn(process.execPath, [program, 'tail', pump.id], {
    env: environment(signedIn()),
  });
  await said(child, 'following');
  child.kill('SIGINT');
  expect(await new Promise((resolve) => child.once('close', resolve))).toBe(130);
});

test('backfill loads what export has written', async () => {
  const copy = await world.device({ name: 'Copy' });
  const exported = await ask('export', pump.deviceId);
  expect(exported.stdout).toMatch(/"temperature":21.5/);
  const path = join(folder, 'samples.ndjson');
  const lines = exported.stdout.trim().split('\n');
  const moved = lines.map((line) =>
    JSON.stringify({ ...JSON.parse(line), deviceId: copy.deviceId }),
  );
  writeFileSync(path, moved.join('\n'));
  expect(await ask('backfill', path)).toMatchObject({
    code: 0,
    stdout: `${lines.length} stored, 0 were stored already, 0 rejected\n`,
  });
  expect((await ask('query', copy.deviceId, '--json')).stdout.trim().split('\n')).toHaveLength(
    lines.length,
  );
  writeFileSync(path, JSON.stringify({ deviceId: 'nobody', data: { a: 1 } }));
  expect(await ask('backfill', path)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/errors.ndjson/),
  });
});

test('import makes a workspace what export has written', async () => {
  const { stdout } = await ask('export', '--workspace', world.workspaceId);
  const document = JSON.parse(stdout);
  document.tags = [{ name: 'imported' }];
  const path = join(folder, 'workspace.json');
  writeFileSync(path, JSON.stringify(document));
  expect(await ask('import', path, '--workspace', world.workspaceId)).toMatchObject({ code: 0 });
  expect((await ask('export', '--workspace', world.workspaceId)).stdout).toMatch(/"imported"/);
});

describe('exit codes', () => {
  test.each<[string, string[], number, RegExp]>([
    ['an unknown command', ['toast'], 2, /unknown command "toast"/],
    ['an unknown option', ['devices', '--toast'], 2, /--toast/],
    ['a missing word', ['query'], 2, /it takes DEVICE/],
    ['too many words', ['devices', 'x'], 2, /no further words/],
    ['a limit that is none', ['devices', '--limit', 'x'], 2, /--limit x/],
    ['tail of nothing', ['tail'], 2, /specify a device/],
    ['import into nothing', ['import', 'x'], 2, /--workspace/],
    ['an unknown device', ['query', 'nobody'], 1, /404/],
    ['a file that does not exist', ['backfill', '/nowhere.csv'], 1, /nowhere/],
    ['another shell', ['completion', 'fish'], 2, /specify a shell/],
  ])('%s', async (_, args, code, reason) => {
    const outcome = await run(args, '', signedIn());
    expect(outcome).toMatchObject({ code, stdout: '', stderr: expect.stringMatching(reason) });
    expect(outcome.stderr).not.toMatch(/\n {4}at /);
  });

  test('a platform that does not answer', async () => {
    const outcome = await run(['devices', '--url', 'http://127.0.0.1:1', '--key', 'k']);
    expect(outcome).toMatchObject({ code: 1, stderr: expect.stringMatching(/no answer/) });
  });
});

test('help lists each command, and those of one its options', async () => {
  const { stdout } = await run(['help']);
  for (const name of [
    'devices',
    'tail',
    'why',
    'query',
    'summarize',
    'backfill',
    'import',
    'export',
    'verify',
    'sign-in',
    'completion',
  ])
    expect(stdout).toMatch(new RegExp(`^  ${name} `, 'm'));
  expect((await run(['query', '--help'])).stdout).toMatch(
    /usage: heliograph query DEVICE \[options\][^]*--topic TOPIC/,
  );
});

test('bash completes commands and options', async () => {
  const { stdout } = await run(['completion', 'bash']);
  const completed = (...words: string[]) =>
    new Promise<string>((resolve) => {
      const script = `${stdout}\nCOMP_WORDS=(${words.map((word) => `"${word}"`).join(' ')}); COMP_CWORD=${words.length - 1}; _heliograph; echo "\${COMPREPLY[*]}"`;
      execFile('bash', ['-c', script], (_, output) => resolve(output.trim()));
    });
  expect(await completed('heliograph', 'de')).toBe('devices');
  expect(await completed('heliograph', 'query', '--to')).toBe('--to --topic');
});

test('control characters of a device do not reach the terminal', async () => {
  const device = await world.device({ name: 'evil' });
  const { version } = await world.must('GET', `/v3/devices/${device.id}`);
  await world.must('PUT', `/v3/devices/${device.id}`, { version, name: 'a\u001b[2Jb' });
  expect((await ask('devices')).stdout).toMatch(/a·\[2Jb/);
});
