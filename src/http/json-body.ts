// Reads a JSON body: well-formed, not too deep, else a refusal that says where.
import type { Json } from '../model/json.ts';
import { problem } from '../model/problem.ts';

/** Deeper bodies are refused: no device or client needs them, and recursive code must not meet them. */
const jsonDepthMax = 64;

/** Parses a body; undefined for an empty one. Throws Problem `invalidJson` with the reason and place. */
export function parseJsonBody(text: string): Json | undefined {
  // A byte order mark is what some Windows tools put in front of UTF-8.
  const start = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  if (text.length === start) return undefined;
  if (nestsTooDeep(text)) throw problem('invalidJson', { reason: `it nests deeper than ${jsonDepthMax} levels` });
  try {
    return JSON.parse(start === 0 ? text : text.slice(1)) as Json;
  } catch (error) {
    throw problem('invalidJson', { reason: error instanceof Error ? error.message : String(error) });
  }
}

const quote = 0x22;
const backslash = 0x5c;

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

function stringEnd(text: string, from: number): number {
  let at = text.indexOf('"', from + 1);
  while (at !== -1) {
    let escapes = 0;
    while (text.charCodeAt(at - 1 - escapes) === backslash) escapes++;
    if (escapes % 2 === 0) return at;
    at = text.indexOf('"', at + 1);
  }
  return text.length;
}
