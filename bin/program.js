// The program to run: the bundle, which loads faster, while it is of the sources; else the sources.
// Plain JavaScript of 2020 without newer syntax, because an old Node must be able to read it.
import { readFileSync, statSync } from 'fs';
import { join } from 'path';

/**
 * Path of the program of the project at `root`. A bundle counts when every source file has the time
 * and size noted with it.
 */
export function programOf(root) {
  const folder = join(root, '.program');
  try {
    const note = JSON.parse(readFileSync(join(folder, 'sources.json'), 'utf8'));
    const program = join(folder, note.program);
    if (note.sources.every((source) => isSame(root, source)) && statSync(program).isFile())
      return program;
  } catch {
    // Without a bundle, or with one that cannot be read, the sources run.
  }
  return join(root, 'src', 'main.ts');
}

function isSame(root, source) {
  const found = statSync(join(root, source[0]));
  return found.mtimeMs === source[1] && found.size === source[2];
}
