// Topic check of interface 2.3 in linear time, because the printed expression backtracks exponentially.
import { isLongName } from './outside-name.ts';

/**
 * Whether the string is a topic. Accepts exactly what
 * `^[a-zA-Z0-9]([a-zA-Z0-9]+(\.|:|-|_)?)*[a-zA-Z0-9]+$` accepts: a first run of at least two
 * alphanumeric characters, then any number of runs of at least one, with single separators between
 * them; at most 500 characters (contract 42).
 */
export function isTopic(text: string): boolean {
  if (isLongName(text)) return false;
  let run = 0;
  let runMin = 2;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (isAlphanumeric(code)) {
      run++;
    } else if (run >= runMin && isSeparator(code)) {
      run = 0;
      runMin = 1;
    } else {
      return false;
    }
  }
  return run >= runMin;
}

/** ASCII letters and digits only: `é` and the Arabic digits are none. */
export function isAlphanumeric(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 48 && code <= 57) || (code >= 65 && code <= 90);
}

/** `.`, `:`, `-` or `_`. */
function isSeparator(code: number): boolean {
  return code === 46 || code === 58 || code === 45 || code === 95;
}
