// Leaf values: the values of many rows in sequence, without an object or boxed number for each.
import { missing } from '../../structures/missing.ts';

/** Where the values of a row's leaves are read from; `leaf` counts the leaves with a value from 0. */
export interface LeafSource {
  /** A number, or a boolean as 0 or 1. */
  readonly numberAt: (leaf: number) => number;
  readonly textAt: (leaf: number) => string;
}

/** This number of values is part of its array; those of larger arrays are elsewhere. */
const firstCapacity = 8;
const growth = 4;
const none = new Float64Array(0);

export class LeafValues {
  /**
   * Numbers, booleans as 0 and 1, and for texts their index in `texts`: the first `length` of them.
   * It is replaced when it is full.
   */
  numbers: Float64Array;
  readonly texts: string[] = [];
  length = 0;

  /** Memory for `capacity` values is allocated immediately, and more when needed. */
  constructor(capacity = 0) {
    this.numbers = capacity === 0 ? none : new Float64Array(capacity);
  }

  addNumber(value: number): void {
    if (this.length === this.numbers.length) this.#grow();
    this.numbers[this.length++] = value;
  }

  addText(text: string): void {
    this.addNumber(this.texts.push(text) - 1);
  }

  /** Discards what was added behind the two lengths. */
  cutBack(length: number, texts: number): void {
    this.length = length;
    if (this.texts.length !== texts) this.texts.length = texts;
  }

  numberAt(at: number): number {
    return at < this.length ? this.numbers[at]! : missing('value of a leaf');
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

  #grow(): void {
    const larger = new Float64Array(Math.max(firstCapacity, this.length * growth));
    larger.set(this.numbers);
    this.numbers = larger;
  }
}
