// Started program: the module that Node was started with, as against those that it imports.
import { realpathSync } from 'node:fs';

/**
 * `import.meta.main` is false when `bin/preflight.js` already runs on the pinned Node, because then
 * it imports the program.
 */
export function isProgram(fileName: string): boolean {
  const [, program] = process.argv;
  return program !== undefined && realpathSync(program) === realpathSync(fileName);
}
