// Third-party notices: licence texts of the packages, fonts and data that every package of the platform contains.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { productionPackages } from './lock-file.ts';

export const noticesFile = 'THIRD_PARTY_NOTICES.txt';

/** Licences that allow what the platform does: use, bundle, and pass on with their text. */
const permissive = new Set([
  'MIT',
  'MIT-0',
  'ISC',
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'CC0-1.0',
  'PSF-2.0',
  'Unlicense',
  'OFL-1.1',
]);
/** Licences that ask for more, by package, with what the platform does about it. */
const conditions: Readonly<Record<string, string>> = {
  'date-holidays':
    'Its data is licensed under CC-BY-3.0: © Tom Vodopija and contributors, https://github.com/commenthol/date-holidays. Unchanged.',
  'png-js': 'Licensed under MIT, which its manifest does not say.',
  mariadb:
    'Licensed under LGPL-2.1-or-later. It is a package of its own, loaded at run time and unchanged; replace it in node_modules.',
};
/** Fonts of the console and of documents, subset to the characters that they show. */
export const consoleFonts = ['@fontsource-variable/geist', '@fontsource-variable/geist-mono'];
const licenceName = /^(licen[cs]e|copying|notice|unlicense)/i;

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
}

/**
 * Returns the text. `bundled` are the notices that the bundler wrote for the packages inside the
 * console. Throws when a package has a licence that nobody has judged.
 */
export function thirdPartyNotices(root: string, bundled: string): string {
  const packages = productionPackages(root).map((path) => noticeOf(join(root, path)));
  return [
    'Heliograph contains or uses the following software. Each is under its own licence.',
    '# Packages of the platform',
    ...packages,
    '# Fonts of the console and of documents',
    ...consoleFonts.map((name) => noticeOf(join(root, 'node_modules', name))),
    '# Packages inside the console',
    bundled.trim(),
    '',
  ].join('\n\n');
}

function noticeOf(folder: string): string {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
  const { name, version, license = '' } = manifest;
  const condition = conditions[name];
  if (condition === undefined && !isPermissive(license))
    throw new Error(
      `${name}@${version} has the licence "${license}": judge it and add it to tools/third-party-notices.ts`,
    );
  const texts = readdirSync(folder)
    .filter((file) => licenceName.test(file))
    .toSorted()
    .map((file) => readFileSync(join(folder, file), 'utf8').trim());
  return [
    `## ${name} ${version} (${license})`,
    ...(condition === undefined ? [] : [condition]),
    ...texts,
  ].join('\n\n');
}

/** `(A OR B)` needs one of them, `(A AND B)` both. */
function isPermissive(license: string): boolean {
  const bare = license.replace(/^\((.*)\)$/, '$1');
  const [separator, needsAll] = bare.includes(' AND ') ? [' AND ', true] : [' OR ', false];
  const parts = bare.split(separator).map((part) => permissive.has(part));
  return needsAll ? parts.every(Boolean) : parts.some(Boolean);
}
