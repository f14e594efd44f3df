// Program folder: the bundled platform with the packages and files that it reads, ready to run anywhere.
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { copyAssets } from '../build-output.ts';
import { productionPackages } from '../lock-file.ts';
import { bundleProgram } from '../program-output.ts';
import { noticesFile } from '../third-party-notices.ts';

/** Commands for a running platform. */
const client = 'clients/command-line/command.ts';
/** Folders with other files that the program reads at run time. */
const assetFolders = ['src', 'clients/demo', 'demo', 'console/dist'];
/** What packages contain for people and compilers, and a running program never opens. */
const unusedFiles = /\.(map|md|markdown|[cm]?ts|tsx|flow|html?)$/i;
/** Licenses have to travel with the code. */
const licenseFiles = /(^|\/)(licen[cs]e|copying|notice)[^/]*$/i;

/**
 * Writes the platform of the project at `root` into `folder`, which is emptied before:
 * `start.js` starts it, or runs a command, with any Node of the pinned version. The console must be
 * built.
 */
export async function writeProgramFolder(root: string, folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  const { program } = await bundleProgram(root, join(root, '.program'), [client]);
  const bundle = dirname(program);
  // Addresses in the bundle are relative to this depth.
  const place = join('.program', basename(bundle));
  mkdirSync(join(folder, place), { recursive: true });
  for (const path of readdirSync(bundle).filter((file) => /\.(js|json)$/.test(file)))
    cpSync(join(bundle, path), join(folder, place, path));
  for (const path of assetFolders) copyAssets(join(root, path), join(folder, path));
  for (const path of productionPackages(root)) copyPackage(root, folder, path);
  const manifestText = readFileSync(join(root, 'package.json'), 'utf8');
  const { name, version, license } = JSON.parse(manifestText) as Readonly<Record<string, string>>;
  const manifest = { name, version, license, type: 'module' };
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  cpSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
  cpSync(join(root, 'console', 'dist', noticesFile), join(folder, noticesFile));
  const start = `./${join(place, basename(program)).split('\\').join('/')}`;
  const command = start.replace(/[^/]+$/, `${basename(client, '.ts')}.js`);
  writeFileSync(join(folder, 'start.js'), await startCode(root, start, command));
}

/**
 * Code that runs the platform or the command, depending on the words of the command line. It is one
 * file, because process 1 ignores signals until the platform listens to them.
 */
async function startCode(root: string, platform: string, command: string): Promise<string> {
  const words = (await import(pathToFileURL(join(root, 'bin', 'platform-words.js')).href)) as {
    readonly platformWords: readonly string[];
  };
  return `const [word] = process.argv.slice(2);
const isPlatform = word === undefined || ${JSON.stringify(words.platformWords)}.includes(word);
await import(isPlatform ? '${platform}' : '${command}');
`;
}

function copyPackage(root: string, folder: string, path: string): void {
  cpSync(join(root, path), join(folder, path), {
    recursive: true,
    // Packages inside of packages are entries too.
    filter: (from) => isUsed(from) && basename(from) !== 'node_modules',
  });
}

function isUsed(path: string): boolean {
  return !unusedFiles.test(path) || licenseFiles.test(path);
}
