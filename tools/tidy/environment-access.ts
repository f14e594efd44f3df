// Surroundings: who may read the environment and the clock, and who may print.
import ts from 'typescript';
import { importTable, stageFolders } from '../import-table.ts';
import type { Violation } from './violation.ts';
import { lineOf, walk, type ProjectFile } from './project-files.ts';

const environment = /^process\s*(\?\.|\.)\s*env$/;
const clockCalls = new Set([
  'Date',
  'Date.now',
  'performance.now',
  'process.hrtime',
  'process.hrtime.bigint',
  'process.uptime',
]);

/**
 * Reads of the environment outside src/app/config/config.ts; clocks and output inside stages. Tests are
 * exempt.
 */
export function environmentViolations(file: ProjectFile): Violation[] {
  if (!file.path.startsWith('src/') || file.isTest) return [];
  const inStage = stageFolders.includes(rowOf(file.path));
  const violations: Violation[] = [];
  walk(file, (node) => {
    const message = environmentMessage(file, node) ?? (inStage ? stageMessage(node) : undefined);
    if (message !== undefined)
      violations.push({ path: file.path, line: lineOf(file, node), message });
  });
  return violations;
}

/** The row of the import table that a file of src belongs to: its longest one. */
function rowOf(path: string): string {
  const rows = Object.keys(importTable).filter((folder) => path.startsWith(`src/${folder}/`));
  return rows.toSorted((a, b) => b.length - a.length)[0] ?? '';
}

function environmentMessage(file: ProjectFile, node: ts.Node): string | undefined {
  if (file.path === 'src/app/config/config.ts') return undefined;
  const reads =
    (ts.isPropertyAccessExpression(node) && environment.test(node.getText())) ||
    (ts.isElementAccessExpression(node) && /^process\[['"]env['"]\]$/.test(node.getText())) ||
    (ts.isBindingElement(node) &&
      node.getText() === 'env' &&
      node.parent.parent.getText().endsWith('= process')) ||
    (ts.isImportSpecifier(node) &&
      (node.propertyName ?? node.name).text === 'env' &&
      importsProcess(node));
  return reads
    ? 'only src/app/config/config.ts reads the environment: take the value from Config'
    : undefined;
}

function importsProcess(node: ts.ImportSpecifier): boolean {
  return /^['"](node:)?process['"]$/.test(node.parent.parent.parent.moduleSpecifier.getText());
}

function stageMessage(node: ts.Node): string | undefined {
  const readsClock =
    (ts.isNewExpression(node) &&
      node.expression.getText() === 'Date' &&
      (node.arguments ?? []).length === 0) ||
    // Named without a call too: as the default of a parameter it is read just the same.
    (ts.isPropertyAccessExpression(node) && clockCalls.has(node.getText())) ||
    (ts.isCallExpression(node) && node.expression.getText() === 'Date') ||
    (ts.isCallExpression(node) && node.expression.getText().startsWith('Temporal.Now.'));
  if (readsClock) return 'a stage reads no clock: take `now` as an argument';
  const prints =
    (ts.isPropertyAccessExpression(node) && node.expression.getText() === 'console') ||
    (ts.isPropertyAccessExpression(node) && /^process\.std(out|err)$/.test(node.getText()));
  return prints ? 'a stage does not log: return a note or a value' : undefined;
}
