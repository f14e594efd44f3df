// `npm run pack-python [-- FOLDER]`: the Python client as a wheel and a source package, without a network.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { isProgram } from './is-program.ts';

const source = join('clients', 'python');

/** The build system of pyproject.toml, called as pip calls it: one package for each process. */
const build = `import contextlib, sys
from setuptools import build_meta
with contextlib.redirect_stdout(sys.stderr):
    name = getattr(build_meta, sys.argv[1])(sys.argv[2])
print(name)
`;

export interface PythonPackage {
  readonly sourcePackage: string;
  readonly wheel: string;
}

/**
 * Writes both into the folder; returns their paths. `python` has setuptools 61 or later and wheel.
 * Throws with what the build says.
 */
export function packPython(root: string, into: string, python = '/usr/bin/python3'): PythonPackage {
  const place = mkdtempSync(join(tmpdir(), 'heliograph-python-'));
  try {
    for (const name of ['pyproject.toml', 'README.md', 'src'])
      cpSync(join(root, source, name), join(place, name), {
        recursive: true,
        filter: (path) => !/__pycache__|\.egg-info/.test(path),
      });
    cpSync(join(root, 'LICENSE'), join(place, 'LICENSE'));
    mkdirSync(into, { recursive: true });
    const options = { cwd: place, encoding: 'utf8', stdio: 'pipe' } as const;
    const built = (kind: string): string =>
      join(into, execFileSync(python, ['-c', build, kind, into], options).trim());
    return { sourcePackage: built('build_sdist'), wheel: built('build_wheel') };
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

if (isProgram(import.meta.filename)) {
  const root = join(import.meta.dirname, '..');
  const { sourcePackage, wheel } = packPython(root, resolve(root, process.argv[2] ?? 'dist'));
  console.log(`${sourcePackage}\n${wheel}`);
}
