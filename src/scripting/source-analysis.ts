// Source analysis: the dialect of a script, its imports and the edited source to compile, or its error.
import type * as acorn from 'acorn';
import type { ScriptErrorEvent } from './emit.ts';
import {
  type Binding,
  type CodecEntry,
  codecEntries,
  moduleSyntax,
  type ModuleSyntax,
  oldCodecFunctions,
} from './module-syntax.ts';
import type { ProvidedModuleName } from './provided-modules.ts';
import { type AnalysisPoll, parseSource, type Token } from './source-parser.ts';
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
  /** A function expression around the edited source. It returns the entry points. */
  readonly code: string;
  /** Offset of the edited source in the code. */
  readonly codeStart: number;
  readonly edited: EditedSource;
  readonly modules: readonly ProvidedModuleName[];
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
    const edited = edit(source, program, syntax.edits);
    if (!declaresConsume && isCodec(declared, tokens)) return codecScript(source, edited);
    return consumeScript(source, edited, syntax, declaresConsume);
  }
  // Codecs are classic scripts, often older than strict mode, and not always valid modules.
  const asScript = parseSource(source, 'script', poll);
  if ('error' in asScript) return asModule;
  const declared = namesDeclared(asScript.program);
  if (declared.has('consume') || !isCodec(declared, asScript.tokens)) return asModule;
  return codecScript(source, edit(source, asScript.program, []));
}

function edit(source: string, program: acorn.Program, edits: readonly SourceEdit[]): EditedSource {
  const marks = markStatements(program);
  return editSource(source, [...edits, ...marks.edits], marks.statements);
}

/** An old name is a common word too, so a mention of it says nothing. */
function isCodec(declared: ReadonlySet<string>, tokens: readonly Token[]): boolean {
  return mentionsCodec(tokens) || decodingNames.some((name) => declared.has(name));
}

const decodingNames = ['Decode', 'Decoder', 'Encode', 'Encoder'];

function mentionsCodec(tokens: readonly Token[]): boolean {
  return tokens.some(
    (token) => token.type.label === 'name' && codecEntries.includes(token.value as CodecEntry),
  );
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
  source: string,
  edited: EditedSource,
  { locals, bindings }: ModuleSyntax,
  declaresConsume: boolean,
): AnalyzedScript {
  const before = `(function (${locals.join(', ')}) { "use strict";\n`;
  const after = '\n;return typeof consume === "function" ? consume : undefined; })';
  const modules = [...new Set(bindings.map(([module]) => module))].sort();
  const code = before + edited.text + after;
  return {
    dialect: 'consume',
    declaresConsume,
    source,
    code,
    codeStart: before.length,
    edited,
    modules,
    bindings,
  };
}

// A codec runs as a classic script, with the module object that many codecs use.
function codecScript(source: string, edited: EditedSource): AnalyzedScript {
  const before = '(function (module, console) { var exports = module.exports;\n';
  const members = [...codecEntries, ...oldCodecFunctions].map(
    (name) => `${name}: typeof ${name} === "function" ? ${name} : module.exports.${name}`,
  );
  const code = `${before}${edited.text}\n;return { ${members.join(', ')} }; })`;
  const codeStart = before.length;
  return {
    dialect: 'codec',
    declaresConsume: false,
    source,
    code,
    codeStart,
    edited,
    modules: [],
    bindings: [],
  };
}
