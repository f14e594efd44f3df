// Release: made by its command in a copy of the project, with files that match their checksums, and refused when something is missing.
import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { BillOfMaterials } from '../../tools/release/bill-of-materials.ts';

const root = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'heliograph-release-'));
const project = join(folder, 'project');
const output = join(folder, 'output');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly version: string;
};
const platform = `${process.platform}-${process.arch}`;

function git(...args: readonly string[]): void {
  const author = ['-c', 'user.name=Tester', '-c', 'user.email=tester@example.org'];
  execFileSync('git', [...author, ...args], { cwd: project });
}

function release(...args: readonly string[]) {
  const words = ['run', '--silent', 'release', '--', ...args];
  return spawnSync('npm', words, { cwd: project, encoding: 'utf8' });
}

/** The date that the command set in the changelog of the project. */
function dateOfRelease(): string {
  const changelog = readFileSync(join(project, 'CHANGELOG.md'), 'utf8');
  const [, date = ''] = /^## \[\S+\] - (\d{4}-\d\d-\d\d)$/m.exec(changelog) ?? [];
  expect(Math.abs(Date.now() - Date.parse(date))).toBeLessThan(2 * 24 * 3_600_000);
  return date;
}

/** The files of the project as they are here, committed. */
beforeAll(() => {
  const listed = ['ls-files', '--cached', '--others', '--exclude-standard', '-z'];
  const paths = execFileSync('git', listed, { cwd: root, encoding: 'utf8' }).split('\0');
  for (const path of paths.filter((one) => one !== '' && existsSync(join(root, one)))) {
    mkdirSync(dirname(join(project, path)), { recursive: true });
    cpSync(join(root, path), join(project, path));
  }
  symlinkSync(join(root, 'node_modules'), join(project, 'node_modules'));
  writeFileSync(join(project, '.git-exclude'), 'node_modules\n.git-exclude\n');
  git('init', '--quiet');
  git('config', 'core.excludesFile', join(project, '.git-exclude'));
  git('add', '--all');
  git('commit', '--quiet', '--message', 'docs: Release');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('it is refused with all that is missing, and changes nothing', () => {
  const kept = join(project, 'tests', 'releases', version);
  cpSync(kept, join(folder, 'kept'), { recursive: true });
  rmSync(kept, { recursive: true });
  git('tag', `v${version}`);
  const changelog = readFileSync(join(project, 'CHANGELOG.md'), 'utf8');
  const undated = changelog.replace(/^(## \[\S+\]) - .*$/m, '$1 - Unreleased');
  writeFileSync(join(project, 'CHANGELOG.md'), undated);
  expect(release('--checked', output)).toMatchObject({
    status: 1,
    stdout: '',
    stderr: `There are uncommitted changes. Commit them first.
v${version} is already tagged. Set the next version in package.json.
tests/releases/${version} is missing. Run "npm run release-data" and commit what it writes.
`,
  });
  expect(existsSync(output)).toBe(false);
  cpSync(join(folder, 'kept'), kept, { recursive: true });
  git('tag', '--delete', `v${version}`);
  git('commit', '--all', '--quiet', '--allow-empty', '--message', 'docs: Begin the version');
}, 60_000);

test('it has every package, checksums that match, a bill of materials and notes', () => {
  const { status, stdout, stderr } = release('--checked', output);
  expect([status, stderr]).toEqual([0, expect.any(String)]);
  expect(stdout).toContain(`git tag v${version}`);
  const names = [
    `heliograph-${version}-${platform}`,
    `heliograph-${version}-${platform}-container.tar.gz`,
    `heliograph-${version}-${platform}-program.tar.gz`,
    `heliograph-${version}-py3-none-any.whl`,
    `heliograph-${version}.cdx.json`,
    `heliograph-${version}.tar.gz`,
    `heliograph-${version}.tgz`,
    `heliograph-client-${version}.tgz`,
    'heliograph.service',
    'RELEASE_NOTES.md',
    'SHA256SUMS',
  ];
  expect(readdirSync(output).toSorted()).toEqual(names.toSorted());
  const sums = readFileSync(join(output, 'SHA256SUMS'), 'utf8').trim().split('\n');
  expect(sums).toHaveLength(names.length - 1);
  execFileSync('sha256sum', ['--check', '--strict', '--quiet', 'SHA256SUMS'], { cwd: output });
  const bill = JSON.parse(
    readFileSync(join(output, `heliograph-${version}.cdx.json`), 'utf8'),
  ) as BillOfMaterials;
  expect(bill.metadata.component).toMatchObject({ name: 'heliograph', version });
  const notes = readFileSync(join(output, 'RELEASE_NOTES.md'), 'utf8');
  expect(notes).toContain(`# Heliograph ${version}\n\n${dateOfRelease()}\n`);
}, 900_000);

test('its packages are of the version, and the changelog in them has the date', () => {
  const dated = `## [${version}] - ${dateOfRelease()}\n`;
  const archive = join(output, `heliograph-${version}.tgz`);
  const inArchive = (path: string) =>
    execFileSync('tar', ['-xzOf', archive, `package/${path}`], { encoding: 'utf8' });
  expect(inArchive('CHANGELOG.md')).toContain(dated);
  expect(JSON.parse(inArchive('package.json'))).toMatchObject({ version });
  const executable = join(output, `heliograph-${version}-${platform}`);
  const cache = { PATH: '/usr/bin:/bin', HOME: join(folder, 'home') };
  const help = execFileSync(executable, ['help'], { env: cache, encoding: 'utf8' });
  expect(help).toContain('usage: heliograph COMMAND');
  for (const kind of ['program', 'container']) {
    const path = join(output, `heliograph-${version}-${platform}-${kind}.tar.gz`);
    const names = execFileSync('tar', ['-tzf', path], {
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
    });
    expect(names).toMatch(
      kind === 'program' ? /-program\/start\.js$/m : /-container\/Dockerfile$/m,
    );
  }
}, 60_000);
