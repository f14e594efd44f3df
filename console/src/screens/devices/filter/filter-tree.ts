// Filter tree: conditions and groups of the platform's filter expression, changed without a copy of the rest.
import type { FilterExpression, FilterGroup, FilterLeaf } from '../device-search.ts';

/** Indexes from the root group to a condition or group below it. */
export type FilterPath = readonly number[];

const everyDevice: FilterGroup = { operator: 'AND', expressions: [] };

export function isGroup(expression: FilterExpression): expression is FilterGroup {
  return 'expressions' in expression;
}

/** The expression as a group, which the builder shows. */
export function rootOf(expression: FilterExpression | undefined): FilterGroup {
  if (expression === undefined) return everyDevice;
  return isGroup(expression) ? expression : { operator: 'AND', expressions: [expression] };
}

/** The tree with another expression at the path; undefined removes what is there. */
export function replacedAt(
  group: FilterGroup,
  [at, ...rest]: FilterPath,
  wanted: FilterExpression | undefined,
): FilterGroup {
  if (at === undefined) return wanted === undefined ? everyDevice : rootOf(wanted);
  const expressions = group.expressions.flatMap(
    (expression, index): readonly FilterExpression[] => {
      if (index !== at) return [expression];
      if (rest.length > 0) return isGroup(expression) ? [replacedAt(expression, rest, wanted)] : [];
      return wanted === undefined ? [] : [wanted];
    },
  );
  return { ...group, expressions };
}

/** The tree without empty groups and without conditions that `isComplete` refuses. */
export function pruned(
  group: FilterGroup,
  isComplete: (leaf: FilterLeaf) => boolean,
): FilterGroup | undefined {
  const expressions = group.expressions.flatMap((expression): readonly FilterExpression[] => {
    if (!isGroup(expression)) return isComplete(expression) ? [expression] : [];
    const kept = pruned(expression, isComplete);
    return kept === undefined ? [] : [kept];
  });
  return expressions.length === 0 ? undefined : { ...group, expressions };
}

/** Paths of all conditions. */
export function leafPaths(group: FilterGroup): readonly FilterPath[] {
  return group.expressions.flatMap((expression, at): readonly FilterPath[] =>
    isGroup(expression) ? leafPaths(expression).map((path) => [at, ...path]) : [[at]],
  );
}

export function expressionAt(
  group: FilterGroup,
  [at, ...rest]: FilterPath,
): FilterExpression | undefined {
  const expression = at === undefined ? group : group.expressions[at];
  if (rest.length === 0 || expression === undefined) return expression;
  return isGroup(expression) ? expressionAt(expression, rest) : undefined;
}

type FilterValue = NonNullable<FilterLeaf['values']>[number];

/** The values of a condition; those of a custom field have another name (interface 2.9). */
export function valuesOf({ values, stringValues }: FilterLeaf): readonly FilterValue[] {
  return values ?? stringValues ?? [];
}

export function leafWith(leaf: FilterLeaf, values: readonly FilterValue[]): FilterLeaf {
  const { values: _, stringValues: __, ...rest } = leaf;
  if (rest.field === 'customFields') return { ...rest, stringValues: values.map(String) };
  return { ...rest, values: [...values] };
}
