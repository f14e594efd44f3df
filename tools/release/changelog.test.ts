// Changelog of a release: the parts of a version, its date, and notes that fit a page.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { changelogVersion, datedChangelog, releaseNotes } from './changelog.ts';

const changelog = `# Changelog

## [0.3.0] - Unreleased

Faster.

- Twice.

### Added

- One thing
  on two lines.
- Another.

### Fixed

- A fault.

## [0.2.0] - 2026-12-01

The first.

### Security

- \`## [0.3.0] - Unreleased\` as text.
`;
const files = [{ name: 'a.tgz', description: 'platform', bytes: 1_500_000 }];

test('a version has its date, summary and entries by kind, and nothing of its neighbors', () => {
  expect(changelogVersion(changelog, '0.3.0')).toMatchObject({
    version: '0.3.0',
    date: undefined,
    summary: 'Faster.\n\n- Twice.',
    kinds: [
      { name: 'Added', entries: 2 },
      { name: 'Fixed', entries: 1 },
    ],
  });
  expect(changelogVersion(changelog, '0.2.0')).toMatchObject({
    date: '2026-12-01',
    summary: 'The first.',
    kinds: [{ name: 'Security', entries: 1 }],
  });
});

test('a version without heading, and one without summary, say what is missing', () => {
  expect(() => changelogVersion(changelog, '0.3')).toThrow('no heading "## [0.3] - Unreleased"');
  const bare = changelog.replace('Faster.\n\n- Twice.\n', '');
  expect(() => changelogVersion(bare, '0.3.0')).toThrow('no summary of 0.3.0');
});

test('the date is set once, in the heading of the version alone', () => {
  const dated = datedChangelog(changelog, '0.3.0', '2027-01-31');
  expect(dated).toBe(changelog.replace('[0.3.0] - Unreleased', '[0.3.0] - 2027-01-31'));
  expect(datedChangelog(dated, '0.3.0', '2027-02-01')).toBe(dated);
});

test('notes list few changes, and count many', () => {
  const version = changelogVersion(changelog, '0.3.0');
  const notes = releaseNotes(version, files);
  expect(notes).toMatch(/^# Heliograph 0.3.0\n\nUnreleased\n\nFaster.\n\n- Twice.\n\n## Added\n/);
  expect(notes).toContain('- One thing\n  on two lines.');
  expect(notes).toContain('| `a.tgz` | platform | 1.5 MB |');
  const sections = `${version.sections}${'\n- Another fault.'.repeat(60)}`;
  const many = releaseNotes({ ...version, sections }, files);
  expect(many).toContain('## Changes\n\nCHANGELOG.md lists them: added 2, fixed 1.');
  expect(many).not.toContain('fault');
});

test('notes longer than a page are refused', () => {
  const version = changelogVersion(changelog, '0.3.0');
  const summary = 'Line.\n'.repeat(80);
  expect(() => releaseNotes({ ...version, summary }, files)).toThrow(
    'Shorten the summary of 0.3.0',
  );
});

test('the version of package.json is in CHANGELOG.md, by kind, with notes of a page', () => {
  const root = join(import.meta.dirname, '..', '..');
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    version: string;
  };
  const found = changelogVersion(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'), version);
  const order = ['Added', 'Changed', 'Fixed', 'Removed', 'Security'];
  const names = found.kinds.map(({ name }) => name);
  expect(names).toEqual(order.filter((name) => names.includes(name)));
  expect(found.kinds.filter(({ entries }) => entries === 0)).toEqual([]);
  expect(releaseNotes(found, files)).toContain(`# Heliograph ${version}`);
});
