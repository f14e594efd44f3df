// Decision records: numbered without a gap, named NNNN-title.md, with a status, one page each; every dependency has one.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Violation } from './violation.ts';

const folder = 'docs/decisions';
const manifest = 'package.json';
const linesMax = 60;
const recordName = /^(\d{4})-[a-z0-9-]+\.md$/;
const sections = ['## Context', '## Decision', '## Consequences'];
const statusAt = 2;
/** `Status: accepted.`, with later records that replace this one or change a part of it. */
const statusForm =
  /^Status: (?:accepted|(?:replaced|accepted, changed) by \[\d+\]\([\w-]+\.md\)(?:(?:,| and) \[\d+\]\([\w-]+\.md\))*)\.$/;

/** Runtime dependencies that no record names. */
export function dependencyViolations(root: string): Violation[] {
  if (!existsSync(join(root, manifest)) || !existsSync(join(root, folder))) return [];
  const { dependencies = {} } = JSON.parse(readFileSync(join(root, manifest), 'utf8')) as {
    readonly dependencies?: Readonly<Record<string, string>>;
  };
  const records = readdirSync(join(root, folder))
    .map((name) => readFileSync(join(root, folder, name), 'utf8'))
    .join('\n');
  return Object.keys(dependencies)
    .filter((name) => !records.includes(`\`${name}\``))
    .map((name) => ({
      path: manifest,
      message: `no decision record names the dependency ${name}`,
    }));
}

/** Records that are too long, badly named, out of sequence, or without a status or one of the three sections. */
export function decisionViolations(root: string): Violation[] {
  if (!existsSync(join(root, folder))) return [];
  const names = readdirSync(join(root, folder)).toSorted();
  return names.flatMap((name, at) => [
    ...recordViolations(root, name, at + 1),
    ...statusViolations(root, name, names.slice(at + 1)),
  ]);
}

function statusViolations(root: string, name: string, later: readonly string[]): Violation[] {
  const path = `${folder}/${name}`;
  if (!recordName.test(name)) return [];
  const status = readFileSync(join(root, path), 'utf8').split('\n')[statusAt] ?? '';
  if (!statusForm.test(status))
    return [
      {
        path,
        line: statusAt + 1,
        message: `line ${statusAt + 1} of a decision record is its status, such as "Status: accepted." or "Status: replaced by [7](0007-title.md)."`,
      },
    ];
  return [...status.matchAll(/\[(\d+)\]\(([^)]*)\)/g)]
    .filter(
      ([, number, file = '']) =>
        !later.includes(file) || Number(file.slice(0, 4)) !== Number(number),
    )
    .map(([, , file]) => ({
      path,
      line: statusAt + 1,
      message: `${file} is not a later decision record`,
    }));
}

function recordViolations(root: string, name: string, expectedNumber: number): Violation[] {
  const path = `${folder}/${name}`;
  const number = recordName.exec(name)?.[1];
  if (number === undefined) return [{ path, message: 'a decision record is called NNNN-title.md' }];
  const lines = readFileSync(join(root, path), 'utf8').trimEnd().split('\n');
  const messages = sections
    .filter((section) => !lines.includes(section))
    .map((section) => `a decision record has the section "${section}"`);
  if (Number(number) !== expectedNumber)
    messages.push(`the next number is ${String(expectedNumber).padStart(4, '0')}`);
  if (lines.length > linesMax)
    messages.push(`${lines.length} lines, at most ${linesMax}: a decision fits on one page`);
  return messages.map((message) => ({ path, message }));
}
