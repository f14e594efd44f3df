// Parser of script sources: acorn with a poll, without dynamic imports and HTML-like comments.
import * as acorn from 'acorn';
import type { ScriptErrorEvent } from './emit.ts';

/** Called every few hundred tokens. Throws to abandon a source that takes too long. */
export type AnalysisPoll = () => void;

export type Token = acorn.Token & { readonly value?: unknown };

interface Parsed {
  readonly program: acorn.Program;
  readonly tokens: readonly Token[];
}

export interface Refused {
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

export function syntaxError(error: unknown, source: string): ScriptErrorEvent {
  const { message, pos } = error as Error & { pos?: number };
  if (pos === undefined) throw error;
  const { line, column } = acorn.getLineInfo(source, pos);
  return {
    message: `SyntaxError: ${message.replace(/ \(\d+:\d+\)$/, '')}`,
    line,
    column: column + 1,
  };
}
