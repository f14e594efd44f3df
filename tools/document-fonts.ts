// `node tools/document-fonts.ts`: writes src/dashboards/documents/fonts/ after a change of the font package.
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import subsetFont from 'subset-font';

const root = join(import.meta.dirname, '..');
const require = createRequire(join(root, 'package.json'));
/** Subsets of the package with letters that documents need. */
const parts = ['latin', 'latin-ext', 'cyrillic'] as const;
const weights = [400, 600] as const;
const first = 0x20;
const last = 0x26ff;

const text = Array.from({ length: last - first + 1 }, (_, at) =>
  String.fromCodePoint(first + at),
).join('');
for (const part of parts) {
  const source = `@fontsource-variable/geist/files/geist-${part}-wght-normal.woff2`;
  const font = readFileSync(require.resolve(source));
  for (const wght of weights) {
    const options = { targetFormat: 'sfnt', variationAxes: { wght } } as const;
    const file = join(root, 'src', 'dashboards', 'documents', 'fonts', `geist-${part}-${wght}.ttf`);
    writeFileSync(file, await subsetFont(font, text, options));
  }
}
