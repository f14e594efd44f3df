// Use of formats: nothing outside this folder formats numbers or times, so that the same value reads the same on every page.
import { expect, test } from 'vitest';
import ts from 'typescript';

const sources = import.meta.glob<string>(['../**/*.{ts,tsx}', '!../words/**', '!../**/*.test.ts'], {
  eager: true,
  query: '?raw',
  import: 'default',
});
const own = /\.to(?:Locale\w*|Fixed|Precision|\w*DateString|\w*TimeString)\(|\bIntl\./;

test('review console M4 M5: numbers, dates and zones are formatted in one place', () => {
  expect(Object.keys(sources).length).toBeGreaterThan(300);
  const lines = Object.entries(sources).flatMap(([file, source]) =>
    source.split('\n').flatMap((line) => (own.test(line) ? [`${file}: ${line.trim()}`] : [])),
  );
  expect(lines).toEqual([]);
});

/** Places where a number parameter of a word is said as it is. */
function barePlaces(file: string, text: string): readonly string[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const places: string[] = [];
  const visit = (node: ts.Node, numbers: ReadonlySet<string>) => {
    const known = ts.isArrowFunction(node)
      ? new Set([...numbers, ...node.parameters.filter(isNumber).map(({ name }) => name.getText())])
      : numbers;
    if (ts.isTemplateSpan(node) && known.has(node.expression.getText()))
      places.push(`${file}: ${node.parent.getText()}`);
    ts.forEachChild(node, (child) => visit(child, known));
  };
  visit(source, new Set());
  return places;
}

const isNumber = ({ type }: ts.ParameterDeclaration) => type?.kind === ts.SyntaxKind.NumberKeyword;

test('review console M4: sentences group the digits of their numbers', () => {
  const words = Object.entries(sources).filter(([file]) => file.endsWith('words.ts'));
  expect(words.length).toBeGreaterThan(15);
  expect(words.flatMap(([file, text]) => barePlaces(file, text))).toEqual([]);
});
