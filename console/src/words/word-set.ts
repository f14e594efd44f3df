// Word sets: what one part of the console says, in every language; a missing word does not compile.

type Filled<T> = T extends (...values: infer V) => string
  ? (...values: V) => string
  : T extends string
    ? string
    : { readonly [K in keyof T]: Filled<T[K]> };

export interface WordSet<T> {
  readonly en: Filled<T>;
  readonly de: Filled<T>;
}

export type Language = keyof WordSet<unknown>;

/** Names of the languages, each in itself. */
export const languageNames: Readonly<Record<Language, string>> = { en: 'English', de: 'Deutsch' };

/** The words of one part; the English ones say which there are. */
export function wordSet<T>(en: T & Filled<T>, de: Filled<T>): WordSet<T> {
  return { en, de };
}

/** Chooses between words for one and for many; all languages here have these two forms. */
export function plural(count: number, one: string, many: string): string {
  return count === 1 ? one : many;
}
