// Source edits: applied before a script is compiled, with the mapping from edited positions to original ones.
import type * as acorn from 'acorn';

/** Replaces the characters from `from` to `to` by `text`. */
export interface SourceEdit {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

export interface EditedSource {
  readonly text: string;
  /** For each edit, ascending: the position after it in the edited text, then in the original. */
  readonly places: Int32Array;
  /** Start and end of each statement in the original, ascending by start. */
  readonly statements: Int32Array;
}

/** Applies edits that do not overlap. Edits at one position apply in the given order. */
export function editSource(
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
export function markStatements(program: acorn.Program): {
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
