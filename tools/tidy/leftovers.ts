// Leftovers: marks of unfinished work, tests that do not run, and programs that would not start.
import ts from 'typescript';
import type { Violation } from './violation.ts';
import { lineOf, walk, type ProjectFile } from './project-files.ts';
import { commentsOf } from './prose.ts';

const unfinishedMark = /\b(TODO|FIXME|XXX)\b(?!.*#\d+)/;
const testFunction = /^(test|it|describe|suite)\b/;
const narrowings = new Set(['only', 'skip', 'todo', 'fails']);

/**
 * Marks of unfinished work without an issue's number, tests that are narrowed, skipped or only
 * announced, and `import.meta.main`.
 */
export function leftoverViolations(file: ProjectFile): Violation[] {
  const violations: Violation[] = [];
  for (const comment of commentsOf(file.syntax)) {
    if (!unfinishedMark.test(comment.text)) continue;
    const line = file.syntax.getLineAndCharacterOfPosition(comment.at).line + 1;
    violations.push({
      path: file.path,
      line,
      message: 'unfinished work names its issue, as in "TODO #12", or is finished',
    });
  }
  walk(file, (node) => {
    if (ts.isPropertyAccessExpression(node) && node.getText() === 'import.meta.main')
      violations.push({
        path: file.path,
        line: lineOf(file, node),
        message:
          'import.meta.main is false under bin/preflight.js: use isProgram(import.meta.filename)',
      });
    if (!file.isTest || !ts.isPropertyAccessExpression(node) || !narrowings.has(node.name.text))
      return;
    if (testFunction.test(node.expression.getText()))
      violations.push({
        path: file.path,
        line: lineOf(file, node),
        message: `.${node.name.text}: every test runs, always`,
      });
  });
  return violations;
}
