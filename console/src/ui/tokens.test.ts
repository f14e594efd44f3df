// Tokens: contrast of every pair that is used, and the distance of colors of charts.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { contrastOf, distanceOf } from './testing-color-sight.ts';

const css = readFileSync(join(import.meta.dirname, 'tokens.css'), 'utf8');
const themes = { light: tokensOf('light'), dark: tokensOf('dark') };
const distanceMin = 12;

function tokensOf(theme: string): ReadonlyMap<string, string> {
  const block = css.slice(css.search(new RegExp(`data-theme=.${theme}`)));
  const body = block.slice(0, block.indexOf('}'));
  return new Map([...body.matchAll(/(--[\w-]+): (#[0-9a-f]{6});/g)].map((m) => [m[1]!, m[2]!]));
}

/** Words need 4.5, borders of controls and the lines of charts 3 (WCAG 1.4.3, 1.4.11). */
const pairs: readonly (readonly [front: string, backs: readonly string[], least: number])[] = [
  ['--ink', ['--bg', '--surface', '--sunken', '--hover'], 7],
  ['--ink-2', ['--bg', '--surface', '--sunken', '--hover'], 4.5],
  ['--ink-3', ['--bg', '--surface', '--sunken', '--hover'], 4.5],
  ['--accent', ['--bg', '--surface'], 4.5],
  ['--on-accent-soft', ['--accent-soft'], 4.5],
  ['--on-primary', ['--primary'], 4.5],
  ['--ok', ['--surface', '--ok-soft'], 4.5],
  ['--warn', ['--surface', '--warn-soft'], 4.5],
  ['--bad', ['--surface', '--bad-soft'], 4.5],
  ['--info', ['--bg', '--surface'], 4.5],
  ['--code-word', ['--sunken', '--surface'], 4.5],
  ['--code-text', ['--sunken', '--surface'], 4.5],
  ['--line-strong', ['--bg', '--surface'], 3],
  ['--focus', ['--bg', '--surface', '--sunken'], 3],
  ...['--c1', '--c2', '--c3', '--c4', '--c5', '--c6'].map(
    (color) => [color, ['--surface'], 3] as const,
  ),
];

describe.each(Object.entries(themes))('%s', (_theme, tokens) => {
  const rows = pairs.flatMap(([front, backs, least]) => backs.map((back) => [front, back, least]));

  test.each(rows as [string, string, number][])(
    '%s on %s has contrast %d',
    (front, back, least) => {
      expect(contrastOf(tokens.get(front)!, tokens.get(back)!)).toBeGreaterThanOrEqual(least);
    },
  );

  test('colors of charts differ for every kind of sight', () => {
    const colors = [1, 2, 3, 4, 5, 6].map((at) => tokens.get(`--c${at}`)!);
    for (const [at, one] of colors.entries())
      for (const other of colors.slice(at + 1))
        expect(distanceOf(one, other), `${one} ${other}`).toBeGreaterThanOrEqual(distanceMin);
  });
});
