// Names: files and folders are called by the field's words, never by a bag's.
import { compositionFolders, importTable, rootFiles } from '../import-table.ts';
import type { Violation } from './violation.ts';
import { folderOfSrc, type ProjectFile } from './project-files.ts';

const bagWords = [
  'util',
  'utils',
  'helper',
  'helpers',
  'common',
  'shared',
  'lib',
  'libs',
  'misc',
  'others',
];
const bagForm = new RegExp(`^(index|types|(.*[.-])?(${bagWords.join('|')}))$`);
/** Folders of src with a row, or with folders that have one. */
const knownFolders = new Set([
  ...compositionFolders,
  ...Object.keys(importTable).map((folder) => folder.split('/')[0]),
]);
const nameForm = /^[a-z0-9]+([.-][a-z0-9]+)*$/;

/**
 * Banned and badly formed names along a file's path, and folders of src that the import table does
 * not know.
 */
export function nameViolations(file: ProjectFile): Violation[] {
  const violations: Violation[] = [];
  for (const name of file.path.split('/')) {
    const stem = name.replace(/(\.test|\.conformance)?\.(tsx?|js)$/, '');
    if (bagForm.test(stem))
      violations.push({
        path: file.path,
        message: `"${stem}" says nothing: take a word of GLOSSARY.md`,
      });
    if (!nameForm.test(stem))
      violations.push({
        path: file.path,
        message: `"${name}" is not in lower-case words joined by hyphens`,
      });
  }
  const folder = folderOfSrc(file);
  if (folder !== undefined && !knownFolders.has(folder))
    violations.push({
      path: file.path,
      message: `src/${folder} has no row in tools/import-table.ts`,
    });
  const rootFile = /^src\/([^/]+?)(\.test)?\.ts$/.exec(file.path)?.[1];
  if (rootFile !== undefined && !rootFiles.includes(rootFile))
    violations.push({
      path: file.path,
      message: `only ${rootFiles.join(', ')} are at the root of src`,
    });
  return violations;
}
