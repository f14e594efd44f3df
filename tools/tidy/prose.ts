// Prose of the project: comments, strings of words and lines of documents, each with its place.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { walk, type ProjectFile } from './project-files.ts';

export interface Passage {
  /** From the project's root. */
  readonly path: string;
  /** One-based line of the first character. */
  readonly line: number;
  readonly text: string;
}

interface Comment {
  /** Offset of the first character in the file. */
  readonly at: number;
  readonly text: string;
}

const guestScripts = 'src/scripting/guest/*.js';
const documents = ['*.md', 'docs/**/*.md'];
/** Not edited after the fact. */
const leftDocuments = /^(CHANGELOG\.md|docs\/decisions\/.*)$/;

/** Returns the comments of a file. Text inside strings and templates is not a comment. */
export function commentsOf(syntax: ts.SourceFile): Comment[] {
  const { text } = syntax;
  const found = new Map<number, string>();
  const keep = (ranges: readonly ts.CommentRange[] | undefined): void => {
    for (const range of ranges ?? []) found.set(range.pos, text.slice(range.pos, range.end));
  };
  const visit = (node: ts.Node): void => {
    keep(ts.getLeadingCommentRanges(text, node.getFullStart()));
    keep(ts.getTrailingCommentRanges(text, node.end));
    node.getChildren(syntax).forEach(visit);
  };
  visit(syntax);
  return [...found].map(([at, comment]) => ({ at, text: comment }));
}

/** Comments and all strings, also those of test data: a citation can be in any of them. */
export function citingProse(file: ProjectFile): Passage[] {
  const passages = commentsOf(file.syntax).map(({ at, text }) => passage(file, at, text));
  walk(file, (node) => {
    if (isWords(node)) passages.push(passage(file, node.getStart(file.syntax), node.getText()));
  });
  return passages;
}

function passage(file: ProjectFile, at: number, text: string): Passage {
  return { path: file.path, line: file.syntax.getLineAndCharacterOfPosition(at).line + 1, text };
}

function isWords(node: ts.Node): boolean {
  const isText = ts.isStringLiteralLike(node) || ts.isTemplateExpression(node);
  return isText && /\w\s+\w/.test(node.getText());
}

/**
 * Comments of the scripts that run inside the sandbox. They are JavaScript and not project files.
 */
export function guestProse(root: string): Passage[] {
  return globSync(guestScripts, { cwd: root }).flatMap((path) => {
    const text = readFileSync(join(root, path), 'utf8');
    const syntax = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
    return commentsOf(syntax).map((comment) => ({
      path: path.replaceAll('\\', '/'),
      line: syntax.getLineAndCharacterOfPosition(comment.at).line + 1,
      text: comment.text,
    }));
  });
}

/**
 * Lines of the documents without code blocks, inline code, the CHANGELOG and decisions.
 */
export function documentProse(root: string): Passage[] {
  return globSync(documents, { cwd: root })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => !leftDocuments.test(path))
    .toSorted()
    .flatMap((path) => proseLines(path, readFileSync(join(root, path), 'utf8')));
}

function proseLines(path: string, text: string): Passage[] {
  let isCode = false;
  return text.split('\n').flatMap((line, index) => {
    if (/^\s*```/.test(line)) {
      isCode = !isCode;
      return [];
    }
    return isCode ? [] : [{ path, line: index + 1, text: line.replaceAll(/`[^`]*`/g, '') }];
  });
}
