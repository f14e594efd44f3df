// Hexadecimal digits by the code of their character.

/** Of other characters; digits are below 16. */
const noDigit = 255;
const zero = 0x30;
const a = 0x61;

/** The value of the digit at that place: of 0 to 9 and of a to f. */
export function digitAt(text: string, place: number): number {
  const code = text.charCodeAt(place);
  // Comparisons with NaN, which is behind the end, are false.
  if (code >= zero && code < zero + 10) return code - zero;
  return code >= a && code < a + 6 ? code - a + 10 : noDigit;
}
