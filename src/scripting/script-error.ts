// Errors of scripts as the user sees them: a message, and the place in the user's own source.
import type { ScriptErrorEvent } from './emit.ts';

/** An ERROR entry as JSON. */
export function errorEntry(event: ScriptErrorEvent): string {
  return JSON.stringify({ type: 'ERROR', event });
}
