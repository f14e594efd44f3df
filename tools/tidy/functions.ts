// Functions of a file: length with closures, parameters, and suites of tests.
import ts from 'typescript';
import { lineOf, walk, type ProjectFile } from './project-files.ts';

export interface ProjectFunction {
  readonly line: number;
  /** Lines from the first to the last, with every function inside. */
  readonly lineCount: number;
  /** Positional parameters; none for a test of a table, whose parameters are columns. */
  readonly parameterCount: number;
  /** The body declares tests: a suite is measured by its tests. */
  readonly isSuite: boolean;
}

/** Returns every function with a body, outer functions first. */
export function functionsOf(file: ProjectFile): ProjectFunction[] {
  const functions: ProjectFunction[] = [];
  walk(file, (node) => {
    if (!hasBody(node)) return;
    const line = lineOf(file, node);
    functions.push({
      line,
      lineCount: file.syntax.getLineAndCharacterOfPosition(node.end).line + 2 - line,
      parameterCount: isTableRow(file, node) ? 0 : node.parameters.length,
      isSuite: file.isTest && declaresTests(node.body),
    });
  });
  return functions;
}

function hasBody(node: ts.Node): node is ts.FunctionLikeDeclaration & { body: ts.Node } {
  return ts.isFunctionLike(node) && 'body' in node && node.body !== undefined;
}

function isTableRow(file: ProjectFile, node: ts.Node): boolean {
  return (
    file.isTest &&
    ts.isCallExpression(node.parent) &&
    /^(describe|test|it)\b/.test(node.parent.expression.getText())
  );
}

/** A body declares tests by `describe(...)`, `test(...)`, or a loop over a table around them. */
function declaresTests(body: ts.Node): boolean {
  let found = false;
  const visit = (node: ts.Node): void => {
    if (found || (node !== body && ts.isFunctionLike(node))) return;
    if (ts.isCallExpression(node) && /^(describe|test|it)\b/.test(node.expression.getText()))
      found = true;
    else ts.forEachChild(node, visit);
  };
  visit(body);
  return found;
}
