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
} as const;
