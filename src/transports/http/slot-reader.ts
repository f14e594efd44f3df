// Slot reader: the contract of the classes that read one value of a sample into a column.
import type { ByteCursor } from './byte-cursor.ts';

/** The readers of numbers, booleans, strings and times implement it. */
export interface SlotReader {
  /**
   * Reads the value at the cursor into `row` of the column and moves the cursor behind the value.
   * Returns false for a value of another form; the cursor may have moved then.
   */
  read(cursor: ByteCursor, row: number): boolean;
}
