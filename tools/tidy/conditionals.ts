// Conditional expressions: every `a ? b : c` of a file, by line.
import ts from 'typescript';
import { lineOf, walk, type ProjectFile } from './project-files.ts';

/** Returns one line number per conditional expression. */
export function conditionalsOf(file: ProjectFile): number[] {
  const lines: number[] = [];
  walk(file, (node) => {
    if (ts.isConditionalExpression(node)) lines.push(lineOf(file, node));
  });
  return lines;
}
