// Leaf values: the values of many rows in sequence, without an object or boxed number for each.
import { missing } from '../structures/missing.ts';

/**
 * Where the values of a row's leaves are read from; `leaf` counts the leaves with a value from 0.
 */
export interface LeafSource {
  /** A number, or a boolean as 0 or 1. */
  readonly numberAt: (leaf: number) => number;
  readonly textAt: (leaf: number) => string;
}

export class LeafValues {
  /**
   * Numbers, booleans as 0 and 1, and for texts their index in `texts`. An array of numbers alone
   * holds them unboxed.
   */
  readonly numbers: number[] = [];
  readonly texts: string[] = [];

  get length(): number {
    return this.numbers.length;
  }

  addNumber(value: number): void {
    this.numbers.push(value);
  }

  addText(text: string): void {
    this.numbers.push(this.texts.push(text) - 1);
  }

  /** Discards what was added behind the two lengths. */
  cutBack(length: number, texts: number): void {
    this.numbers.length = length;
    this.texts.length = texts;
  }

  numberAt(at: number): number {
    return this.numbers[at] ?? missing('value of a leaf');
  }

  textAt(at: number): string {
    return this.texts[this.numberAt(at)] ?? missing('string of a leaf');
  }

  /** The values from `at` on as the source of one row. */
  sourceFrom(at: number): LeafSource {
    return {
      numberAt: (leaf) => this.numberAt(at + leaf),
      textAt: (leaf) => this.textAt(at + leaf),
    };
  }
}
