// Source analysis: the dialect of a script, its imports and the edited source to compile, or its error.
import type * as acorn from 'acorn';
import type { ScriptErrorEvent } from './emit.ts';
import {
  type AnalysisPoll,
  type Binding,
  codecEntries,
  codecFunctions,
  moduleSyntax,
  parseSource,
  type Token,
} from './module-syntax.ts';
import type { GuestModule } from './provided-modules.ts';
import { type EditedSource, editSource, markStatements, type SourceEdit } from './source-edits.ts';

export interface AnalyzedScript {
  /** `consume` scripts emit; `codec` is a payload codec: LoRa Alliance TS013 or older. */
  readonly dialect: 'consume' | 'codec';
  /**
   * The top level of the source gives `consume` a value. Without one, it can still get a value
   * while it runs.
   */
  readonly declaresConsume: boolean;
  /** The user's own source. */
  readonly source: string;
  /**
   * What the engine compiles. `consume` scripts: a function expression around the edited source,
   * which returns the entry point. Codecs: a global script, whose value has the entry points.
   */
  readonly code: string;
  /** Offset of the edited source in the code. */
  readonly codeStart: number;
  readonly edited: EditedSource;
  readonly modules: readonly GuestModule[];
  /** Names of the imports, and what each is bound to. */
  readonly locals: readonly string[];
  readonly bindings: readonly Binding[];
}

/**
 * Returns an error with its position in the source (contract 16). Throws what `poll` throws.
 */
export function analyzeSource(
  source: string,
  poll: AnalysisPoll = () => undefined,
): AnalyzedScript | { readonly error: ScriptErrorEvent } {
  const asModule = parseSource(source, 'module', poll);
  if (!('error' in asModule)) {
    const { program, tokens } = asModule;
    const syntax = moduleSyntax(source, program);
    if ('error' in syntax) return syntax;
    const declared = namesDeclared(program);
    const declaresConsume = declared.has('consume');
    const parts = { source, program, edited: edit(source, program, syntax.edits), ...syntax };
    if (isCodec(source, declared, tokens)) return codecScript(parts);
    return consumeScript(parts, declaresConsume);
  }
  // Codecs are classic scripts, often older than strict mode, and not always valid modules.
  const asScript = parseSource(source, 'script', poll);
  if ('error' in asScript) return asModule;
  const declared = namesDeclared(asScript.program);
  const { program, tokens } = asScript;
  if (!isCodec(source, declared, tokens)) return asModule;
  const edited = edit(source, program, []);
  return codecScript({ source, program, edited, locals: [], bindings: [] });
}

interface ScriptParts {
  readonly source: string;
  readonly program: acorn.Program;
  readonly edited: EditedSource;
  readonly locals: readonly string[];
  readonly bindings: readonly Binding[];
}

function edit(source: string, program: acorn.Program, edits: readonly SourceEdit[]): EditedSource {
  const marks = markStatements(program);
  return editSource(source, [...edits, ...marks.edits], marks.statements);
}

/**
 * An old name is a common word too, so a mention of it says nothing. A script with `consume` is no
 * codec, unless that is a helper: then `emit` is nowhere.
 */
function isCodec(source: string, declared: ReadonlySet<string>, tokens: readonly Token[]): boolean {
  if (declared.has('consume') && usesEmit(source, tokens)) return false;
  return mentions(tokens, codecEntries) || decodingNames.some((name) => declared.has(name));
}

/** The tokens are only given for some sources; see `parseSource`. */
function usesEmit(source: string, tokens: readonly Token[]): boolean {
  if (!/\bemit\b/.test(source)) return false;
  return tokens.length === 0 || mentions(tokens, ['emit']);
}

const decodingNames = ['Decode', 'Decoder', 'Encode', 'Encoder'];

function mentions(tokens: readonly Token[], names: readonly string[]): boolean {
  return tokens.some(({ type, value }) => type.label === 'name' && names.includes(String(value)));
}

/** What declarations and assignments at the top level give a value. */
function namesDeclared(program: acorn.Program): ReadonlySet<string> {
  const names = new Set<string>();
  for (const statement of program.body)
    for (const name of declaredNames(exportedOf(statement))) names.add(name);
  return names;
}

type Statement = acorn.Program['body'][number];

function exportedOf(
  statement: Statement,
): Statement | acorn.ExportDefaultDeclaration['declaration'] {
  const isExport =
    statement.type === 'ExportNamedDeclaration' || statement.type === 'ExportDefaultDeclaration';
  return (isExport && statement.declaration) || statement;
}

function declaredNames(statement: ReturnType<typeof exportedOf>): readonly string[] {
  if (statement.type === 'FunctionDeclaration') return nameIn(statement.id);
  if (statement.type === 'VariableDeclaration')
    return statement.declarations.flatMap(({ id }) => nameIn(id));
  if (statement.type !== 'ExpressionStatement') return [];
  const { expression } = statement;
  return expression.type === 'AssignmentExpression' ? nameIn(expression.left) : [];
}

function nameIn(node: acorn.Node | null): readonly string[] {
  return node?.type === 'Identifier' ? [(node as acorn.Identifier).name] : [];
}

function consumeScript(
  { source, edited, locals, bindings }: ScriptParts,
  declaresConsume: boolean,
): AnalyzedScript {
  const before = `(function (${locals.join(', ')}) { "use strict";\n`;
  const after = '\n;return typeof consume === "function" ? consume : undefined; })';
  return {
    dialect: 'consume',
    declaresConsume,
    source,
    code: before + edited.text + after,
    codeStart: before.length,
    edited,
    modules: modulesOf(source, bindings),
    locals,
    bindings,
  };
}

/**
 * A codec is a global script (contract 42). It waits at its first statement, with its declarations
 * made, so that it is compiled once and continued in each run. Its value has the entry points.
 */
function codecScript({ source, program, edited, locals, bindings }: ScriptParts): AnalyzedScript {
  const before = `${isStrict(program) ? '"use strict";' : ''}await 0;\n`;
  const valueOf = (name: string): string =>
    `${name}: typeof ${name} === "undefined" ? undefined : ${name}`;
  const declared = codecFunctions.filter((name) => source.includes(name)).map(valueOf);
  const after = `\n;({ declared: { ${declared.join(', ')} }, ${valueOf('module')}, ${valueOf('exports')} })`;
  return {
    dialect: 'codec',
    declaresConsume: false,
    source,
    code: before + edited.text + after,
    codeStart: before.length,
    edited,
    modules: modulesOf(source, bindings),
    locals,
    bindings,
  };
}

function isStrict({ body: [first] }: acorn.Program): boolean {
  return first?.type === 'ExpressionStatement' && first.directive === 'use strict';
}

// The global Buffer is in the images of those who name it, so that others do not pay for it.
function modulesOf(source: string, bindings: readonly Binding[]): readonly GuestModule[] {
  const imported = new Set<GuestModule>(bindings.map(([module]) => module));
  if (/\bBuffer\b/.test(source)) imported.add('buffer');
  return [...imported].sort();
}
