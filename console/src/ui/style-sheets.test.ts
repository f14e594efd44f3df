// Style sheets: no rule repeats the words of words.css, and sheets and screens name the same classes.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

const folder = join(import.meta.dirname, '..');
/** Texts of the files below console/src with these endings, by path. */
const textsOf = (...endings: readonly string[]): Readonly<Record<string, string>> => {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const wanted = paths.filter((path) => endings.some((ending) => path.endsWith(ending)));
  return Object.fromEntries(wanted.map((path) => [path, readFileSync(join(folder, path), 'utf8')]));
};
const sheets = textsOf('.module.css');
const code = textsOf('.ts', '.tsx');
const words = readFileSync(join(folder, 'ui', 'words.css'), 'utf8');

const tokens: Readonly<Record<string, string>> = {
  'var(--s1)': '4px',
  'var(--s2)': '8px',
  'var(--s3)': '12px',
  'var(--s4)': '16px',
};
const declarationsIn = (body: string): string[] =>
  body
    .split(';')
    .map((one) => one.replaceAll(/var\(--s\d\)/g, (token) => tokens[token] ?? token).trim())
    .filter((one) => one !== '');
const bodiesOf = (sheet: string) => sheet.matchAll(/^ {2}([^@\s][^{}]*) \{([^{}]*)\}/gm);
const withoutComments = (sheet: string) => sheet.replaceAll(/\/\*.*?\*\//gs, '');

const ofOneClass = /^\.[\w-]+(,\s*\.[\w-]+)*$/;
const known = new Set(
  [...bodiesOf(withoutComments(words))]
    .filter(([, selector = '']) => ofOneClass.test(selector))
    .flatMap(([, , body = '']) => declarationsIn(body)),
);
/** Looked up by the name of a severity. */
const byName = /\.(CRITICAL|MINOR|INFO)/;

test('a rule of one class says more than words.css', () => {
  expect(known.size).toBeGreaterThan(30);
  const repeats = Object.entries(sheets).flatMap(([file, sheet]) =>
    [...bodiesOf(withoutComments(sheet))]
      .filter(([, selector = '']) => ofOneClass.test(selector) && !byName.test(selector))
      .filter(([, , body = '']) => declarationsIn(body).every((one) => known.has(one)))
      .map(([, selector]) => `${file} ${selector}`),
  );
  expect(repeats).toEqual([]);
});

/** Classes by sheet that the code names in `styles['name']`; undefined where it looks one up. */
function namedIn(file: string, text: string): [string, ReadonlySet<string> | undefined][] {
  return [...text.matchAll(/import (\w+) from '([^']+\.module\.css)'/g)].map(
    ([, local = '', path = '']) => {
      const sheet = join(dirname(file), path);
      const uses = [...text.matchAll(new RegExp(`\\b${local}\\[('(\\w+)')?`, 'g'))];
      const names = uses.map(([, , name]) => name);
      const isLookedUp = names.includes(undefined);
      return [sheet, isLookedUp ? undefined : new Set(names.map(String))];
    },
  );
}

test('a class that the code names is in its sheet, and the other way round', () => {
  const named = Object.entries(code).flatMap(([file, text]) => namedIn(file, text));
  const wrong = Object.entries(sheets).flatMap(([file, sheet]) => {
    const uses = named.filter(([of]) => of === file).map(([, names]) => names);
    const selectors = withoutComments(sheet).replaceAll(/\{[^{}]*\}|:global\([^()]*\)/g, ';');
    const own = new Set([...selectors.matchAll(/\.([A-Za-z]\w*)/g)].map(([, name = '']) => name));
    const used = uses.flatMap((names) => [...(names ?? [])]);
    const missing = used.filter((name) => !own.has(name));
    const unused = uses.includes(undefined) ? [] : [...own].filter((name) => !used.includes(name));
    return [...missing, ...unused].map((name) => `${file} ${name}`);
  });
  expect(wrong).toEqual([]);
});
