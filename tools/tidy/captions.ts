// Captions: the first line of a file says in one sentence what the file is for.
import type { Violation } from './violation.ts';
import type { ProjectFile } from './project-files.ts';

const captionForm = /^\/\/ \S.{15,}[.:]$/;

/** The caption of a file without the comment's sign, or undefined when it has none. */
export function captionOf(file: ProjectFile): string | undefined {
  const first = file.lines[0]?.startsWith('#!') ? file.lines[1] : file.lines[0];
  return first !== undefined && captionForm.test(first) ? first.slice(3) : undefined;
}

/** Files whose first line is not a caption. */
export function captionViolations(file: ProjectFile): Violation[] {
  if (captionOf(file) !== undefined) return [];
  const message =
    'the first line is a comment that says in one sentence, with its full stop, what the file is for';
  return [{ path: file.path, line: 1, message }];
}
