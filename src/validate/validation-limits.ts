// Validation limits: values beyond them are removed from the sample and noted.

export const validationLimits = {
  /**
   * Levels of objects and arrays in `data` and in `meta`; a deeper value cannot be written as JSON
   * safely.
   */
  depthMax: 64,
  /** Removed keys kept in `meta` with their values; further ones are removed and counted. */
  removedKeysMax: 1_000,
  /** Processing log entries about keys of one sample; the last one counts the rest. */
  keyNotesMax: 20,
  /** Characters of a path or topic in messages and in `meta`; longer ones lose their middle. */
  nameLengthMax: 1_000,
} as const;

/**
 * The text, its middle left out when it is longer than a name may be, so that many long paths
 * cannot multiply.
 */
export function shortName(text: string): string {
  const max = validationLimits.nameLengthMax;
  if (text.length <= max) return text;
  return `${text.slice(0, max / 2)}…${text.slice(1 - max / 2)}`;
}
