// `npm run pack-client [-- FOLDER]`: the TypeScript client as a tarball that npm installs.
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import ts from 'typescript';
import { writeInterfaceTypes } from './console-output.ts';
import { isProgram } from './is-program.ts';

const source = join('clients', 'typescript');

/** Compiles and packs into the folder; returns the path of the tarball. Throws what the compiler says. */
export async function packClient(root: string, into: string): Promise<string> {
  await writeInterfaceTypes(root);
  const output = mkdtempSync(join(tmpdir(), 'heliograph-client-'));
  try {
    compile(root, output);
    for (const name of ['package.json', 'README.md'])
      cpSync(join(root, source, name), join(output, name));
    cpSync(join(root, 'LICENSE'), join(output, 'LICENSE'));
    mkdirSync(into, { recursive: true });
    const args = ['pack', '--silent', '--pack-destination', into];
    const name = execFileSync('npm', args, { cwd: output, encoding: 'utf8' }).trim();
    return join(into, name);
  } finally {
    rmSync(output, { recursive: true, force: true });
  }
}

function compile(root: string, output: string): void {
  const folder = join(root, source);
  const files = globSync('{*,generated/*}.ts', { cwd: folder, exclude: ['*.test.ts'] });
  const program = ts.createProgram(
    files.map((file) => join(folder, file)),
    {
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.NodeNext,
      moduleResolution: ts.ModuleResolutionKind.NodeNext,
      lib: ['lib.es2023.d.ts'],
      types: ['node'],
      strict: true,
      exactOptionalPropertyTypes: true,
      skipLibCheck: true,
      rewriteRelativeImportExtensions: true,
      declaration: true,
      rootDir: folder,
      outDir: output,
    },
  );
  const { diagnostics } = program.emit();
  const all = [...ts.getPreEmitDiagnostics(program), ...diagnostics];
  if (all.length > 0)
    throw new Error(
      ts.formatDiagnostics(all, {
        getCanonicalFileName: (name) => name,
        getCurrentDirectory: () => root,
        getNewLine: () => '\n',
      }),
    );
  // The compiler leaves the names of sources in declarations.
  for (const name of globSync('**/*.d.ts', { cwd: output })) {
    const path = join(output, name);
    const text = readFileSync(path, 'utf8').replaceAll(/(from '\.[^']*)\.ts'/g, "$1.js'");
    writeFileSync(path, text.replaceAll(/(from "\.[^"]*)\.ts"/g, '$1.js"'));
  }
}

if (isProgram(import.meta.filename)) {
  const root = join(import.meta.dirname, '..');
  console.log(await packClient(root, resolve(root, process.argv[2] ?? 'dist')));
}
