// Executable: one file with Node and the packed program, for the platform of that Node.
import { createHash } from 'node:crypto';
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { constants, zstdCompressSync } from 'node:zlib';

/** A third of the time of the highest level, for two percent more bytes. */
const compressionLevel = 12;

export interface ExecutableParts {
  readonly root: string;
  /** A folder that `writeProgramFolder` wrote. */
  readonly program: string;
  /** The Node of the platform that the executable is for. */
  readonly node: string;
  /** The file to write. */
  readonly output: string;
}

/** Writes the executable. Returns its size in bytes. Throws with what the programs said. */
export function writeExecutable({ root, program, node, output }: ExecutableParts): number {
  const work = `${output}.work`;
  mkdirSync(work, { recursive: true });
  writeFileSync(join(program, 'load.cjs'), "module.exports = () => import('./start.js');\n");
  const { version } = JSON.parse(readFileSync(join(program, 'package.json'), 'utf8')) as {
    readonly version: string;
  };
  const { files, bytes } = packed(program);
  const digest = createHash('sha256').update(bytes).digest('hex').slice(0, 16);
  const contents = { name: `heliograph-${version}-${digest}`, files };
  writeFileSync(join(work, 'program.json'), JSON.stringify(contents));
  const params = { [constants.ZSTD_c_compressionLevel]: compressionLevel };
  writeFileSync(join(work, 'program.zst'), zstdCompressSync(bytes, { params }));
  const base = join(work, 'node');
  copyNode(node, base);
  mkdirSync(dirname(output), { recursive: true });
  const config = {
    main: join(root, 'packages', 'executable', 'main.cjs'),
    output,
    executable: base,
    execArgvExtension: 'none',
    disableExperimentalSEAWarning: true,
    assets: {
      'program.json': join(work, 'program.json'),
      'program.zst': join(work, 'program.zst'),
    },
  };
  const configPath = join(work, 'config.json');
  writeFileSync(configPath, JSON.stringify(config));
  const built = spawnSync(process.execPath, ['--build-sea', configPath], { encoding: 'utf8' });
  if (built.status !== 0) throw new Error(`${built.stdout}${built.stderr}`);
  chmodSync(output, 0o755);
  return readFileSync(output).byteLength;
}

/** Without the symbols for debuggers, a fifth of the file, where `strip` is installed. */
export function copyNode(node: string, output: string): void {
  cpSync(node, output);
  spawnSync('strip', [output]);
}

/** The files of a folder one after the other, with their paths and sizes, sorted by path. */
function packed(folder: string) {
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .map((path) => path.split('\\').join('/'))
    .toSorted();
  const parts = paths.map((path) => readFileSync(join(folder, path)));
  const files = paths.map((path, at) => [path, parts[at]?.byteLength ?? 0] as const);
  return { files, bytes: Buffer.concat(parts) };
}
