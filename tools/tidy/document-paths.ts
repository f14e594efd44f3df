// Document paths: a path of the project that a document names in backticks exists.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Violation } from './violation.ts';

const documents = ['*.md', 'docs/**/*.md'];
/** What they name was there when they were written. */
const leftDocuments = /^(CHANGELOG\.md|docs\/decisions\/.*)$/;
const namedPath =
  /`((?:src|tests|tools|console|clients|bench|examples|packages|docs|bin)\/[\w./-]+)`/g;

/** Paths in documents that lead nowhere. */
export function documentPathViolations(root: string): Violation[] {
  return globSync(documents, { cwd: root })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => !leftDocuments.test(path))
    .toSorted()
    .flatMap((path) =>
      readFileSync(join(root, path), 'utf8')
        .split('\n')
        .flatMap((line, index) =>
          [...line.matchAll(namedPath)]
            .filter(([, named = '']) => !existsSync(join(root, named)))
            .map(([, named]) => ({ path, line: index + 1, message: `${named} does not exist` })),
        ),
    );
}
