// Programs of installed packages, run on the current Node, independent of shell and PATH.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { dirname, join } from 'node:path';

export interface ProgramRun {
  readonly succeeded: boolean;
  /** What the program said, standard output first. */
  readonly output: string;
}

/** Runs the command `name` of the package `packageName` in `cwd` until it ends. */
export function runInstalled(
  packageName: string,
  name: string,
  args: readonly string[],
  cwd: string,
): Promise<ProgramRun> {
  const command = [commandPath(packageName, name), ...args];
  const options = { cwd, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 } as const;
  return new Promise((resolve, reject) => {
    execFile(process.execPath, command, options, (error, stdout, stderr) => {
      // A code that is a word says that the program did not run.
      if (error !== null && typeof error.code === 'string')
        reject(new Error(`${name} does not run`, { cause: error }));
      else resolve({ succeeded: error === null, output: `${stdout}${stderr}`.trim() });
    });
  });
}

function commandPath(packageName: string, name: string): string {
  const manifest = findPackageJSON(packageName, import.meta.url);
  if (manifest === undefined) throw new Error(`${packageName} is not installed: run "npm ci"`);
  const { bin } = JSON.parse(readFileSync(manifest, 'utf8')) as {
    bin: Readonly<Record<string, string>>;
  };
  const path = bin[name];
  if (path === undefined) throw new Error(`${packageName} has no command ${name}`);
  return join(dirname(manifest), path);
}
