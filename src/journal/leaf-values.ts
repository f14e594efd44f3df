// The values of many rows one after the other, without an object or boxed number for each: numbers as they are, texts beside them.

/** Where the values of a row's leaves are read from; `leaf` counts the leaves with a value from 0. */
export interface LeafSource {
  /** A number, or a boolean as 0 or 1. */
  readonly numberAt: (leaf: number) => number;
  readonly textAt: (leaf: number) => string;
}

export class LeafValues {
  /** Numbers, booleans as 0 and 1, and for texts their index in `texts`. */
  numbers: Float64Array;
  readonly texts: string[] = [];
  length = 0;

  /** Grows beyond the capacity by itself; the right one saves copying. */
  constructor(capacity = 16) {
    this.numbers = new Float64Array(capacity);
  }

  addNumber(value: number): void {
    if (this.length === this.numbers.length) {
      const larger = new Float64Array(this.length * 2);
      larger.set(this.numbers);
      this.numbers = larger;
    }
    this.numbers[this.length++] = value;
  }

  addText(text: string): void {
    this.addNumber(this.texts.push(text) - 1);
  }

  /** Forgets what was added behind the two lengths. */
  cutBack(length: number, texts: number): void {
    this.length = length;
    this.texts.length = texts;
  }

  textAt(at: number): string {
    return this.texts[this.numbers[at]!]!;
  }

  /** The values from `at` on as the source of one row. */
  sourceFrom(at: number): LeafSource {
    return { numberAt: (leaf) => this.numbers[at + leaf]!, textAt: (leaf) => this.textAt(at + leaf) };
  }
}
