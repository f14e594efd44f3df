// The code map, docs/code-map.md: every file of the project except tests, with its caption, folder by folder.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Violation } from './tidy/violation.ts';
import { captionOf } from './tidy/captions.ts';
import type { ProjectFile } from './tidy/project-files.ts';

export const codeMapDocument = 'docs/code-map.md';
const head = `# Code map

Every file with its first line. \`npm run tidy -- --fix\` writes this document; [ARCHITECTURE.md](../ARCHITECTURE.md) is the overview.
`;

/** Returns the map as Markdown: one heading per folder, one line per file, `src` first. */
export function codeMap(files: readonly ProjectFile[]): string {
  const folders = Map.groupBy(
    files.filter((file) => !file.isTest && file.path.includes('/')),
    (file) => file.path.slice(0, file.path.lastIndexOf('/')),
  );
  const order = (folder: string) => `${folder.startsWith('src') ? 0 : 1}${folder}`;
  const sections = [...folders]
    .toSorted(([a], [b]) => (order(a) < order(b) ? -1 : 1))
    .map(([folder, members]) => `## ${folder}/\n\n${members.map(mapLine).join('\n')}\n`);
  return [head, ...sections].join('\n');
}

function mapLine(file: ProjectFile): string {
  const name = file.path.slice(file.path.lastIndexOf('/') + 1);
  return `- [\`${name}\`](../${file.path}): ${captionOf(file) ?? ''}`;
}

/** A map that differs from the files. A project without the document has no map to check. */
export function codeMapViolations(root: string, files: readonly ProjectFile[]): Violation[] {
  const path = join(root, codeMapDocument);
  if (!existsSync(path) || readFileSync(path, 'utf8') === codeMap(files)) return [];
  const message = 'the code map differs from the files: run "npm run tidy -- --fix"';
  return [{ path: codeMapDocument, message }];
}

/** Rewrites the map; returns whether anything changed. */
export function rewriteCodeMap(root: string, files: readonly ProjectFile[]): boolean {
  const path = join(root, codeMapDocument);
  const map = codeMap(files);
  if (!existsSync(path) || readFileSync(path, 'utf8') === map) return false;
  writeFileSync(path, map);
  return true;
}
