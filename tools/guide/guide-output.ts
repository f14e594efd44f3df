// Guide output: the pages of the guide, written next to the console, which the platform serves.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { guidePageOf } from './guide-page.ts';
import { guidePages } from './guide-pages.ts';

/** Writes the pages of the project at `root` to docs/guide of `output`; returns their number. */
export function writeGuide(root: string, output: string): number {
  const folder = join(output, 'docs', 'guide');
  mkdirSync(folder, { recursive: true });
  for (const page of guidePages) {
    const markdown = readFileSync(join(root, page.source), 'utf8');
    writeFileSync(join(folder, `${page.slug || 'index'}.html`), guidePageOf(page, markdown));
  }
  const tokens = readFileSync(join(root, 'console', 'src', 'ui', 'tokens.css'), 'utf8');
  const sheet = readFileSync(join(root, 'tools', 'guide', 'guide.css'), 'utf8');
  writeFileSync(join(folder, 'guide.css'), tokens + sheet);
  return guidePages.length;
}
