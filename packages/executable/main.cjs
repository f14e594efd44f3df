// Start of the single executable: unpacks the program that it contains once, and runs it from there.
const { constants, mkdirSync, existsSync, lstatSync, readdirSync, renameSync, rmSync, utimesSync, writeFileSync } = require('node:fs');
const { createRequire, enableCompileCache } = require('node:module');
const { homedir } = require('node:os');
const { dirname, join, resolve } = require('node:path');
const { getAsset, getRawAsset } = require('node:sea');
const { zstdDecompressSync } = require('node:zlib');

const { name, files } = JSON.parse(getAsset('program.json', 'utf8'));
/** Programs of other versions are removed when they were not started for this long. */
const unusedDaysMax = 30;

function run() {
  const base = programsFolder();
  const program = join(base, name);
  if (!existsSync(program)) unpack(base, program);
  refuseForeign(program);
  const now = new Date();
  utimesSync(program, now, now);
  removeUnused(base);
  enableCompileCache(join(base, `${name}.compiled`));
  // Modules of an executable import nothing from the disk; one that is loaded from there does.
  return createRequire(join(program, 'load.cjs'))('./load.cjs')();
}

/**
 * Where programs are unpacked: where a service manager or the user keeps what can be created again,
 * else the data folder, which can always be written.
 */
function programsFolder() {
  const { CACHE_DIRECTORY, XDG_CACHE_HOME, DATA_DIR } = process.env;
  const cache = XDG_CACHE_HOME || join(homedir(), '.cache');
  const folders = CACHE_DIRECTORY ? [CACHE_DIRECTORY] : [join(cache, 'heliograph')];
  folders.push(join(resolve(DATA_DIR || './data'), 'program'));
  const failures = [];
  for (const folder of folders) {
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      writeFileSync(join(folder, '.writable'), '');
      return folder;
    } catch (error) {
      failures.push(error.message);
    }
  }
  throw new Error(`the program cannot be unpacked: ${failures.join('; ')}. Set DATA_DIR to a folder that this user can write`);
}

/** Beside its place first, so that a program at its place is always whole. */
function unpack(base, program) {
  const folder = join(base, `${name}.${process.pid}.tmp`);
  rmSync(folder, { recursive: true, force: true });
  const bytes = zstdDecompressSync(Buffer.from(getRawAsset('program.zst')));
  let from = 0;
  for (const [path, size] of files) {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, bytes.subarray(from, from + size), { mode: 0o600 });
    from += size;
  }
  try {
    renameSync(folder, program);
  } catch (error) {
    // Another process was faster.
    rmSync(folder, { recursive: true, force: true });
    if (!existsSync(program)) throw error;
  }
}

/** What somebody else could have written is not run. */
function refuseForeign(program) {
  if (process.getuid === undefined) return;
  const { uid, mode } = lstatSync(program);
  const othersWrite = constants.S_IWGRP | constants.S_IWOTH;
  if (uid === process.getuid() && (mode & othersWrite) === 0) return;
  throw new Error(`${program} belongs to another user, or others can write it: remove it, and start again`);
}

function removeUnused(base) {
  const oldest = Date.now() - unusedDaysMax * 86_400_000;
  for (const entry of readdirSync(base)) {
    const path = join(base, entry);
    const isProgram = entry.startsWith('heliograph-') && !entry.startsWith(name);
    if (isProgram && lstatSync(path).mtimeMs < oldest) rmSync(path, { recursive: true, force: true });
  }
}

function fail(error) {
  console.error(`heliograph: ${error.message}`);
  process.exit(1);
}

try {
  run().catch(fail);
} catch (error) {
  fail(error);
}
