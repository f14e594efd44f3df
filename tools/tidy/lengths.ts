// Lengths: the largest file and the longest function that a reader takes in at one sitting.
import type { ProjectFile } from './project-files.ts';

const sourceLinesMax = 300;
// A test file is a table of cases for one subject. Tables are longer than code and quicker to read.
const testLinesMax = 500;

export const functionLinesMax = 60;

/** Returns the most lines that a file can have. */
export function fileLinesMax(file: ProjectFile): number {
  return file.isTest ? testLinesMax : sourceLinesMax;
}
