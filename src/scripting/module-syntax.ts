// Module syntax of scripts: the imports they may use, and the edits that remove imports and exports from the source.
import type * as acorn from 'acorn';
import { isProvidedModule, type ProvidedModuleName, providedModules } from './provided-modules.ts';
import type { SourceEdit } from './source-edits.ts';
import { type Refused, syntaxError } from './source-parser.ts';

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
