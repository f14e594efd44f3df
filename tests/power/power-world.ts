// A data folder under a power cut: the preloaded library, the folder of what was synced, and the cut itself.
import {
  closeSync,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { compilePreloaded } from '../servers/preloaded.ts';

/**
 * `strict` leaves what was synced; `mixed` also a random part of the pages and names that were not.
 */
export type CutMode = 'strict' | 'mixed';

const pageBytes = 4_096;

/** Compiles the library into the folder. */
export function compilePowerCut(folder: string): string {
  return compilePreloaded(join(import.meta.dirname, 'power-cut.c'), folder);
}

export interface PowerWorld {
  readonly data: string;
  /** Environment of the process that writes the folder. */
  readonly settings: Readonly<Record<string, string>>;
  /**
   * Lets calls on paths that hold the text fail or wait from now on: `fsync journal 300`, `write
   * records EIO`.
   */
  faults(lines: readonly string[]): void;
  /** Puts in the place of the folder what a power cut leaves; the process must have ended. */
  cut(mode: CutMode, random: () => number): void;
}

/** `root` is a temporary folder. */
export function powerWorld(root: string, library: string): PowerWorld {
  const data = join(root, 'data');
  const shadow = join(root, 'shadow');
  const faultFile = join(root, 'faults');
  mkdirSync(data);
  shadowOf(data, shadow);
  return {
    data,
    settings: {
      LD_PRELOAD: library,
      UV_USE_IO_URING: '0',
      POWER_DATA: data,
      POWER_SHADOW: shadow,
      POWER_FAULTS: faultFile,
    },
    faults: (lines) => writeFileSync(faultFile, lines.map((line) => `${line}\n`).join('')),
    cut(mode, random) {
      const left = join(root, 'left');
      cpSync(join(shadow, 'data'), left, { recursive: true });
      if (mode === 'mixed') mixIn(data, shadow, left, random);
      rmSync(data, { recursive: true });
      rmSync(shadow, { recursive: true });
      renameSync(left, data);
      shadowOf(data, shadow);
    },
  };
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
}

/** Everything in the folder counts as synced. */
function shadowOf(data: string, shadow: string): void {
  mkdirSync(join(shadow, 'inodes'), { recursive: true });
  cpSync(data, join(shadow, 'data'), { recursive: true });
  for (const path of filesIn(data)) {
    linkSync(
      join(shadow, 'data', path),
      join(shadow, 'inodes', String(statSync(join(data, path)).ino)),
    );
  }
}

/** The kernel may have written any page and any name that the process had not synced yet. */
function mixIn(data: string, shadow: string, left: string, random: () => number): void {
  for (const path of filesIn(data)) {
    const target = join(left, path);
    const { ino } = statSync(join(data, path));
    const synced = join(shadow, 'inodes', String(ino));
    const hasName = existsSync(target);
    const isSame = hasName && existsSync(synced) && sameFile(join(shadow, 'data', path), synced);
    // A name that was given to another file, or to a new one, was written as a whole or not at all.
    if (!isSame && random() < 0.5) continue;
    if (!isSame) {
      mkdirSync(dirname(target), { recursive: true });
      rmSync(target, { force: true });
      if (existsSync(synced)) cpSync(synced, target);
      else writeFileSync(target, '');
    }
    mixPages(join(data, path), target, random);
  }
}

function sameFile(one: string, other: string): boolean {
  return existsSync(one) && statSync(one).ino === statSync(other).ino;
}

function mixPages(from: string, to: string, random: () => number): void {
  const written = readFileSync(from);
  const kept = readFileSync(to);
  const file = openSync(to, 'r+');
  for (let at = 0; at < written.length; at += pageBytes) {
    const page = written.subarray(at, at + pageBytes);
    if (page.equals(kept.subarray(at, at + pageBytes)) || random() < 0.5) continue;
    writeSync(file, page, 0, page.length, at);
  }
  closeSync(file);
}
