// `npm run package`: writes the program as a folder, as one executable, or as the context of a container.
import { cpSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { copyNode, writeExecutable } from './packages/executable.ts';
import { writeProgramFolder } from './packages/program-folder.ts';

const root = join(import.meta.dirname, '..');
const usage = `Usage: npm run package -- KIND [FOLDER]

KIND is one of
  program      the bundled program with its packages: start it with "node start.js" on Node 26
  executable   one file with Node inside, for this platform; NODE_BINARY names another platform's Node
  container    the folder for "docker build" or "buildah build"

FOLDER is where it is written, .packages by default.`;

const kinds: Readonly<Record<string, (folder: string) => Promise<string>>> = {
  async program(folder) {
    const program = join(folder, 'program');
    await writeProgramFolder(root, program);
    return program;
  },
  async executable(folder) {
    const program = join(folder, 'executable.program');
    await writeProgramFolder(root, program);
    const output = join(folder, 'heliograph');
    const node = resolve(process.env['NODE_BINARY'] ?? process.execPath);
    const bytes = writeExecutable({ root, program, node, output });
    for (const work of [program, `${output}.work`]) rmSync(work, { recursive: true });
    return `${output}, ${Math.round(bytes / 1024 ** 2)} MB`;
  },
  async container(folder) {
    const context = join(folder, 'container');
    await writeProgramFolder(root, join(context, 'program'));
    copyNode(process.execPath, join(context, 'node'));
    const files = join(root, 'packages', 'container');
    cpSync(join(files, 'Dockerfile'), join(context, 'Dockerfile'));
    cpSync(join(files, 'health.js'), join(context, 'program', 'health.js'));
    return context;
  },
};

const [kind = '', folder = join(root, '.packages'), ...rest] = process.argv.slice(2);
const write = kinds[kind];
if (write === undefined || rest.length > 0) {
  console.error(usage);
  process.exitCode = 2;
} else console.log(`written: ${await write(resolve(folder))}`);
