// JSON documents: values of a file with one value, a list, or one after the other, with their lines.
import { readFileSync, statSync } from 'node:fs';
import { isJsonObject, type Json, type JsonObject } from '../../src/model/json.ts';
import type { Place } from './moved.ts';

/** Files are read whole. */
const fileBytesMax = 256 * 1024 * 1024;

export interface JsonDocument {
  readonly place: Place;
  readonly value: JsonObject;
}

/** The content of a file. Throws for one that is too large. */
export function fileText(file: string): string {
  const { size } = statSync(file);
  if (size > fileBytesMax)
    throw new Error(`${file}: larger than ${fileBytesMax} bytes: split the export`);
  return readFileSync(file, 'utf8').replace(/^\ufeff/, '');
}

/**
 * The objects of a file: elements of lists at the top level, and values one after the other. Throws
 * with file and line for what is not JSON.
 */
export function jsonDocuments(file: string, text = fileText(file)): JsonDocument[] {
  const documents: JsonDocument[] = [];
  for (const { start, end, line } of valuesIn(text)) {
    const place = { file, line };
    const value = parsed(text.slice(start, end), place);
    if (!isJsonObject(value)) throw new Error(`${file}:${line}: it must be a JSON object`);
    documents.push({ place, value });
  }
  return documents;
}

function parsed(text: string, { file, line }: Place): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    throw new Error(`${file}:${line}: not JSON: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

interface Span {
  readonly start: number;
  readonly end: number;
  readonly line: number;
}

/**
 * Values outside of lists, and elements of lists that are not in an object. Between them are blanks,
 * commas and brackets.
 */
function* valuesIn(text: string): Generator<Span> {
  let line = 1;
  for (let at = 0; at < text.length; at++) {
    const sign = text.charAt(at);
    if (sign === '\n') line++;
    if (/[\s,[\]]/.test(sign)) continue;
    const end = valueEnd(text, at);
    yield { start: at, end, line };
    for (let i = text.indexOf('\n', at); i >= 0 && i < end; i = text.indexOf('\n', i + 1)) line++;
    at = end - 1;
  }
}

const structural = /["{}[\]]/g;

/** The end of the object that begins there; of another value, the end of its line. */
function valueEnd(text: string, start: number): number {
  if (text[start] !== '{') {
    const newline = text.indexOf('\n', start);
    return newline < 0 ? text.length : newline;
  }
  let depth = 0;
  structural.lastIndex = start;
  for (let found = structural.exec(text); found !== null; found = structural.exec(text)) {
    const [sign] = found;
    if (sign === '"') structural.lastIndex = stringEnd(text, found.index + 1);
    else if (sign === '{' || sign === '[') depth++;
    else if (--depth === 0) return found.index + 1;
  }
  return text.length;
}

function stringEnd(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === '"') return at + 1;
  }
  return text.length;
}
