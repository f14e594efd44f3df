// Module syntax of scripts: the imports they may use, and the edits that remove imports and exports from the source.

import * as acorn from 'acorn';
import { isProvidedModule, type ProvidedModuleName, providedModules } from './provided-modules.ts';
import type { SourceEdit } from './source-edits.ts';
import type { ScriptErrorEvent } from './emit.ts';

/** An imported name: the module, and its export unless the whole module is meant. */
export type Binding = readonly [module: ProvidedModuleName, exported?: string];

export const codecEntries = ['decodeUplink', 'encodeDownlink', 'decodeDownlink'] as const;
export type CodecEntry = (typeof codecEntries)[number];

/**
 * What a codec may declare: the entries, `normalizeUplink`, which is called with what `decodeUplink`
 * returned, and functions older than TS013, those of ChirpStack 3 and of The Things Network 2.
 */
export const codecFunctions = [
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
export function moduleSyntax(source: string, program: acorn.Program): ModuleSyntax | Refused {
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
export type AnalysisPoll = () => void;

export type Token = acorn.Token & { readonly value?: unknown };

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
export function parseSource(
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
