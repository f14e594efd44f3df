// What a script's source is before it runs: its dialect, its imports and exports, or the error that refuses it.
// Edits keep every line and column, so that positions of later errors are positions in the user's own source.
import * as acorn from 'acorn';
import type { ScriptErrorEvent } from './emit.ts';
import { isProvidedModule, type ProvidedModuleName, providedModules } from './provided-modules.ts';

/** An imported name: the module, and its export unless the whole module is meant. */
export type Binding = readonly [module: ProvidedModuleName, exported?: string];

export interface AnalysedScript {
  /** `consume` scripts emit; `codec` is a LoRa Alliance TS013 payload codec. */
  readonly dialect: 'consume' | 'codec';
  /** Whether the top level of the source gives `consume` a value; it can still get one while it runs. */
  readonly declaresConsume: boolean;
  /** A function expression: the user's source starts on its second line, and it returns the entry points. */
  readonly code: string;
  readonly modules: readonly ProvidedModuleName[];
  readonly bindings: readonly Binding[];
}

/** Lines that the wrapper puts before the user's source. */
export const linesBefore = 1;

export const codecEntries = ['decodeUplink', 'encodeDownlink', 'decodeDownlink'] as const;
export type CodecEntry = (typeof codecEntries)[number];

/** Reads the source once; an error has the position in the source (contract 16, architecture 6). */
export function analyseSource(source: string): AnalysedScript | { readonly error: ScriptErrorEvent } {
  const asModule = parsed(source, 'module');
  if (!('error' in asModule)) {
    const edited = withoutModuleSyntax(source, asModule.program);
    if ('error' in edited) return edited;
    const declaresConsume = declares(asModule.program, 'consume');
    if (!declaresConsume && mentionsCodec(asModule.tokens)) return codecScript(edited.text);
    return consumeScript(edited, declaresConsume);
  }
  // Codecs are classic scripts, often older than strict mode; they need not pass as modules.
  const asScript = parsed(source, 'script');
  if ('error' in asScript || declares(asScript.program, 'consume') || !mentionsCodec(asScript.tokens)) return asModule;
  return codecScript(source);
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
const StaticImportsOnly = acorn.Parser.extend(
  (Base) =>
    class extends (Base as unknown as new (...args: unknown[]) => InnerParser) {
      parseExprImport(): never {
        this.raise(this.start, 'import() and import.meta are disabled; use an import declaration of a provided module');
      }
    } as unknown as typeof acorn.Parser,
);

interface InnerParser {
  readonly start: number;
  raise(position: number, message: string): never;
}

function parsed(source: string, sourceType: 'module' | 'script'): Parsed | Refused {
  const tokens: Token[] = [];
  // Only these words need a look at the tokens, and an array of all tokens is dear for long scripts.
  const wantsTokens = codecWords.test(source) || source.includes('<!--') || source.includes('-->');
  try {
    const program = StaticImportsOnly.parse(source, {
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
  return { message: `SyntaxError: ${message.replace(/ \(\d+:\d+\)$/, '')}`, line, column: column + 1 };
}

const codecWords = /\b(?:decodeUplink|encodeDownlink|decodeDownlink)\b/;

function mentionsCodec(tokens: readonly Token[]): boolean {
  return tokens.some((token) => token.type.label === 'name' && codecEntries.includes(token.value as CodecEntry));
}

/** Whether a declaration or assignment at the top level gives the name a value. */
function declares(program: acorn.Program, name: string): boolean {
  return program.body.some((statement) => {
    const declaration =
      (statement.type === 'ExportNamedDeclaration' || statement.type === 'ExportDefaultDeclaration') &&
      statement.declaration
        ? statement.declaration
        : statement;
    if (declaration.type === 'FunctionDeclaration') return declaration.id?.name === name;
    if (declaration.type === 'VariableDeclaration') {
      return declaration.declarations.some(({ id }) => id.type === 'Identifier' && id.name === name);
    }
    if (declaration.type !== 'ExpressionStatement' || declaration.expression.type !== 'AssignmentExpression')
      return false;
    const { left } = declaration.expression;
    return left.type === 'Identifier' && left.name === name;
  });
}

interface Edited {
  readonly text: string;
  readonly locals: readonly string[];
  readonly bindings: readonly Binding[];
}

function withoutModuleSyntax(source: string, program: acorn.Program): Edited | Refused {
  const locals: string[] = [];
  const bindings: Binding[] = [];
  const parts: string[] = [];
  let copiedTo = 0;
  const blank = (from: number, to: number): void => {
    // A semicolon takes the place, so that the statements before and after do not join.
    parts.push(source.slice(copiedTo, from), ';', source.slice(from + 1, to).replace(/[^\n\r\u2028\u2029]/g, ' '));
    copiedTo = to;
  };
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
        blank(statement.start, statement.end);
      } else if (statement.type.startsWith('Export')) {
        blank(statement.start, keptFrom(statement as ExportDeclaration, refuse));
      }
    }
    return { text: parts.join('') + source.slice(copiedTo), locals, bindings };
  } catch (error) {
    return { error: syntaxError(error, source) };
  }
}

type Refuse = (position: number, message: string) => never;

function bindingsOf(statement: acorn.ImportDeclaration, refuse: Refuse): [string, Binding][] {
  const name = String(statement.source.value);
  if (!isProvidedModule(name)) {
    const known = Object.keys(providedModules).join(', ');
    return refuse(statement.source.start, `The module ${name} is not provided; provided are: ${known}`);
  }
  return statement.specifiers.map((specifier): [string, Binding] => {
    if (specifier.type !== 'ImportSpecifier') return [specifier.local.name, [name]];
    const imported =
      specifier.imported.type === 'Identifier' ? specifier.imported.name : String(specifier.imported.value);
    if (imported === 'default') return [specifier.local.name, [name]];
    if (!(providedModules[name].exports as readonly string[]).includes(imported)) {
      return refuse(specifier.start, `The module ${name} does not export ${imported}`);
    }
    return [specifier.local.name, [name, imported]];
  });
}

type ExportDeclaration = acorn.ExportNamedDeclaration | acorn.ExportDefaultDeclaration | acorn.ExportAllDeclaration;

// Nobody imports a script, so exports have no effect; they are accepted because editors and tests of decoders use them.
function keptFrom(statement: ExportDeclaration, refuse: Refuse): number {
  if (statement.type === 'ExportAllDeclaration') return refuse(statement.start, 'Scripts cannot export from modules');
  if (statement.type === 'ExportDefaultDeclaration') {
    const { declaration } = statement;
    if (declaration.type === 'Identifier') return statement.end;
    const named = 'id' in declaration && declaration.id !== null && declaration.type.endsWith('Declaration');
    return named ? declaration.start : refuse(statement.start, 'A default export must be the named function consume');
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

function consumeScript({ text, locals, bindings }: Edited, declaresConsume: boolean): AnalysedScript {
  const code = `(function (${locals.join(', ')}) { "use strict";\n${text}\n;return typeof consume === "function" ? consume : undefined; })`;
  const modules = [...new Set(bindings.map(([module]) => module))].sort();
  return { dialect: 'consume', declaresConsume, code, modules, bindings };
}

// Codecs run as what they were written for: a classic script, with the module object that many of them fill.
function codecScript(text: string): AnalysedScript {
  const members = codecEntries.map(
    (name) => `${name}: typeof ${name} === "function" ? ${name} : module.exports.${name}`,
  );
  const code = `(function (module, console) { var exports = module.exports;\n${text}\n;return { ${members.join(', ')} }; })`;
  return { dialect: 'codec', declaresConsume: false, code, modules: [], bindings: [] };
}
