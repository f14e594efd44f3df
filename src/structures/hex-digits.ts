// Hexadecimal digits by the code of their character.

/** Of other characters; digits are below 16. */
const noDigit = 255;

const values = Uint8Array.from({ length: 128 }, (_, code) => {
  const value = '0123456789abcdef'.indexOf(String.fromCharCode(code));
  return value < 0 ? noDigit : value;
});

/** The value of the digit at that place. */
export function digitAt(text: string, place: number): number {
  return values[text.charCodeAt(place)] ?? noDigit;
}
