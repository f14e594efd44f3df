// House rules in one table: each rule with the function that finds its violations.
import { lockViolations } from '../lock-entries.ts';
import type { Violation } from './violation.ts';
import { citationViolations } from './citations.ts';
import { captionViolations } from './captions.ts';
import { decisionViolations, dependencyViolations } from './decision-records.ts';
import { documentPathViolations } from './document-paths.ts';
import { leftoverViolations } from './leftovers.ts';
import { nameViolations } from './names.ts';
import { projectFiles, type ProjectFile } from './project-files.ts';
import { environmentViolations } from './environment-access.ts';

type FileRule = (file: ProjectFile) => Violation[];
type ProjectRule = (root: string, files: readonly ProjectFile[]) => Violation[];

const fileRules: readonly FileRule[] = [
  captionViolations,
  nameViolations,
  environmentViolations,
  leftoverViolations,
];

const projectRules: readonly ProjectRule[] = [
  decisionViolations,
  dependencyViolations,
  lockViolations,
  citationViolations,
  documentPathViolations,
];

/** Returns every violation of every rule in the project at `root`. */
export function tidyViolations(root: string): Violation[] {
  const files = projectFiles(root);
  return [
    ...files.flatMap((file) => fileRules.flatMap((rule) => rule(file))),
    ...projectRules.flatMap((rule) => rule(root, files)),
  ];
}
