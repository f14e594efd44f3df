// Source analysis: the dialect of a script, its imports and the edited source to compile, or its error.
import * as acorn from 'acorn';
import type { ScriptErrorEvent } from './emit.ts';
import {
  type GuestModule,
  isProvidedModule,
  type ProvidedModuleName,
  providedModules,
} from './provided-modules.ts';

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

// Module syntax of scripts: the imports they may use, and the edits that remove imports and exports from the source.

/** An imported name: the module, and its export unless the whole module is meant. */
type Binding = readonly [module: ProvidedModuleName, exported?: string];

export const codecEntries = ['decodeUplink', 'encodeDownlink', 'decodeDownlink'] as const;
export type CodecEntry = (typeof codecEntries)[number];

/**
 * What a codec may declare: the entries, `normalizeUplink`, which is called with what `decodeUplink`
 * returned, and functions older than TS013, those of ChirpStack 3 and of The Things Network 2.
 */
const codecFunctions = [
  ...codecEntries,
  'normalizeUplink',
  'Decode',
  'Encode',
  'Decoder',
  'Converter',
  'Validator',
  'Encoder',
] as const;

interface ModuleSyntax {
  readonly edits: readonly SourceEdit[];
  readonly locals: readonly string[];
  readonly bindings: readonly Binding[];
}

/** What imports and exports mean, and the edits that take them out of the source. */
function moduleSyntax(source: string, program: acorn.Program): ModuleSyntax | Refused {
  const locals: string[] = [];
  const bindings: Binding[] = [];
  const edits: SourceEdit[] = [];
  // A semicolon replaces the text, so that the statements before and after do not join.
  const remove = (from: number, to: number): void => void edits.push({ from, to, text: ';' });
  try {
    for (const statement of program.body) {
      if (statement.type === 'ImportDeclaration') {
        for (const [local, binding] of bindingsOf(statement)) {
          locals.push(local);
          bindings.push(binding);
        }
        remove(statement.start, statement.end);
      } else if (statement.type.startsWith('Export')) {
        remove(statement.start, keptFrom(statement as ExportDeclaration));
      }
    }
    return { edits, locals, bindings };
  } catch (error) {
    return { error: syntaxError(error, source) };
  }
}

function refuse(position: number, message: string): never {
  throw Object.assign(new SyntaxError(message), { pos: position });
}

function bindingsOf(statement: acorn.ImportDeclaration): [string, Binding][] {
  const name = String(statement.source.value);
  if (!isProvidedModule(name)) {
    const known = Object.keys(providedModules).join(', ');
    return refuse(statement.source.start, `Unknown module ${name}. Available modules: ${known}.`);
  }
  return statement.specifiers.map((specifier): [string, Binding] => {
    if (specifier.type !== 'ImportSpecifier') return [specifier.local.name, [name]];
    const imported = nameOf(specifier.imported);
    if (imported === 'default') return [specifier.local.name, [name]];
    if (!(providedModules[name].exports as readonly string[]).includes(imported)) {
      return refuse(specifier.start, `The module ${name} does not export ${imported}`);
    }
    return [specifier.local.name, [name, imported]];
  });
}

type ExportDeclaration =
  | acorn.ExportNamedDeclaration
  | acorn.ExportDefaultDeclaration
  | acorn.ExportAllDeclaration;

// Scripts are not imported, so exports have no effect. They are accepted because editors and tests
// of decoders use them.
function keptFrom(statement: ExportDeclaration): number {
  if (statement.type === 'ExportAllDeclaration')
    return refuse(statement.start, 'Scripts cannot re-export from modules');
  if (statement.type === 'ExportDefaultDeclaration') {
    const { declaration } = statement;
    if (declaration.type === 'Identifier') return statement.end;
    const isNamed =
      'id' in declaration && declaration.id !== null && declaration.type.endsWith('Declaration');
    if (isNamed) return declaration.start;
    return refuse(statement.start, 'The default export must be a function named consume');
  }
  if (statement.source) return refuse(statement.start, 'Scripts cannot re-export from modules');
  for (const { local, exported } of statement.specifiers) {
    const name = nameOf(exported);
    const isOwn = local.type === 'Identifier' && local.name === name;
    if (!isOwn && (name === 'consume' || codecEntries.includes(name as CodecEntry))) {
      return refuse(local.start, `Declare the function as ${name}, without renaming`);
    }
  }
  return statement.declaration?.start ?? statement.end;
}

function nameOf(name: acorn.Identifier | acorn.Literal): string {
  return name.type === 'Identifier' ? name.name : String(name.value);
}

// Parser of script sources: acorn with a poll, without dynamic imports and HTML-like comments.

/** Called every few hundred tokens. Throws to abandon a source that takes too long. */
type AnalysisPoll = () => void;

type Token = acorn.Token & { readonly value?: unknown };

interface Parsed {
  readonly program: acorn.Program;
  readonly tokens: readonly Token[];
}

interface Refused {
  readonly error: ScriptErrorEvent;
}

// `import()` and `import.meta` are expressions. All other module syntax is a declaration.
function pollingParser(poll: AnalysisPoll): typeof acorn.Parser {
  let tokens = 0;
  return acorn.Parser.extend(
    (Base) =>
      class extends (Base as unknown as new (...args: unknown[]) => InnerParser) {
        override nextToken(): void {
          tokens += 1;
          if (tokens % tokensPerPoll === 0) poll();
          super.nextToken();
        }
        parseExprImport(): never {
          this.raise(
            this.start,
            'import() and import.meta are not supported. Use an import declaration with a provided module.',
          );
        }
      } as unknown as typeof acorn.Parser,
  );
}

// The parser searches all names of a scope for each new name, so a few hundred tokens can already
// take long.
const tokensPerPoll = 256;

interface InnerParser {
  readonly start: number;
  nextToken(): void;
  raise(position: number, message: string): never;
}

/** Words that are searched in the tokens. An array of all tokens is expensive for a long script. */
const tokenWords = /\b(?:decodeUplink|encodeDownlink|decodeDownlink)\b|<!--|-->/;

/**
 * The tokens are given only if the source contains a name of a codec function or an HTML-like
 * comment.
 */
function parseSource(
  source: string,
  sourceType: 'module' | 'script',
  poll: AnalysisPoll,
): Parsed | Refused {
  const tokens: Token[] = [];
  const needsTokens = tokenWords.test(source);
  try {
    const program = pollingParser(poll).parse(source, {
      ecmaVersion: sourceType === 'module' ? 2020 : 'latest',
      sourceType,
      ...(needsTokens && { onToken: tokens }),
    });
    if (sourceType === 'module') refuseHtmlComments(source, tokens);
    return { program, tokens };
  } catch (error) {
    return { error: syntaxError(error, source) };
  }
}

// The engine compiles the wrapped source as a script, where these are comments. In a module they
// are operators.
function refuseHtmlComments(source: string, tokens: readonly Token[]): void {
  let previousEnd = 0;
  for (const { type, start, end } of tokens) {
    const opens = type.label === '</>/<=/>=' && source.startsWith('<!--', start);
    const closes = type.label === '++/--' && source.startsWith('-->', start);
    if (opens || (closes && /[\n\r\u2028\u2029]/.test(source.slice(previousEnd, start)))) {
      throw Object.assign(new SyntaxError('HTML-like comments are not allowed'), { pos: start });
    }
    previousEnd = end;
  }
}

function syntaxError(error: unknown, source: string): ScriptErrorEvent {
  const { message, pos } = error as Error & { pos?: number };
  if (pos === undefined) throw error;
  const { line, column } = acorn.getLineInfo(source, pos);
  return {
    message: `SyntaxError: ${message.replace(/ \(\d+:\d+\)$/, '')}`,
    line,
    column: column + 1,
  };
}

// Source edits: applied before a script is compiled, with the mapping from edited positions to original ones.

/** Replaces the characters from `from` to `to` by `text`. */
interface SourceEdit {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

interface EditedSource {
  readonly text: string;
  /** For each edit, ascending: the position after it in the edited text, then in the original. */
  readonly places: Int32Array;
  /** Start and end of each statement in the original, ascending by start. */
  readonly statements: Int32Array;
}

/** Applies edits that do not overlap. Edits at one position apply in the given order. */
function editSource(
  source: string,
  edits: readonly SourceEdit[],
  statements: Int32Array,
): EditedSource {
  const sorted = edits.toSorted((a, b) => a.from - b.from);
  const places = new Int32Array(sorted.length * 2);
  const parts: string[] = [];
  let copiedTo = 0;
  let length = 0;
  sorted.forEach(({ from, to, text }, index) => {
    parts.push(source.slice(copiedTo, from), text);
    length += from - copiedTo + text.length;
    copiedTo = to;
    places.set([length, to], index * 2);
  });
  parts.push(source.slice(copiedTo));
  return { text: parts.join(''), places, statements };
}

/** The original position of a position in the edited source. */
export function originalPlace({ places }: EditedSource, place: number): number {
  let low = 0;
  let high = places.length / 2;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (places[middle * 2]! <= place) low = middle + 1;
    else high = middle;
  }
  const [edited = 0, original = 0] = places.subarray(Math.max(0, low * 2 - 2), low * 2);
  const passed = original + (place - edited);
  // A position within inserted text maps to the position of the insertion.
  return Math.min(passed, places[low * 2 + 1] ?? passed);
}

/** The innermost statement that contains a position of the original. */
export function statementAt(
  { statements }: EditedSource,
  place: number,
): { start: number; end: number } | undefined {
  let found: { start: number; end: number } | undefined;
  for (let i = 0; i < statements.length && statements[i]! <= place; i += 2) {
    if (statements[i + 1]! > place) found = { start: statements[i]!, end: statements[i + 1]! };
  }
  return found;
}

/**
 * Marks statements for the engine, which records positions only of calls and expression statements.
 * An error in another statement would be reported at the last of these, often lines away. So an
 * expression statement without effect is inserted before each statement.
 */
function markStatements(program: acorn.Program): {
  edits: SourceEdit[];
  statements: Int32Array;
} {
  const edits: SourceEdit[] = [];
  const ranges: [number, number][] = [];
  const open: Node[] = [program as unknown as Node];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    for (const key in node) {
      const child = node[key];
      if (Array.isArray(child)) {
        const isList = key === 'body' || (key === 'consequent' && node.type === 'SwitchCase');
        for (const item of child as unknown[]) {
          if (!isNode(item)) continue;
          open.push(item);
          if (isList && isStatement(item)) markInList(item);
        }
      } else if (isNode(child)) {
        open.push(child);
        if (aloneAt[node.type]?.includes(key) === true && isStatement(child)) markAlone(child);
      }
    }
  }
  return {
    edits,
    statements: new Int32Array(ranges.toSorted((a, b) => a[0] - b[0] || b[1] - a[1]).flat()),
  };

  function markInList({ type, start, end }: Node): void {
    ranges.push([start, end]);
    if (!hasPlace.has(type)) edits.push({ from: start, to: start, text: marker });
  }

  // A statement that is not in a list needs a block to contain a second one.
  function markAlone({ type, start, end }: Node): void {
    ranges.push([start, end]);
    if (hasPlace.has(type)) return;
    edits.push({ from: start, to: start, text: `{${marker}` }, { from: end, to: end, text: '}' });
  }
}

const marker = '0;';

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as Node).type === 'string';
}

function isStatement({ type }: Node): boolean {
  return (
    type.endsWith('Statement') || type === 'VariableDeclaration' || type === 'ClassDeclaration'
  );
}

// Statements whose position the engine records, or that cannot fail before a statement inside them.
const hasPlace = new Set([
  'ExpressionStatement',
  'ThrowStatement',
  'BlockStatement',
  'EmptyStatement',
  'TryStatement',
]);

// Keys of single statements. The body of a label must not change, so that `continue` finds its
// loop.
const aloneAt: Readonly<Record<string, readonly string[]>> = {
  IfStatement: ['consequent', 'alternate'],
  ForStatement: ['body'],
  ForInStatement: ['body'],
  ForOfStatement: ['body'],
  WhileStatement: ['body'],
  DoWhileStatement: ['body'],
};
