// Console fonts: only the characters and weights that the console shows, written to console/generated/.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const text = '@fontsource-variable/geist/files/geist-latin-wght-normal.woff2';
const code = '@fontsource-variable/geist-mono/files/geist-mono-latin-wght-normal.woff2';
const ascii = charactersOf(0x20, 0x7e);
/** German letters, quotes, spaces, arrows and signs of the words of screens and of units. */
const ofWords = 'ÄÖÜäöüß\u00a0\u2009\u202f\u2011–—‘’“”„…·•←→−×°²³µ€';
/** Letters of names in the other languages of western Europe. */
const ofNames = `${charactersOf(0xa1, 0xff)}ŒœŸ‚‹›™↑↓≤≥≠Ω`
  .split('')
  .filter((one) => !ofWords.includes(one))
  .join('');

/** Characters by the name of the written file; `fonts.css` says when a browser loads which. */
const fonts = {
  'geist.woff2': { source: text, shown: ascii + ofWords },
  'geist-names.woff2': { source: text, shown: ofNames },
  'geist-mono.woff2': { source: code, shown: ascii + ofWords + ofNames },
} as const;

/** The weights between those that the style sheets use. */
const weights = { min: 400, max: 600 };

export async function writeConsoleFonts(root: string): Promise<void> {
  const { default: subsetFont } = await import('subset-font');
  const require = createRequire(join(root, 'package.json'));
  const folder = join(root, 'console', 'generated');
  mkdirSync(folder, { recursive: true });
  await Promise.all(
    Object.entries(fonts).map(async ([name, { source, shown }]) => {
      const options = { targetFormat: 'woff2', variationAxes: { wght: weights } } as const;
      const font = readFileSync(require.resolve(source));
      writeFileSync(join(folder, name), await subsetFont(font, shown, options));
    }),
  );
}

function charactersOf(from: number, to: number): string {
  return String.fromCodePoint(...Array.from({ length: to - from + 1 }, (_, at) => from + at));
}
