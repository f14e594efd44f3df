// The code map, printed by `npm run tidy -- --map`: every file except tests, with its caption, folder by folder.
import { captionOf } from './tidy/captions.ts';
import type { ProjectFile } from './tidy/project-files.ts';

const head = `# Code map

Every file with its first line; ARCHITECTURE.md is the overview.
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
  return `- \`${name}\`: ${captionOf(file) ?? ''}`;
}
