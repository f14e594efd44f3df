// Non-null assertions: `x!` outside reads of typed arrays, which cannot express that an index is in range.
import { join } from 'node:path';
import ts from 'typescript';
import { lineOf, walk, type ProjectFile } from './project-files.ts';

const typedArray =
  /^((Ui|I)nt(8|16|32)(Clamped)?Array|Float(32|64)Array|Big(Ui|I)nt64Array|Buffer)/;
const settings: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2024,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  lib: ['lib.es2024.d.ts'],
  types: [],
  strict: true,
  noUncheckedIndexedAccess: true,
  allowImportingTsExtensions: true,
  noEmit: true,
};
/** Packages are not loaded, because only the types of the project's own arrays are needed. */
const nodeTypes = 'declare class Buffer extends Uint8Array {}\n';

/** Lines with assertions per file. The files are checked together, because types cross files. */
export function nonNullAssertions(
  root: string,
  files: readonly ProjectFile[],
): { file: ProjectFile; line: number }[] {
  const asserting = files.filter((file) => /[\w)\]]!/.test(file.text));
  const checker = createChecker(root, files);
  return asserting.flatMap((file) => {
    const found: { file: ProjectFile; line: number }[] = [];
    walk(file, (node) => {
      if (ts.isNonNullExpression(node) && !isTypedArrayRead(node.expression, checker))
        found.push({ file, line: lineOf(file, node) });
    });
    return found;
  });
}

function isTypedArrayRead(node: ts.Expression, checker: ts.TypeChecker): boolean {
  if (!ts.isElementAccessExpression(node)) return false;
  const type = checker.getTypeAtLocation(node.expression);
  return typedArray.test(checker.typeToString(type)) || typedArray.test(type.symbol?.name ?? '');
}

function createChecker(root: string, files: readonly ProjectFile[]): ts.TypeChecker {
  const nodePath = join(root, 'node-types.d.ts');
  const sources = new Map(files.map((file) => [join(root, file.path), file.syntax]));
  sources.set(nodePath, ts.createSourceFile(nodePath, nodeTypes, ts.ScriptTarget.Latest, true));
  const disk = ts.createCompilerHost(settings);
  const host: ts.CompilerHost = {
    ...disk,
    getSourceFile: (path, version) => sources.get(path) ?? disk.getSourceFile(path, version),
    fileExists: (path) => sources.has(path),
    resolveModuleNameLiterals: (literals, importer) =>
      literals.map(({ text }) => ({ resolvedModule: ownModule(text, importer) })),
  };
  return ts.createProgram([...sources.keys()], settings, host).getTypeChecker();
}

function ownModule(name: string, importer: string): ts.ResolvedModuleFull | undefined {
  if (!name.startsWith('.') || !name.endsWith('.ts')) return undefined;
  return {
    resolvedFileName: join(importer, '..', name),
    extension: ts.Extension.Ts,
    isExternalLibraryImport: false,
  };
}
