// Citations: "(interface 4.4)" and "(contract 35)" name sections of docs/interface/ that exist.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Violation } from './violation.ts';
import type { ProjectFile } from './project-files.ts';
import { citingProse, documentProse, guestProse } from './prose.ts';

type Document = 'interface' | 'contract';
type Sections = Readonly<Record<Document, ReadonlySet<string>>>;

const folder = 'docs/interface';
const heading = /^#{2,4} (\d+(?:\.\d+)*)\.? /gm;
/** A document, then section numbers joined by commas, "and" or "to". */
const citation =
  /\b(interface|contract),? (?:decisions,? )?(?:and )?(?:sections? )?(\d+(?:\.\d+)*(?:(?:[,;]? and |[,;]? to |[,;] )(?:sections? )?\d+(?:\.\d+)*)*)/gi;

/** Citations of sections that do not exist. A project without docs/interface/ has none to check. */
export function citationViolations(root: string, files: readonly ProjectFile[]): Violation[] {
  if (!existsSync(join(root, folder))) return [];
  const sections = sectionsOf(root);
  const passages = [...files.flatMap(citingProse), ...guestProse(root), ...documentProse(root)];
  return passages.flatMap(({ path, line, text }) =>
    [...text.matchAll(citation)].flatMap(([, name = '', numbers = '']) => {
      const document = name.toLowerCase() as Document;
      return (numbers.match(/\d+(?:\.\d+)*/g) ?? [])
        .filter((number) => !sections[document].has(number))
        .map((number) => ({
          path,
          line,
          message: `${document} ${number} is not a section of ${folder}/`,
        }));
    }),
  );
}

function sectionsOf(root: string): Sections {
  return {
    interface: numbersOf(root, ['interface.md']),
    contract: numbersOf(root, globSync('contract/*.md', { cwd: join(root, folder) })),
  };
}

function numbersOf(root: string, paths: readonly string[]): ReadonlySet<string> {
  const texts = paths.map((path) => readFileSync(join(root, folder, path), 'utf8'));
  return new Set(
    texts.flatMap((text) => [...text.matchAll(heading)].map(([, number]) => `${number}`)),
  );
}
