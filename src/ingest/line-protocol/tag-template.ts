// Tag templates: strings with `{tag}` and `{measurement}`, filled from the names of a series.
import type { Series } from './line-reader.ts';

export interface TagTemplate {
  /** Undefined when the series lacks one of its tags. */
  readonly fill: (series: Series) => string | undefined;
  /** The tags that it uses. */
  readonly tags: readonly string[];
}

const measurement = 'measurement';

/** Every string is a template; a brace without its partner is itself. */
export function tagTemplate(template: string): TagTemplate {
  // Texts and names alternate.
  const parts = template.split(/\{([^{}]+)\}/);
  const names = parts.filter((_, i) => i % 2 === 1);
  return {
    tags: names.filter((name) => name !== measurement),
    fill(series) {
      let filled = '';
      for (const [i, part] of parts.entries()) {
        const text = i % 2 === 0 ? part : valueOf(part, series);
        if (text === undefined) return undefined;
        filled += text;
      }
      return filled;
    },
  };
}

function valueOf(name: string, series: Series): string | undefined {
  return name === measurement ? series.measurement : series.tags.get(name);
}
