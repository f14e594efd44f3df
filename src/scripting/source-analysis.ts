// What a script's source is before it runs: its dialect, its imports and exports, or the error that refuses it.
import * as acorn from 'acorn';
import type { ScriptErrorEvent } from './emit.ts';
import { isProvidedModule, type ProvidedModuleName, providedModules } from './provided-modules.ts';
import { type EditedSource, editSource, markStatements, type SourceEdit } from './source-edits.ts';

/** An imported name: the module, and its export unless the whole module is meant. */
export type Binding = readonly [module: ProvidedModuleName, exported?: string];

export interface AnalysedScript {
  /** `consume` scripts emit; `codec` is a LoRa Alliance TS013 payload codec. */
  readonly dialect: 'consume' | 'codec';
  /** Whether the top level of the source gives `consume` a value; it can still get one while it runs. */
  readonly declaresConsume: boolean;
  /** The user's own source. */
  readonly source: string;
  /** A function expression around the edited source; it returns the entry points. */
  readonly code: string;
  /** Where the edited source begins in it. */
  readonly codeStart: number;
  readonly edited: EditedSource;
  readonly modules: readonly ProvidedModuleName[];
  readonly bindings: readonly Binding[];
}

export const codecEntries = ['decodeUplink', 'encodeDownlink', 'decodeDownlink'] as const;
export type CodecEntry = (typeof codecEntries)[number];

/** Called every some hundred tokens, so that a source which is long to read can be given up: by throwing. */
export type AnalysisPoll = () => void;

/**
 * Reads the source once; an error has the position in the source (contract 16, architecture 6). Throws what `poll` throws.
 */
export function analyseSource(
  source: string,
  poll: AnalysisPoll = () => undefined,
): AnalysedScript | { readonly error: ScriptErrorEvent } {
  const asModule = parsed(source, 'module', poll);
  if (!('error' in asModule)) {
    const { program, tokens } = asModule;
    const syntax = moduleSyntax(source, program);
    if ('error' in syntax) return syntax;
    const declaresConsume = declares(program, 'consume');
    const edited = edit(source, program, syntax.edits);
    if (!declaresConsume && mentionsCodec(tokens)) return codecScript(source, edited);
    return consumeScript(source, edited, syntax, declaresConsume);
  }
  // Codecs are classic scripts, often older than strict mode; they need not pass as modules.
  const asScript = parsed(source, 'script', poll);
  if (
    'error' in asScript ||
    declares(asScript.program, 'consume') ||
    !mentionsCodec(asScript.tokens)
  )
    return asModule;
  return codecScript(source, edit(source, asScript.program, []));
}

function edit(source: string, program: acorn.Program, edits: readonly SourceEdit[]): EditedSource {
  const marks = markStatements(program);
  return editSource(source, [...edits, ...marks.edits], marks.statements);
}

type Token = acorn.Token & { readonly value?: unknown };

interface Parsed {
  readonly program: acorn.Program;
  readonly tokens: readonly Token[];
}

interface Refused {
  readonly error: ScriptErrorEvent;
}

// `import()` and `import.meta` are expressions; everything else that has to do with modules is a declaration.
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
            'import() and import.meta are disabled; use an import declaration of a provided module',
          );
        }
      } as unknown as typeof acorn.Parser,
  );
}

// The parser looks through all names of a scope for each new one, so that even a few hundred tokens may take long.
const tokensPerPoll = 256;

interface InnerParser {
  readonly start: number;
  nextToken(): void;
  raise(position: number, message: string): never;
}

function parsed(
  source: string,
  sourceType: 'module' | 'script',
  poll: AnalysisPoll,
): Parsed | Refused {
  const tokens: Token[] = [];
  // Only these words need a look at the tokens, and an array of all tokens is dear for long scripts.
  const wantsTokens = codecWords.test(source) || source.includes('<!--') || source.includes('-->');
  try {
    const program = pollingParser(poll).parse(source, {
      ecmaVersion: sourceType === 'module' ? 2020 : 'latest',
      sourceType,
      ...(wantsTokens ? { onToken: tokens } : {}),
    });
    if (sourceType === 'module') refuseHtmlComments(source, tokens);
    return { program, tokens };
  } catch (error) {
    return { error: syntaxError(error, source) };
  }
}

// The engine compiles the wrapped source as a script, where these are comments; in a module they are operators.
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

const codecWords = /\b(?:decodeUplink|encodeDownlink|decodeDownlink)\b/;

function mentionsCodec(tokens: readonly Token[]): boolean {
  return tokens.some(
    (token) => token.type.label === 'name' && codecEntries.includes(token.value as CodecEntry),
  );
}

/** Whether a declaration or assignment at the top level gives the name a value. */
function declares(program: acorn.Program, name: string): boolean {
  return program.body.some((statement) => {
    const declaration =
      (statement.type === 'ExportNamedDeclaration' ||
        statement.type === 'ExportDefaultDeclaration') &&
      statement.declaration
        ? statement.declaration
        : statement;
    if (declaration.type === 'FunctionDeclaration') return declaration.id?.name === name;
    if (declaration.type === 'VariableDeclaration') {
      return declaration.declarations.some(
        ({ id }) => id.type === 'Identifier' && id.name === name,
      );
    }
    if (
      declaration.type !== 'ExpressionStatement' ||
      declaration.expression.type !== 'AssignmentExpression'
    )
      return false;
    const { left } = declaration.expression;
    return left.type === 'Identifier' && left.name === name;
  });
}

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
  // A semicolon takes the place, so that the statements before and after do not join.
  const remove = (from: number, to: number): void => void edits.push({ from, to, text: ';' });
  const refuse = (position: number, message: string): never => {
    throw Object.assign(new SyntaxError(message), { pos: position });
  };
  try {
    for (const statement of program.body) {
      if (statement.type === 'ImportDeclaration') {
        for (const [local, binding] of bindingsOf(statement, refuse)) {
          locals.push(local);
          bindings.push(binding);
        }
        remove(statement.start, statement.end);
      } else if (statement.type.startsWith('Export')) {
        remove(statement.start, keptFrom(statement as ExportDeclaration, refuse));
      }
    }
    return { edits, locals, bindings };
  } catch (error) {
    return { error: syntaxError(error, source) };
  }
}

type Refuse = (position: number, message: string) => never;

function bindingsOf(statement: acorn.ImportDeclaration, refuse: Refuse): [string, Binding][] {
  const name = String(statement.source.value);
  if (!isProvidedModule(name)) {
    const known = Object.keys(providedModules).join(', ');
    return refuse(
      statement.source.start,
      `The module ${name} is not provided; provided are: ${known}`,
    );
  }
  return statement.specifiers.map((specifier): [string, Binding] => {
    if (specifier.type !== 'ImportSpecifier') return [specifier.local.name, [name]];
    const imported =
      specifier.imported.type === 'Identifier'
        ? specifier.imported.name
        : String(specifier.imported.value);
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

// Nobody imports a script, so exports have no effect; they are accepted because editors and tests of decoders use them.
function keptFrom(statement: ExportDeclaration, refuse: Refuse): number {
  if (statement.type === 'ExportAllDeclaration')
    return refuse(statement.start, 'Scripts cannot export from modules');
  if (statement.type === 'ExportDefaultDeclaration') {
    const { declaration } = statement;
    if (declaration.type === 'Identifier') return statement.end;
    const named =
      'id' in declaration && declaration.id !== null && declaration.type.endsWith('Declaration');
    return named
      ? declaration.start
      : refuse(statement.start, 'A default export must be the named function consume');
  }
  if (statement.source) return refuse(statement.start, 'Scripts cannot export from modules');
  for (const { local, exported } of statement.specifiers) {
    const name = exported.type === 'Identifier' ? exported.name : String(exported.value);
    const own = local.type === 'Identifier' ? local.name : '';
    if (name !== own && (name === 'consume' || codecEntries.includes(name as CodecEntry))) {
      return refuse(local.start, `The function ${name} must be defined under its own name`);
    }
  }
  return statement.declaration ? statement.declaration.start : statement.end;
}

function consumeScript(
  source: string,
  edited: EditedSource,
  { locals, bindings }: ModuleSyntax,
  declaresConsume: boolean,
): AnalysedScript {
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

// Codecs run as what they were written for: a classic script, with the module object that many of them fill.
function codecScript(source: string, edited: EditedSource): AnalysedScript {
  const before = '(function (module, console) { var exports = module.exports;\n';
  const members = codecEntries.map(
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
