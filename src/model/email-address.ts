// E-mail address: the one form in which addresses are stored and compared.

/**
 * Lower-cases the letters A to Z only, because other scripts have letters that become one of these:
 * the Kelvin sign would turn the address of another person into `k` (contract 42).
 */
export function emailAddressOf(text: string): string {
  return text
    .replace(/^[\t\n\r ]+|[\t\n\r ]+$/g, '')
    .replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}
