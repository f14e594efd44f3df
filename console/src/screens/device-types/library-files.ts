// Library files: what a chosen folder holds for the import of a device type library (contract 7).
import type { components } from '../../../generated/interface-types.ts';

export type LibraryUpload = components['schemas']['LibraryUpload'];

const textForm = /\.(json|js)$/i;
const pictureForm = /\.(png|jpe?g|gif|webp)$/i;
const skippedForm = /(^|\/)(\.[^/]*|node_modules)\//;

/** Limit of one request, with room for its own syntax, in bytes. */
export const uploadBytesMax = 120 * 1024 * 1024;
const base64Growth = 4 / 3;

export interface LibraryFile {
  /** Below the chosen folder, with slashes. */
  readonly path: string;
  readonly file: File;
}

/** Files that the import reads; hidden folders and installed packages stay out. */
export function libraryFilesIn(chosen: Iterable<File>): LibraryFile[] {
  return [...chosen]
    .map((file) => ({ file, path: file.webkitRelativePath || file.name }))
    .filter(({ path }) => textForm.test(path) || pictureForm.test(path))
    .filter(({ path }) => !skippedForm.test(path));
}

export function typesAmong(files: readonly LibraryFile[]): number {
  return files.filter(({ path }) => /(^|\/)meta\.json$/.test(path)).length;
}

export function uploadBytesOf(files: readonly LibraryFile[]): number {
  const sizeOf = ({ path, file }: LibraryFile) =>
    file.size * (textForm.test(path) ? 1 : base64Growth);
  return files.reduce((sum, file) => sum + sizeOf(file), 0);
}

export async function libraryUploadOf(
  organizationId: string,
  chosen: readonly LibraryFile[],
): Promise<LibraryUpload> {
  const files: Record<string, string> = {};
  const pictures: Record<string, string> = {};
  for (const { path, file } of chosen) {
    if (textForm.test(path)) files[path] = await file.text();
    else pictures[path] = new Uint8Array(await file.arrayBuffer()).toBase64();
  }
  return { organizationId, files, pictures };
}
