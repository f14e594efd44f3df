// JSON bodies: well-formed and not too deep, else an error with the position.
import { JsonFault, parsedJson, parseJsonText } from '../../model/json-keys.ts';
import { parseReadings } from '../../model/exact-json.ts';
import type { Json } from '../../model/json.ts';
import { parseLargeJson } from '../../model/large-json.ts';
import { problem } from '../../model/problem.ts';

/**
 * Parses a body; undefined for an empty one. Throws Problem `invalidJson` with the reason and
 * place.
 */
export function parseJsonBody(text: string): Json | undefined {
  return parsedBody(text, parsedJson);
}

/** The same for readings of devices: see `parseReadings`. */
export function parseReadingsBody(text: string): Json | undefined {
  return parsedBody(text, parseReadings);
}

function parsedBody(text: string, parse: (text: string) => unknown): Json | undefined {
  if (text.length === (text.charCodeAt(0) === 0xfeff ? 1 : 0)) return undefined;
  try {
    return parseJsonText(text, parse);
  } catch (error) {
    throw invalidJson(error);
  }
}

/** The same for a body of any length, in turns of the event loop that are short. */
export function parseLargeJsonBody(bytes: Uint8Array): Promise<Json | undefined> {
  return parsedLargeBody(bytes, parsedJson);
}

/** The same for readings of devices. */
export function parseLargeReadingsBody(
  bytes: Uint8Array,
  inTurn: Parameters<typeof parseLargeJson>[2],
): Promise<Json | undefined> {
  return parsedLargeBody(bytes, parseReadings, inTurn);
}

async function parsedLargeBody(
  bytes: Uint8Array,
  parse: (text: string) => Json,
  inTurn?: Parameters<typeof parseLargeJson>[2],
): Promise<Json | undefined> {
  if (bytes.length === 0) return undefined;
  try {
    return await parseLargeJson(bytes, parse, inTurn);
  } catch (error) {
    throw invalidJson(error);
  }
}

function invalidJson(error: unknown): unknown {
  if (error instanceof JsonFault) return problem('invalidJson', { reason: error.message });
  return error;
}
