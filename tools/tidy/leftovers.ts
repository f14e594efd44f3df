// Leftovers: what is fine for an afternoon and wrong in a commit.
import ts from 'typescript';
import type { Breach } from './violation.ts';
import { lineOf, walk, type ProjectFile } from './project-files.ts';

const unfinishedMark = /\b(TODO|FIXME|XXX)\b(?!.*#\d+)/;
const testFunction = /^(test|it|describe|suite)\b/;
const narrowings = new Set(['only', 'skip', 'todo', 'fails']);

/** Marks of unfinished work without an issue's number, and tests that are narrowed, skipped or only announced. */
export function leftoverBreaches(file: ProjectFile): Breach[] {
  const breaches: Breach[] = [];
  for (const comment of commentsOf(file)) {
    if (!unfinishedMark.test(comment.text)) continue;
    const line = file.syntax.getLineAndCharacterOfPosition(comment.at).line + 1;
    breaches.push({
      path: file.path,
      line,
      message: 'unfinished work names its issue, as in "TODO #12", or is finished',
    });
  }
  walk(file, (node) => {
    if (!file.isTest || !ts.isPropertyAccessExpression(node) || !narrowings.has(node.name.text))
      return;
    if (testFunction.test(node.expression.getText()))
      breaches.push({
        path: file.path,
        line: lineOf(file, node),
        message: `.${node.name.text}: every test runs, always`,
      });
  });
  return breaches;
}

/** Comments by the scanner's own reckoning, so that text inside strings and templates is not one. */
function commentsOf(file: ProjectFile): { at: number; text: string }[] {
  const found = new Map<number, string>();
  const keep = (ranges: readonly ts.CommentRange[] | undefined): void => {
    for (const range of ranges ?? []) found.set(range.pos, file.text.slice(range.pos, range.end));
  };
  const step = (node: ts.Node): void => {
    keep(ts.getLeadingCommentRanges(file.text, node.getFullStart()));
    keep(ts.getTrailingCommentRanges(file.text, node.end));
    node.getChildren(file.syntax).forEach(step);
  };
  step(file.syntax);
  return [...found].map(([at, text]) => ({ at, text }));
}
