// Wrapper: the process that starts the pinned Node and the platform end together.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
const preflight = join(root, 'bin', 'preflight.js');
let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'heliograph-wrapper-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

interface Wrapped {
  readonly child: ChildProcess;
  /**
   * Resolves when wrapper and platform are gone, because both hold the pipes; with all that they
   * wrote.
   */
  readonly ended: Promise<{
    readonly code: number | null;
    readonly signal: string | null;
    readonly output: string;
  }>;
}

/** An option of Node itself makes a child of the platform, as an older Node does. */
async function startWrapped(shell?: { readonly options: readonly string[] }): Promise<Wrapped> {
  const environment = {
    HOST: '127.0.0.1',
    PORT: '0',
    MQTT_PORT: '0',
    COAP_PORT: '0',
    LOG_LEVEL: 'info',
  };
  const options = shell?.options ?? ['--no-warnings'];
  const command = [process.execPath, preflight, ...options, 'src/main.ts'];
  const [program = '', ...words] =
    shell === undefined ? command : ['sh', '-c', `${command.join(' ')}; exit 3`];
  const npm = shell === undefined ? {} : { npm_lifecycle_event: 'demo' };
  const child = spawn(program, words, {
    cwd: root,
    env: { PATH: process.env['PATH'], DATA_DIR: directory, ...npm, ...environment },
  });
  let output = '';
  const ended: Wrapped['ended'] = new Promise((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal, output }));
  });
  child.stderr.on('data', (text: Buffer) => (output += text.toString()));
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (text: Buffer) => text.includes('is ready') && resolve());
    void ended.then(() => reject(new Error(`ended before it was ready: ${output}`)));
  });
  return { child, ended };
}

test('review reliability 18: the wrapper killed with SIGKILL takes the platform with it, which stops cleanly', async () => {
  const { child, ended } = await startWrapped();
  const holder = Number(
    /process (\d+)/.exec(readFileSync(join(directory, 'holder.txt'), 'utf8'))?.[1],
  );
  expect(holder).not.toBe(child.pid);
  child.kill('SIGKILL');
  const { signal, output } = await ended;
  expect(signal).toBe('SIGKILL');
  expect(output).toContain('the parent process has exited');
  expect(output).toContain('"msg":"stopped"');
});

test.each([{ options: ['--no-warnings'] }, { options: [] }])(
  'the shell of npm that is killed takes the platform with it: $options',
  async (shell) => {
    const { child, ended } = await startWrapped(shell);
    child.kill('SIGTERM');
    const { signal, output } = await ended;
    expect(signal).toBe('SIGTERM');
    expect(output).toContain('"msg":"stopped"');
  },
);

test('review reliability 18: SIGHUP stops cleanly', async () => {
  const { child, ended } = await startWrapped();
  child.kill('SIGHUP');
  const { code, output } = await ended;
  expect(code).toBe(0);
  expect(output).toContain('"msg":"stopped"');
});

const canUnshare = spawnSync('unshare', ['-rpf', 'true']).status === 0;
if (!canUnshare)
  console.log(
    'not run: a wrapper that is process 1 needs the right to make a namespace of processes',
  );

function endOfKilled(command: readonly string[]): unknown {
  const program = join(directory, 'program.js');
  writeFileSync(
    program,
    "process.kill(process.pid, 'SIGKILL'); setTimeout(() => undefined, 10_000);\n",
  );
  const [name, ...rest] = command;
  const { status, signal } = spawnSync(name!, [...rest, preflight, '--no-warnings', program]);
  return status ?? signal;
}

test('review reliability 18: a platform that is killed ends the wrapper by the same signal', () => {
  expect(endOfKilled([process.execPath])).toBe('SIGKILL');
});

test.runIf(canUnshare)(
  'review reliability 18: as process 1 the wrapper ends with 128 and the number of the signal',
  () => {
    expect(endOfKilled(['unshare', '-rpf', process.execPath])).toBe(137);
  },
);
