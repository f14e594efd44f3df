// Notices of third parties: every production package, the fonts and the packages in the console, with their texts.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { productionPackages } from './lock-file.ts';
import { noticesFile, thirdPartyNotices } from './third-party-notices.ts';

const root = join(import.meta.dirname, '..');

test('behaviour 31: the notices name each production package with its licence', () => {
  const text = thirdPartyNotices(root, '## react - 19 (MIT)');
  const packages = productionPackages(root);
  expect(packages.length).toBeGreaterThan(200);
  for (const path of packages) {
    const { name, version } = JSON.parse(
      readFileSync(join(root, path, 'package.json'), 'utf8'),
    ) as Record<string, string>;
    expect(text).toContain(`\n## ${name} ${version} (`);
  }
  expect(text).toContain('SIL OPEN FONT LICENSE');
  expect(text).toContain('Its data is licensed under CC-BY-3.0');
  expect(text).toContain('## react - 19 (MIT)');
});

test('behaviour 31: the built console, which every package contains, has them', () => {
  const built = readFileSync(join(root, 'console/dist', noticesFile), 'utf8');
  expect(built).toContain('\n## mariadb ');
  expect(built).toContain('## @tanstack/react-query - ');
});
