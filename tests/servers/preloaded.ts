// Libraries that tests load into a process before all others, to fail its calls, to cut its power or to set its clock.
import { execFileSync } from 'node:child_process';
import { closeSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { basename, join } from 'node:path';

/** Compiles the C source into the folder. Throws without gcc and the headers of Linux's C library. */
export function compilePreloaded(source: string, folder: string): string {
  const library = join(folder, `${basename(source, '.c')}.so`);
  execFileSync('gcc', ['-O2', '-shared', '-fPIC', '-o', library, source, '-ldl', '-lpthread']);
  return library;
}

export interface SteppingClock {
  /** Environment of the processes that go by it. */
  readonly settings: { readonly LD_PRELOAD: string; readonly CLOCK_FILE: string };
  /** Sets it, from this moment on, that long before the clock of the machine; negative is behind. */
  set(aheadMs: number): void;
}

/** A clock of wall time whose library and file are in the folder. */
export function steppingClock(folder: string): SteppingClock {
  const library = compilePreloaded(join(import.meta.dirname, 'stepping-clock.c'), folder);
  const path = join(folder, 'clock');
  writeFileSync(path, Buffer.alloc(8));
  return {
    settings: { LD_PRELOAD: library, CLOCK_FILE: path },
    set(aheadMs) {
      // One write of eight bytes: a reader sees the old time or the new one.
      const bytes = Buffer.alloc(8);
      bytes.writeBigInt64LE(BigInt(Math.round(aheadMs)));
      const file = openSync(path, 'r+');
      writeSync(file, bytes, 0, bytes.length, 0);
      closeSync(file);
    },
  };
}
