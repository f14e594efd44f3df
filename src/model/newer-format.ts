// Newer format: an error for files of a newer version, which must not be treated as damaged.

/** A file has a format that this program does not know. */
export class NewerFormatError extends Error {
  override readonly name = 'NewerFormatError';
}

/**
 * Throws NewerFormatError for a format above `known`; files that say none are of the first format.
 */
export function refuseNewerFormat(path: string, format: number | undefined, known: number): void {
  if (format === undefined || format <= known) return;
  throw new NewerFormatError(
    `${path} was written by a newer version of the program (format ${format}, this program knows ${known}): start that version, or restore a backup made before it`,
  );
}
