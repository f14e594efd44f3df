// Errors of scripts as the user sees them: a message, and the place in the user's own source.
import type { ScriptErrorEvent } from './emit.ts';
import { type AnalyzedScript, originalPlace, statementAt } from './source-analysis.ts';

/** The name under which the engine compiles a script; frames with it are the user's. */
export const scriptFile = 'script.js';

const frame = /\bscript\.js:(\d{1,9}):(\d{1,9})/;

/**
 * Makes the error event from a message and the engine's stack, whose places are those of the edited
 * and wrapped source.
 */
export function scriptError(
  message: string,
  stack: string,
  script: AnalyzedScript,
): ScriptErrorEvent {
  const match = frame.exec(stack);
  if (match === null) return { message };
  const inCode = positionOf(script.code, Number(match[1]), Number(match[2]));
  if (inCode === undefined || inCode < script.codeStart) return { message };
  const told = originalPlace(script.edited, inCode - script.codeStart);
  if (told >= script.source.length) return { message };
  const place = namedPlace(message, script, told);
  const lineStart = script.source.lastIndexOf('\n', place - 1) + 1;
  return { message, line: countLines(script.source, place), column: place - lineStart + 1 };
}

/** An ERROR entry as JSON. */
export function errorEntry(event: ScriptErrorEvent): string {
  return JSON.stringify({ type: 'ERROR', event });
}

// The engine counts columns in bytes of UTF-8.
function positionOf(code: string, line: number, column: number): number | undefined {
  let start = 0;
  for (let passed = 1; passed < line; passed++) {
    start = code.indexOf('\n', start) + 1;
    if (start === 0) return undefined;
  }
  const [text = ''] = code.slice(start).split('\n', 1);
  const bytes = Buffer.from(text).subarray(0, column - 1);
  return start + bytes.toString().length;
}

function countLines(source: string, place: number): number {
  let lines = 1;
  for (let at = source.indexOf('\n'); at !== -1 && at < place; at = source.indexOf('\n', at + 1))
    lines += 1;
  return lines;
}

const named = /property '([a-z_$][\w$]{0,99})' of|^ReferenceError: ([a-z_$][\w$]{0,99}) is not/i;
const statementCharsMax = 20_000;

/**
 * The engine tells where a statement or call begins. When the message names something that the
 * statement mentions once, that is the place; statements that emit an object are often many lines
 * long.
 */
function namedPlace(message: string, script: AnalyzedScript, told: number): number {
  const match = named.exec(message);
  const statement = statementAt(script.edited, told);
  if (match === null || statement === undefined || statement.end - told > statementCharsMax)
    return told;
  const name = (match[1] ?? match[2] ?? '').replaceAll('$', '\\$');
  const text = script.source.slice(told, statement.end);
  const [mention, second] = text.matchAll(new RegExp(`(?<![\\w$])${name}(?![\\w$])`, 'g'));
  if (mention === undefined || second !== undefined) return told;
  return told + mention.index;
}
