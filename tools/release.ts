// `npm run release`: checks the project and writes every package of its version, with checksums, bill of materials and notes.
import { type ExecFileSyncOptions, execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, join, relative, resolve } from 'node:path';
import { isProgram } from './is-program.ts';
import { packClient } from './pack-client.ts';
import { packPython } from './pack-python.ts';
import { billOfMaterials } from './release/bill-of-materials.ts';
import { changelogVersion, datedChangelog, releaseNotes } from './release/changelog.ts';

const usage = `Usage: npm run release [-- [--checked] [FOLDER]]

Runs check, tidy and test, builds every package of the version in package.json for this platform,
and writes them with SHA256SUMS, a bill of materials (CycloneDX) and RELEASE_NOTES.md into FOLDER,
.packages/VERSION by default. Sets the date of the version in CHANGELOG.md.

  --checked   does not run check, tidy and test: for a commit that passed .ci/run`;

const checks = [['run', 'check'], ['run', 'tidy'], ['test']];

/** One package: writes its files into the folder, and returns their paths. */
interface Package {
  readonly description: string;
  write(root: string, folder: string): Promise<readonly string[]>;
}

/** The quick ones first, because each can lack a program of this machine. */
function packagesOf(version: string): readonly Package[] {
  const platform = `${process.platform}-${process.arch}`;
  return [
    {
      description: 'client for Python',
      async write(root, folder) {
        const { wheel, sourcePackage } = packPython(root, folder);
        return [wheel, sourcePackage];
      },
    },
    {
      description: 'client for TypeScript',
      write: async (root, folder) => [await packClient(root, folder)],
    },
    {
      description: 'platform for npm',
      async write(root, folder) {
        run(root, ['run', '--silent', 'build-console']);
        const args = ['pack', '--silent', '--pack-destination', folder];
        const output = execFileSync('npm', args, { cwd: root, encoding: 'utf8' });
        // The scripts of the package print before npm does.
        return [join(folder, output.trim().split('\n').at(-1) ?? '')];
      },
    },
    {
      description: `platform as one executable, ${platform}`,
      async write(root, folder) {
        const path = join(folder, `heliograph-${version}-${platform}`);
        renameSync(join(packageIn(root, 'executable', folder), 'heliograph'), path);
        return [path];
      },
    },
    {
      description: `platform as a folder, ${platform}`,
      async write(root, folder) {
        const name = `heliograph-${version}-${platform}-program`;
        return [archive(packageIn(root, 'program', folder), 'program', join(folder, name))];
      },
    },
    {
      description: `build context of the container, ${platform}`,
      async write(root, folder) {
        const name = `heliograph-${version}-${platform}-container`;
        return [archive(packageIn(root, 'container', folder), 'container', join(folder, name))];
      },
    },
    {
      description: 'unit for systemd',
      async write(root, folder) {
        const path = join(folder, 'heliograph.service');
        cpSync(join(root, 'packages', 'systemd', 'heliograph.service'), path);
        return [path];
      },
    },
  ];
}

/** Returns the folder that `npm run package -- KIND` wrote. */
function packageIn(root: string, kind: string, folder: string): string {
  const work = join(folder, '.work');
  run(root, ['run', '--silent', 'package', '--', kind, work]);
  return work;
}

/** Packs the folder `name` of `work` as `path`.tar.gz, the same bytes for the same files. */
function archive(work: string, name: string, path: string): string {
  const root = basename(path);
  renameSync(join(work, name), join(work, root));
  const same = ['--sort=name', '--owner=0', '--group=0', '--numeric-owner', '--mtime=@0'];
  execFileSync('tar', ['-czf', `${path}.tar.gz`, ...same, '-C', work, root]);
  return `${path}.tar.gz`;
}

function run(root: string, args: readonly string[]): void {
  const { status, error } = spawnSync('npm', args, { cwd: root, stdio: 'inherit' });
  if (status !== 0) throw new Error(`npm ${args.join(' ')} failed`, { cause: error });
}

/** Reasons why the project at `root` cannot be released as it is. */
function obstacles(root: string, version: string): string[] {
  const git = (...args: readonly string[]): string => {
    const options: ExecFileSyncOptions = { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] };
    return String(execFileSync('git', args, options)).trim();
  };
  const { date } = changelogVersion(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'), version);
  return [
    git('status', '--porcelain') !== '' && 'There are uncommitted changes. Commit them first.',
    date === undefined &&
      git('tag', '--list', `v${version}`) !== '' &&
      `v${version} is already tagged. Set the next version in package.json.`,
    !existsSync(join(root, 'tests', 'releases', version)) &&
      `tests/releases/${version} is missing. Run "npm run release-data" and commit what it writes.`,
  ].filter((reason) => reason !== false);
}

/** Writes every file of the release into `folder`, which is emptied before. Returns their paths. */
async function writeRelease(root: string, version: string, folder: string): Promise<string[]> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const written: { readonly path: string; readonly description: string }[] = [];
  for (const { description, write } of packagesOf(version)) {
    console.log(`building: ${description}`);
    for (const path of await write(root, folder)) written.push({ path, description });
    rmSync(join(folder, '.work'), { recursive: true, force: true });
  }
  const bill = join(folder, `heliograph-${version}.cdx.json`);
  writeFileSync(bill, `${JSON.stringify(billOfMaterials(root), null, 2)}\n`);
  written.push({ path: bill, description: 'bill of materials (CycloneDX)' });
  const files = written.map(({ path, description }) => ({
    name: basename(path),
    description,
    bytes: statSync(path).size,
  }));
  const notes = join(folder, 'RELEASE_NOTES.md');
  const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8');
  writeFileSync(notes, releaseNotes(changelogVersion(changelog, version), files));
  const paths = [...written.map(({ path }) => path), notes];
  const sums = join(folder, 'SHA256SUMS');
  // The form of sha256sum.
  writeFileSync(sums, paths.map((path) => `${sha256(path)}  ${basename(path)}\n`).join(''));
  return [...paths, sums];
}

function sha256(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

async function release(root: string, isChecked: boolean, chosen: string | undefined) {
  const manifest = readFileSync(join(root, 'package.json'), 'utf8');
  const { version } = JSON.parse(manifest) as { readonly version: string };
  const found = obstacles(root, version);
  if (found.length > 0) throw new Error(found.join('\n'));
  if (!isChecked) for (const check of checks) run(root, check);
  const changelogPath = join(root, 'CHANGELOG.md');
  const changelog = readFileSync(changelogPath, 'utf8');
  const today = new Date().toISOString().slice(0, 10);
  const dated = datedChangelog(changelog, version, today);
  // The packages contain it.
  writeFileSync(changelogPath, dated);
  try {
    const folder = resolve(root, chosen ?? join('.packages', version));
    for (const path of await writeRelease(root, version, folder))
      console.log(`written: ${relative(root, path)}`);
  } catch (error) {
    writeFileSync(changelogPath, changelog);
    throw error;
  }
  if (dated === changelog) return;
  console.log(`
CHANGELOG.md has the date of ${version}. Commit and tag it, then publish the files:
  git commit --all --message 'docs: Release ${version}' && git tag v${version}`);
}

if (isProgram(import.meta.filename)) {
  const words = process.argv.slice(2);
  const paths = words.filter((word) => !word.startsWith('-'));
  const isChecked = words.includes('--checked');
  if (words.includes('--help')) console.log(usage);
  else if (paths.length > 1 || words.length > paths.length + Number(isChecked)) {
    console.error(usage);
    process.exitCode = 2;
  } else
    await release(join(import.meta.dirname, '..'), isChecked, paths[0]).catch((error: Error) => {
      console.error(error.message);
      process.exitCode = 1;
    });
}
