// COUNT: how many values are present and not null, whatever their type.
import type { Accumulator } from './accumulator.ts';

export const count: Accumulator = { facet: 'count', finish: (partial) => partial.count };
