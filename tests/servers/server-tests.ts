// Tests with servers of Debian packages: required in CI; elsewhere a missing one skips its suites.
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, test } from 'vitest';

export interface ServerProgram {
  readonly path: string;
  readonly debianPackage: string;
}

/** A program that npm installs. */
export interface NpmProgram {
  readonly path: string;
  /** The command that installs it. */
  readonly install: string;
}

declare module 'vitest' {
  interface TaskMeta {
    /** The program whose absence skips a suite. */
    missingProgram?: string;
  }
}

/**
 * Declares tests that need the program. Without it they are declared and skipped, and the end of the
 * run names the program (`skipped-suites.ts`); in CI a missing program is a failure.
 */
export function describeWith(
  program: ServerProgram | NpmProgram,
  title: string,
  tests: () => void,
): void {
  if (existsSync(program.path)) describe(title, tests);
  else if (process.env['CI'])
    test(title, () =>
      Promise.reject(new Error(`${program.path} is missing: ${installOf(program)}`)),
    );
  else describe.skipIf(true)(title, { meta: { missingProgram: nameOf(program) } }, tests);
}

const compiler: ServerProgram = { path: '/usr/bin/gcc', debianPackage: 'gcc' };
/** Of Linux's C library; other systems preload differently. */
const headers: ServerProgram = { path: '/usr/include/features.h', debianPackage: 'libc6-dev' };

/** Declares tests with a library that `compilePreloaded` makes. */
export function describeWithCompiler(title: string, tests: () => void): void {
  describeWith(compiler, title, () => describeWith(headers, 'with a preloaded library', tests));
}

/** As the end of the run shows it: `chromium`, or `chdb@3.4.0`. */
function nameOf(program: ServerProgram | NpmProgram): string {
  if ('install' in program) return program.install.split(' ').at(-1) ?? program.path;
  return basename(program.path);
}

function installOf(program: ServerProgram | NpmProgram): string {
  return 'install' in program ? program.install : `apt-get install ${program.debianPackage}`;
}

/**
 * Longer than the wait for servers, so that a server that does not start is stopped by its starter.
 */
const startMsMax = 90_000;

/**
 * Starts a server before the tests of a block and stops it after them; it has its own temporary
 * folder.
 */
export function startedBefore<S extends { stop(): Promise<void> }>(
  start: (folder: string) => Promise<S>,
): () => S {
  let running: S | undefined;
  let folder = '';
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'heliograph-server-'));
    running = await start(folder);
  }, startMsMax);
  afterAll(async () => {
    await running?.stop();
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }, startMsMax);
  return () => {
    if (running === undefined) throw new Error('the server is not started');
    return running;
  };
}
