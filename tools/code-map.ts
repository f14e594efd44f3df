// The code map of ARCHITECTURE.md: every file of the product with its caption, folder by folder, between two markers.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Violation } from './tidy/violation.ts';
import { captionOf } from './tidy/captions.ts';
import type { ProjectFile } from './tidy/project-files.ts';

export const codeMapDocument = 'ARCHITECTURE.md';
const begin = '<!-- code map: begin, written by `npm run tidy -- --fix` -->';
const end = '<!-- code map: end -->';

/** The map as Markdown: one heading a folder, one line a file; tests are left out. */
export function codeMap(files: readonly ProjectFile[]): string {
  const folders = Map.groupBy(
    files.filter((file) => !file.isTest && file.path.includes('/')),
    (file) => file.path.slice(0, file.path.lastIndexOf('/')),
  );
  const order = (folder: string) => `${folder.startsWith('src') ? 0 : 1}${folder}`;
  return [...folders]
    .toSorted(([a], [b]) => (order(a) < order(b) ? -1 : 1))
    .map(([folder, members]) => `### ${folder}/\n\n${members.map(mapLine).join('\n')}\n`)
    .join('\n');
}

function mapLine(file: ProjectFile): string {
  const name = file.path.slice(file.path.lastIndexOf('/') + 1);
  return `- [\`${name}\`](${file.path}): ${captionOf(file) ?? ''}`;
}

function withMap(text: string, map: string): string | undefined {
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from === -1 || to < from) return undefined;
  return `${text.slice(0, from + begin.length)}\n\n${map}\n${text.slice(to)}`;
}

/** Whether ARCHITECTURE.md and the files tell the same; a project without the document has nothing to keep in step. */
export function codeMapViolations(root: string, files: readonly ProjectFile[]): Violation[] {
  const path = join(root, codeMapDocument);
  if (!existsSync(path)) return [];
  const text = readFileSync(path, 'utf8');
  const wanted = withMap(text, codeMap(files));
  if (wanted === undefined)
    return [{ path: codeMapDocument, message: `the markers "${begin}" and "${end}" are missing` }];
  if (wanted === text) return [];
  return [
    {
      path: codeMapDocument,
      message: 'the code map is out of step with the files: run "npm run tidy -- --fix"',
    },
  ];
}

/** Writes the map anew; answers whether anything changed. */
export function rewriteCodeMap(root: string, files: readonly ProjectFile[]): boolean {
  const path = join(root, codeMapDocument);
  if (!existsSync(path)) return false;
  const text = readFileSync(path, 'utf8');
  const wanted = withMap(text, codeMap(files));
  if (wanted === undefined || wanted === text) return false;
  writeFileSync(path, wanted);
  return true;
}
