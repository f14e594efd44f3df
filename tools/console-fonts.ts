// Console fonts: only the characters and weights that the console shows, written to console/generated/.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

/** By the name of the written file. */
const fonts = {
  'geist.woff2': '@fontsource-variable/geist/files/geist-latin-wght-normal.woff2',
  'geist-mono.woff2': '@fontsource-variable/geist-mono/files/geist-mono-latin-wght-normal.woff2',
} as const;

/** English, German and the other languages of western Europe; what is missing comes from the system's font. */
const ranges: readonly (readonly [number, number])[] = [
  [0x20, 0x7e],
  [0xa0, 0xff],
];
/** Letters, quotes, spaces, arrows and signs of the words of screens and of numbers and units. */
const further = 'ŒœŸ\u2009\u200a\u202f\u2011–—‘’‚“”„•…‹›€™←↑→↓−×≤≥≠Ω';

/** The weights between those that the style sheets use. */
const weights = { min: 400, max: 600 };

export async function writeConsoleFonts(root: string): Promise<void> {
  const { default: subsetFont } = await import('subset-font');
  const require = createRequire(join(root, 'package.json'));
  const folder = join(root, 'console', 'generated');
  const shown = ranges.map(([from, to]) => charactersOf(from, to)).join('') + further;
  mkdirSync(folder, { recursive: true });
  await Promise.all(
    Object.entries(fonts).map(async ([name, source]) => {
      const options = { targetFormat: 'woff2', variationAxes: { wght: weights } } as const;
      const font = readFileSync(require.resolve(source));
      writeFileSync(join(folder, name), await subsetFont(font, shown, options));
    }),
  );
}

function charactersOf(from: number, to: number): string {
  return String.fromCodePoint(...Array.from({ length: to - from + 1 }, (_, at) => from + at));
}
