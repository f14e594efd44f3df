// Other format: an error for files that another version of the program wrote, which must not be treated as damaged.

/** A file has a format that this program does not read. */
export class OtherFormatError extends Error {
  override readonly name = 'OtherFormatError';
}

/**
 * Throws OtherFormatError for a format other than `known`. A greater one is of a newer version; a
 * smaller one, or none, is of a development version, because no release wrote it.
 */
export function refuseOtherFormat(path: string, format: number | undefined, known: number): void {
  if (format === known) return;
  if (format !== undefined && format > known)
    throw new OtherFormatError(
      `${path} was written by a newer version (format ${format}; this version supports ${known}). Start that version, or restore an earlier backup.`,
    );
  throw new OtherFormatError(
    `${path} was written by a development version before release 0.2.0, which releases cannot read. Set DATA_DIR to an empty folder, or start that version to export your data.`,
  );
}
