// Lengths: files and functions short enough to be read at one sitting.
import ts from 'typescript';
import type { Breach } from './violation.ts';
import { lineOf, walk, type ProjectFile } from './project-files.ts';

const sourceLinesMax = 300;
const testLinesMax = 400;
const functionLinesMax = 60;

/** Files over their limit, and functions over theirs; a suite of tests counts by its tests, not as one function. */
export function lengthBreaches(file: ProjectFile): Breach[] {
  const linesMax = file.isTest ? testLinesMax : sourceLinesMax;
  const breaches: Breach[] = [];
  if (file.lines.length > linesMax)
    breaches.push({
      path: file.path,
      message: `${file.lines.length} lines, at most ${linesMax}: split it by reason to change`,
    });
  walk(file, (node) => {
    if (!isFunctionWithBody(node) || (file.isTest && isSuite(node.body))) return;
    const lines = ownLines(file, node);
    if (lines > functionLinesMax) {
      const message = `a function of ${lines} lines, at most ${functionLinesMax}`;
      breaches.push({ path: file.path, line: lineOf(file, node), message });
    }
  });
  return breaches;
}

/** The lines of a function without those of the functions named inside it, which are read and counted by themselves. */
function ownLines(file: ProjectFile, node: ts.Node): number {
  let nested = 0;
  const look = (inner: ts.Node): void => {
    if (isFunctionWithBody(inner) && isNamed(inner)) nested += lineCount(file, inner);
    else ts.forEachChild(inner, look);
  };
  ts.forEachChild(node, look);
  return lineCount(file, node) - nested;
}

function isNamed(node: ts.FunctionLikeDeclaration): boolean {
  return (
    node.name !== undefined ||
    ts.isVariableDeclaration(node.parent) ||
    ts.isPropertyAssignment(node.parent)
  );
}

function lineCount(file: ProjectFile, node: ts.Node): number {
  return file.syntax.getLineAndCharacterOfPosition(node.end).line + 2 - lineOf(file, node);
}

function isFunctionWithBody(node: ts.Node): node is ts.FunctionLikeDeclaration & { body: ts.Node } {
  return ts.isFunctionLike(node) && 'body' in node && node.body !== undefined;
}

/** Whether a body declares tests itself: `describe(...)`, `test(...)`, or a loop over a table around them. */
function isSuite(body: ts.Node): boolean {
  let found = false;
  const look = (node: ts.Node): void => {
    if (found || (node !== body && ts.isFunctionLike(node))) return;
    if (ts.isCallExpression(node) && /^(describe|test|it)\b/.test(node.expression.getText()))
      found = true;
    else ts.forEachChild(node, look);
  };
  look(body);
  return found;
}
