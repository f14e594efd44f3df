// Tested program: what `npm start` runs, the bundle while it is of the sources, which starts in half the time.
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');
const { programOf } = (await import(join(root, 'bin', 'program.js'))) as {
  readonly programOf: (root: string) => string;
};

/** The file that a child process runs. */
export const testedProgram = programOf(root);
