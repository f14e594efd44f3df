// JSON text parser: limits the depth, and reports the position of a fault.
import type { Json } from './json.ts';
import { parsedJson, stringEnd } from './json-keys.ts';

/** Deeper documents are refused to protect recursive code. Devices and clients do not need them. */
export const jsonDepthMax = 64;

/**
 * The input is not valid JSON, or its depth is too large. The message has the reason and the
 * position.
 */
export class JsonFault extends Error {
  override readonly name = 'JsonFault';
}

function tooDeep(): JsonFault {
  return new JsonFault(`it nests deeper than ${jsonDepthMax} levels`);
}

/**
 * Parses a document that is not empty, after an optional byte order mark. Throws JsonFault. `parse` is
 * another `JSON.parse`.
 */
export function parseJsonText(text: string, parse: (text: string) => unknown = parsedJson): Json {
  if (nestsTooDeep(text)) throw tooDeep();
  try {
    // A byte order mark is what some Windows tools put in front of UTF-8.
    return parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text) as Json;
  } catch (error) {
    throw new JsonFault(error instanceof Error ? error.message : String(error));
  }
}

const quote = 0x22;

function nestsTooDeep(text: string): boolean {
  // Nothing can nest deeper than half of its length, so ordinary payloads are not scanned at all.
  if (text.length <= jsonDepthMax * 2) return false;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      at = stringEnd(text, at);
    } else if (code === 0x7b || code === 0x5b) {
      if (++depth > jsonDepthMax) return true;
    } else if (code === 0x7d || code === 0x5d) {
      depth--;
    }
  }
  return false;
}
