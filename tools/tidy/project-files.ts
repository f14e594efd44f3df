// Project files: every source, test and script that tidy checks, read once.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

export interface ProjectFile {
  /** From the project's root, with forward slashes. */
  readonly path: string;
  /** Tests, conformance suites and what several tests share: they have their own limits. */
  readonly isTest: boolean;
  readonly text: string;
  readonly lines: readonly string[];
  readonly syntax: ts.SourceFile;
}

const patterns = [
  '{src,clients,tests,bench,tools}/**/*.ts',
  'bin/*.{js,ts}',
  'console/{src,journeys}/**/*.{ts,tsx}',
  'console/*.ts',
  '*.ts',
];

/** Reads every file of the project at `root` that tidy has rules for, in the order of paths. */
export function projectFiles(root: string): ProjectFile[] {
  return globSync(patterns, { cwd: root, exclude: ['clients/typescript/generated/**'] })
    .map((path) => path.replaceAll('\\', '/'))
    .toSorted()
    .map((path) => readProjectFile(root, path));
}

function readProjectFile(root: string, path: string): ProjectFile {
  const text = readFileSync(join(root, path), 'utf8');
  return {
    path,
    isTest:
      /\.(test|conformance)\.tsx?$|\/testing-[^/]+\.ts$|\/conformance\//.test(path) ||
      /^(tests|console\/journeys)\//.test(path),
    text,
    lines: text.replace(/\n$/, '').split('\n'),
    syntax: ts.createSourceFile(join(root, path), text, ts.ScriptTarget.Latest, true),
  };
}

/**
 * Returns the folder of `src` that contains a file, or undefined for files elsewhere and at the
 * root of src.
 */
export function folderOfSrc(file: ProjectFile): string | undefined {
  return /^src\/([^/]+)\//.exec(file.path)?.[1];
}

/** Calls `visit` for every node of the file, parents first. */
export function walk(file: ProjectFile, visit: (node: ts.Node) => void): void {
  const step = (node: ts.Node): void => {
    visit(node);
    ts.forEachChild(node, step);
  };
  step(file.syntax);
}

/** The one-based line a node begins on, without its leading comments. */
export function lineOf(file: ProjectFile, node: ts.Node): number {
  return file.syntax.getLineAndCharacterOfPosition(node.getStart(file.syntax)).line + 1;
}
