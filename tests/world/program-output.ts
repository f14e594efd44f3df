// Program output: waits until a program that was started prints something.
import type { ChildProcess } from 'node:child_process';

/** Resolves with the match; rejects with all output when the program ends before, or cannot start. */
export function outputUntil(child: ChildProcess, wanted: RegExp): Promise<RegExpExecArray> {
  let output = '';
  return new Promise((resolve, reject) => {
    const add = (chunk: Buffer): void => {
      output += chunk.toString();
      const match = wanted.exec(output);
      if (match !== null) resolve(match);
    };
    child.stdout?.on('data', add);
    child.stderr?.on('data', add);
    child.once('error', reject);
    child.once('exit', () => reject(new Error(`the program ended: ${output}`)));
  });
}
