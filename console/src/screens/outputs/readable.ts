// Readable payloads: JSON with line breaks, everything else as it is.

/** Returns JSON over several lines; a payload that is cut or not JSON stays as it was sent. */
export function readable(payload: string): string {
  try {
    return JSON.stringify(JSON.parse(payload), null, 2);
  } catch {
    return payload;
  }
}
