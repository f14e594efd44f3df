// The house rules as one table: every rule with the question it asks.
import { codeMapBreaches } from '../code-map.ts';
import { lockBreaches } from '../lock-entries.ts';
import type { Breach } from './violation.ts';
import { captionBreaches } from './captions.ts';
import { decisionBreaches } from './decision-records.ts';
import { leftoverBreaches } from './leftovers.ts';
import { lengthBreaches } from './lengths.ts';
import { nameBreaches } from './names.ts';
import { projectFiles, type ProjectFile } from './project-files.ts';
import { surroundingsBreaches } from './environment-access.ts';

type FileRule = (file: ProjectFile) => Breach[];
type ProjectRule = (root: string, files: readonly ProjectFile[]) => Breach[];

const fileRules: readonly FileRule[] = [
  lengthBreaches,
  captionBreaches,
  nameBreaches,
  surroundingsBreaches,
  leftoverBreaches,
];

const projectRules: readonly ProjectRule[] = [decisionBreaches, codeMapBreaches, lockBreaches];

/** Every breach of every rule in the project at `root`. */
export function tidyBreaches(root: string): Breach[] {
  const files = projectFiles(root);
  return [
    ...files.flatMap((file) => fileRules.flatMap((rule) => rule(file))),
    ...projectRules.flatMap((rule) => rule(root, files)),
  ];
}
