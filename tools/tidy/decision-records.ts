// Decision records: numbered without a gap, named NNNN-title.md, one page each; every dependency has one.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Violation } from './violation.ts';

const folder = 'docs/decisions';
const manifest = 'package.json';
const linesMax = 60;
const sections = ['## Context', '## Decision', '## Consequences'];

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

/** Records that are too long, badly named, out of sequence or without one of the three sections. */
export function decisionViolations(root: string): Violation[] {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder))
    .toSorted()
    .flatMap((name, at) => recordViolations(root, name, at + 1));
}

function recordViolations(root: string, name: string, expectedNumber: number): Violation[] {
  const path = `${folder}/${name}`;
  const number = /^(\d{4})-[a-z0-9-]+\.md$/.exec(name)?.[1];
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
