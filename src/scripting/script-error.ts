// Errors of scripts as the user sees them: a message, and the place in the user's own source.
import type { ScriptErrorEvent } from './emit.ts';
import { linesBefore } from './source-analysis.ts';

/** The name under which the engine compiles a script; frames with it are the user's. */
export const scriptFile = 'script.js';

const frame = /\bscript\.js:(\d{1,9})(?::(\d{1,9}))?/;

/**
 * Makes the error event from a message and the engine's stack. `code` is the wrapped source: its lines have the user's
 * columns, and are one line further down. The engine counts columns in bytes of UTF-8, users in characters.
 */
export function scriptError(message: string, stack: string, code: string): ScriptErrorEvent {
  const match = frame.exec(stack);
  if (match === null) return { message };
  const line = Number(match[1]) - linesBefore;
  const text = lineOf(code, Number(match[1]));
  if (line < 1 || text === undefined) return { message };
  if (match[2] === undefined) return { message, line };
  const before = Buffer.from(text).subarray(0, Number(match[2]) - 1);
  return { message, line, column: before.toString().length + 1 };
}

function lineOf(code: string, line: number): string | undefined {
  let from = 0;
  for (let passed = 1; passed < line; passed++) {
    from = code.indexOf('\n', from) + 1;
    if (from === 0) return undefined;
  }
  const to = code.indexOf('\n', from);
  return code.slice(from, to === -1 ? undefined : to);
}

/** An ERROR entry as JSON. */
export function errorEntry(event: ScriptErrorEvent): string {
  return JSON.stringify({ type: 'ERROR', event });
}
